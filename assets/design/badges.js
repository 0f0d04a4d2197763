// Keeps the badges of the questions' cards those of the questions as they were asked: other words, no badge.

const PAUSE = 400;

export class Badges {
  constructor(api, editor) {
    this.api = api;
    this.editor = editor;
    this.key = "";
    // Labels come from other pages: whoever comes back from there sees what they bought.
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "visible" && this.key) this.#soon();
    });
  }

  /** After an answer. `asked`: the uids and ids that were asked, in order. */
  follow(reply, asked) {
    this.asked = asked;
    this.scorer = reply.fingerprint;
    this.questions = reply.asked;
    const key = `${reply.asked} ${reply.fingerprint} ${asked.map(({ uid }) => uid).join()}`;
    if (key === this.key) return;
    this.key = key;
    this.editor.showBadges(new Map());
    this.#soon();
  }

  #soon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#fetch(), PAUSE);
  }

  async #fetch() {
    const { key, questions, scorer, asked } = this;
    let reply;
    try {
      reply = await this.api.badges({ questions, scorer });
    } catch (error) {
      console.warn("badges not read", error);
      return;
    }
    if (key !== this.key || reply.error) return;
    const known = new Map();
    for (const { uid, id } of asked) {
      const badge = reply.badges[id];
      if (badge) known.set(uid, { badge, href: `calibration?${new URLSearchParams({ questions, scorer, question: id })}` });
    }
    this.editor.showBadges(known);
  }
}
