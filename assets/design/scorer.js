// Who answers: the chip in the header, and the panel while the model loads.

import { h, setAttr, setText } from "./dom.js";
import { percent } from "./words.js";

const POLL = 500;

export class ScorerChip {
  /** onReady(scorer) is called once the model can be asked. */
  constructor(root, api, onReady) {
    Object.assign(this, { root, api, onReady });
    this.chip = root.querySelector("[data-scorer]");
    this.loading = root.querySelector("[data-loading]");
    this.title = this.loading.querySelector("[data-loading-title]");
    this.bar = this.loading.querySelector("[role=progressbar]");
    this.hint = this.loading.querySelector("[data-loading-hint]");
    this.ready = false;
    this.scorer = null;
  }

  /** Asks until the model is ready or has failed. */
  async watch() {
    if (this.watching) return;
    this.watching = true;
    for (;;) {
      let status;
      try {
        status = await this.api.about();
      } catch (error) {
        console.warn("no status", error);
        status = { phase: "loading", message: "The studio does not answer; trying again", progress: null };
      }
      this.show(status);
      if (status.phase !== "loading") break;
      await new Promise((resolve) => setTimeout(resolve, POLL));
    }
    this.watching = false;
  }

  show(status) {
    const loading = status.phase === "loading";
    this.loading.hidden = status.phase === "ready";
    setText(this.title, status.message);
    this.bar.hidden = !loading || status.progress === null;
    if (!this.bar.hidden) {
      setAttr(this.bar, "aria-valuenow", Math.round(100 * status.progress));
      this.bar.firstElementChild.style.setProperty("--p", status.progress);
    }
    setText(
      this.hint,
      loading ? "Go on writing. The answers appear here by themselves." : "No answers without a model. Start the studio again with another --model; the draft is kept.",
    );
    this.loading.querySelector(".cs-spin").hidden = !loading;
    if (status.scorer) this.#who(status.scorer);
    else {
      const share = status.progress === null || status.progress === undefined ? "" : `, ${percent(status.progress)}`;
      this.chip.replaceChildren(
        loading ? h("span", { class: "cs-spin", "aria-hidden": "true" }) : h("i", { class: "cs-dot is-idle" }),
        h("span", { class: "cs-ellipsis", text: loading ? `model loading${share}` : "no model" }),
      );
    }
    if (status.phase === "ready" && !this.ready) {
      this.ready = true;
      this.onReady(status.scorer);
    }
  }

  #who(scorer) {
    if (this.scorer?.fingerprint === scorer.fingerprint) return;
    this.scorer = scorer;
    const ids = scorer.question_ids === "literal" ? "reads question ids" : "does not read question ids";
    this.chip.replaceChildren(
      h("i", { class: "cs-dot" }),
      h("b", { class: "cs-ellipsis", text: scorer.name }),
      h("span", { class: "cs-mono", text: scorer.fingerprint.slice(0, 7) }),
    );
    this.chip.title = [`${scorer.kind} on ${scorer.device}, ${scorer.dtype}`, `fingerprint ${scorer.fingerprint.slice(0, 16)}`, ids, scorer.sees_pictures ? "sees pictures" : "does not see pictures; reads words in them"].join("\n");
    const notice = this.root.querySelector("[data-notice]");
    notice.hidden = false;
    notice.title = [scorer.notice, ids].filter(Boolean).join(" · ");
    setText(notice, [scorer.notice, ids].filter(Boolean).join(" · "));
    notice.title = notice.textContent;
  }
}
