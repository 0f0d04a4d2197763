// "Does each question stand alone?": the questions are answered jointly, so one can move another's answer. On demand:
// each alone, without each other, in other orders; said per question in plain words.

import { button, h, icon, iconButton } from "./dom.js";
import { pressed } from "./keys.js";
import { Probe, progressLine } from "./probe.js";

export class Stands {
  /** host: {api, shown() → {reply, sent} | null, busy(is)} */
  constructor(root, host) {
    this.host = host;
    this.trigger = button("is-small is-ghost cs-stands-open", "Stand alone?", { disabled: true, title: "Does each question stand alone, or does one move another's answer?" });
    root.querySelector("#answers > .cs-col-head").append(this.trigger);
    this.probe = new Probe(host.api, host.busy);
    this.body = h("div", { class: "cs-stands-body", "aria-live": "polite" });
    this.card = h(
      "section",
      { class: "cs-card cs-stands", "aria-label": "Does each question stand alone?", hidden: true },
      h("div", { class: "cs-line" }, h("h3", { class: "cs-h2 cs-grow", text: "Does each question stand alone?" }), iconButton("x", "Close", { onclick: () => this.close() })),
      this.body,
    );
    this.card.addEventListener("keydown", (event) => pressed(event, "close") && this.close());
    root.querySelector("[data-answer-card]").before(this.card);
    this.trigger.setAttribute("aria-expanded", "false");
    this.trigger.addEventListener("click", () => (this.card.hidden ? this.#ask() : this.close()));
  }

  close(refocus = true) {
    this.probe.stop();
    this.card.hidden = true;
    this.trigger.setAttribute("aria-expanded", "false");
    if (refocus) this.trigger.focus();
  }

  /** The answers were painted anew: what was found was about others. */
  painted() {
    const shown = this.host.shown();
    this.trigger.disabled = !shown;
    if (!shown && !this.card.hidden) this.close(false);
    if (this.card.hidden || shown?.sent.signature === this.signature) return;
    this.probe.stop();
    this.#again("The questions or the state have changed since.");
  }

  #ask() {
    const { sent } = this.host.shown();
    this.signature = sent.signature;
    this.card.hidden = false;
    this.trigger.setAttribute("aria-expanded", "true");
    const line = progressLine("Asking each alone, without each other, in other orders", () => {
      this.probe.stop();
      this.#again("Stopped.");
      this.body.querySelector("button")?.focus();
    });
    this.body.replaceChildren(line.el);
    this.probe.start(
      { request: sent.payload, what: "stands" },
      { progress: line.show, failed: (message) => this.#again(message), done: (found) => this.#paint(found, sent.asked) },
    );
  }

  #again(message) {
    this.body.replaceChildren(h("div", { class: "cs-line" }, h("span", { class: "cs-grow", text: message }), button("is-small", "Ask again", { onclick: () => this.#ask() })));
  }

  #paint(found, asked) {
    const moved = found.standings.filter((s) => !s.alone).length;
    const summary = moved ? `${moved} of ${found.standings.length} answers depend on what else is asked.` : "Every answer stands alone.";
    const list = h("ol", { class: "cs-standings" });
    for (const standing of found.standings) {
      const number = asked.findIndex((a) => a.id === standing.question) + 1;
      const first = standing.alone && !standing.shaky ? "check" : "alert";
      list.append(
        h("li", {},
          h("span", { class: "cs-line" }, icon(first), h("span", { class: "cs-mono", text: standing.question }), h("span", { class: "cs-small", text: standing.alone ? "stands alone" : "moved by its company" })),
          h("ul", {}, ...standing.words.map((words) => h("li", { text: sentence(words) })))),
      );
      list.lastChild.value = number;
    }
    this.body.replaceChildren(
      h("p", {}, h("b", { text: summary })),
      list,
      h("p", { class: "cs-dim", text: [`A move counts above ${found.tolerance} point and above the noise`, ...found.left_out, `${found.asked} requests, ${found.seconds.toFixed(1)} s`].join(" · ") }),
    );
  }
}

const sentence = (words) => `${words[0].toUpperCase()}${words.slice(1)}.`;
