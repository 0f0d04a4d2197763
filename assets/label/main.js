// The Label page: one item at a time, by keyboard. mount(element, server, {root}): `element` holds the static template,
// `server` are the page's functions. What is on the desk, and what is saved, is the desk's (desk.js).

import { toast } from "../design/dialog.js";
import { button, h, icon, setAttr, setText } from "../design/dom.js";
import { menuButton } from "../design/menu.js";
import { heard, mountOnce } from "../design/server.js";
import { mountTheme } from "../design/theme.js";
import { count } from "../design/words.js";
import { AskView } from "./ask_view.js";
import { Desk } from "./desk.js";
import { Dock } from "./dock.js";
import { keysEnabled, meant, openKeys } from "./keys.js";
import { askName, remembered } from "./people.js";
import { openPeople } from "./people_view.js";
import { openFind, openPrivacy } from "./find_view.js";
import { address, placeName, wanted, whereOf } from "./places.js";
import { hiddenWords, reason } from "./reason.js";
import { openSettings } from "./settings.js";
import { StateView } from "./state_view.js";
import { Worth } from "./worth.js";

const TAB = "clef-studio-label-tab";
const HIDE = "clef-studio-label-hide";
/** Looks whether something arrived, while nothing is there to label. */
const LOOK_AGAIN = 5000;
/** Labels after which the meter is read again. */
const WEIGH_AFTER = 5;

export const mount = (element, server, config) => mountOnce(element, (root) => new Page(root, server, config).start());

class Page {
  constructor(root, server, config) {
    Object.assign(this, { root, server });
    this.find = (name) => root.querySelector(`[data-${name}]`);
    this.hide = localStorage.getItem(HIDE) === "1";
    this.note = "";
    this.shownAt = 0;
    this.shown = null;
    this.question = null;
    this.pictureUrl = (token) => `${config.root}/studio/pictures/${token}`;
    this.state = new StateView(root, this.pictureUrl);
    this.ask = new AskView(root, (option) => this.choose(option));
    this.desk = new Desk({
      send: (payload) => this.#call("sync", payload),
      on: { changed: () => this.draw(), settled: (act, done) => this.settled(act, done), refused: (act, message) => this.refused(act, message) },
      storage: localStorage,
      tab: tabId(),
      wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    });
    this.worth = new Worth(root);
    this.weighed = 0;
    this.dock = new Dock(root, { undo: () => this.undo(), retry: () => this.desk.retry() });
    mountTheme(this.find("theme-switch"));
    this.#buttons(config);
    document.addEventListener("keydown", (event) => this.#key(event));
    window.addEventListener("online", () => this.desk.retry());
    window.addEventListener("popstate", () => this.#go(false));
    setInterval(() => this.desk.empty && !document.hidden && this.desk.kick(), LOOK_AGAIN);
  }

  async start() {
    const [{ name }, { places }] = await Promise.all([this.#call("who"), this.#call("places")]);
    this.places = places;
    this.signedIn = name;
    this.labeller = name ?? remembered() ?? (await askName(this.root, null));
    this.#who();
    await this.desk.recover().catch((error) => console.warn("an earlier page's labels wait", error));
    await this.#go(true);
  }

  #call(name, payload) {
    return heard(this.server, name, payload);
  }

  /** Goes where the address says. */
  async #go(first) {
    const here = wanted(this.places, location.search);
    if (!here) {
      this.here = null;
      this.nothing = this.places.length ? "That is not here" : "Nothing to label yet";
      return this.draw();
    }
    await this.open(here, first ? "replaceState" : null);
  }

  async open(here, write = "pushState") {
    this.here = here;
    this.nothing = null;
    if (write) history[write](null, "", `${location.pathname}${address(here)}`);
    setText(this.find("place-name"), placeName(here.place));
    setText(this.find("scorer-name"), here.place.scorer_name);
    setText(this.find("scorer-id"), here.place.scorer.slice(0, 7));
    setText(this.find("question-name"), here.question);
    this.find("privacy").hidden = !here.place.schema_id;
    const reply = await this.#call("question", whereOf(here));
    if (reply.error) {
      this.here = null;
      this.nothing = reply.error.message;
      return this.draw();
    }
    this.question = reply.question;
    this.settings = reply.settings;
    this.shown = null;
    this.ask.ask(this.question);
    this.#weigh();
    return this.desk.open(whereOf(here), this.labeller);
  }

  /** Whether the current answer is to be hidden: by the item, or because the person wants it so. */
  hidden(item) {
    return item.blind || this.hide;
  }

  draw() {
    const item = this.here ? this.desk.current : null;
    this.settings = this.desk.settings ?? this.settings;
    if (item?.lease !== this.shown?.lease || Boolean(item) !== Boolean(this.shown)) this.#show(item);
    const none = !item && (!this.here || this.desk.empty);
    this.root.dataset.ahead = String(this.desk.ahead.length);
    this.find("work").hidden = none;
    this.find("nothing").hidden = !none;
    if (none) this.#nothing();
    this.find("loading").hidden = Boolean(item) || none;
    const alert = this.find("alert");
    alert.hidden = !this.desk.problem;
    if (this.desk.problem) setText(this.find("alert-text"), `${this.desk.problem} What you did is kept in this browser and is sent again.`);
    this.dock.show({ outbox: this.desk.outbox, problem: this.desk.problem, canUndo: this.desk.past.length > 0, waiting: this.desk.status?.waiting ?? null });
    this.#streams();
    this.find("next-buttons").querySelectorAll("button").forEach((el) => {
      el.disabled = !item;
    });
  }

  #show(item) {
    this.shown = item;
    this.note = "";
    this.#noteShown(false);
    this.state.show(item);
    const hidden = item ? this.hidden(item) : false;
    const share = item?.blind ? this.settings[`blind_${item.stream}`] : null;
    this.ask.show(item, hidden, item && hidden ? hiddenWords(item, share) : null);
    const why = this.find("why");
    why.hidden = !item;
    if (item) {
      const words = reason(item);
      why.className = `cs-stream${words.stream === "queue" ? " is-queue" : ""}`;
      why.title = words.title;
      why.replaceChildren(icon(words.icon), words.text);
      this.desk.ahead.slice(1, 3).forEach((next) => this.state.prepare(next));
      this.find("spoken").textContent = `${words.text}. ${this.question.wording}`;
      this.root.dataset.lease = item.lease;
    } else delete this.root.dataset.lease;
    setAttr(this.find("accept"), "hidden", !item || hidden);
    this.shownAt = performance.now();
  }

  #streams() {
    const { status } = this.desk;
    setText(this.find("counts"), status ? `${count(status.labelled)} labelled, ${count(status.by_audit)} of them by the audit · ${count(Math.round(100 * this.settings.audit_share))} % picked at random` : "");
  }

  #nothing() {
    const box = this.find("nothing");
    const more = this.here ? this.places.flatMap((place) => place.asked.map((a) => ({ place, question: a.id }))).filter((p) => p.place.questions !== this.here.place.questions || p.question !== this.here.question) : [];
    const title = this.nothing ?? "All is labelled here";
    const signature = `${title}|${more.length}`;
    if (box.dataset.for === signature) return;
    box.dataset.for = signature;
    const text = this.nothing
      ? this.places.length ? "Nothing is kept under this address. Choose another question above." : "Answers come here from runs that you keep on the Design page, and from API decisions of schemas that record."
      : "New answers appear by themselves as soon as they are kept.";
    const acts = more.slice(0, 4).map((place) => button("is-small", `${placeName(place.place)}: ${place.question}`, { onclick: () => this.open(place) }));
    box.replaceChildren(icon("check"), h("b", { text: title }), h("p", { text }), h("div", { class: "cs-line" }, ...acts));
  }

  /** What the person holds for true; null: can't tell. */
  choose(option) {
    const item = this.desk.current;
    if (!item || item !== this.shown) return;
    const seconds = Math.round(performance.now() - this.shownAt) / 1000;
    const word = option === null ? "can’t tell" : this.question.options.find(([id]) => id === option)[1];
    const act = this.desk.label(option, { note: this.note || this.find("note").value.trim(), seconds, hidden: this.hidden(item) });
    if (act) this.dock.add(act, word);
    this.draw();
  }

  accept() {
    const item = this.desk.current;
    if (item && !this.hidden(item)) this.choose(item.top);
    else if (item) toast(this.root, "The model’s answer is hidden here: choose for yourself.");
  }

  skip() {
    const act = this.desk.current && this.desk.skip();
    if (act) this.dock.add(act, "skipped");
    this.draw();
  }

  undo() {
    const last = this.desk.undo();
    if (!last) return;
    this.dock.drop(last.act.id);
    if (last.act.note) {
      this.find("note").value = last.act.note;
      this.#noteShown(true, false);
    }
    this.draw();
  }

  settled(act, done) {
    this.dock.settle(act.id, done.verdict);
    this.weighed += 1;
    if (this.weighed % WEIGH_AFTER === 0) this.#weigh();
  }

  /** Reads the meter: what the audit's labels say, and what the next ones would buy. */
  async #weigh() {
    const { here } = this;
    const reply = await this.#call("worth", { where: whereOf(here) }).catch(() => null);
    if (this.here === here) this.worth.show(reply && !reply.error ? reply : null);
  }

  refused(act, message) {
    this.dock.drop(act.id);
    toast(this.root, `Not kept: ${message}`);
  }

  #noteShown(is, focus = true) {
    this.find("note-row").hidden = !is;
    if (!is) this.find("note").value = "";
    else if (focus) this.find("note").focus();
  }

  #who() {
    setText(this.find("labeller-name"), this.labeller);
    this.find("labeller").disabled = Boolean(this.signedIn);
  }

  #buttons(config) {
    const on = (name, run) => this.find(name).addEventListener("click", run);
    on("cant-tell", () => this.choose(null));
    on("skip", () => this.skip());
    on("accept", () => this.accept());
    on("note-open", () => this.#noteShown(this.find("note-row").hidden));
    on("help", () => openKeys(this.root));
    on("find", () => this.here && this.question && openFind(this.root, {
      where: whereOf(this.here), labeller: this.labeller, question: this.question, pictureUrl: this.pictureUrl,
      caseUrl: (id) => `${config.root}/studio/cases/${id}.json`, call: (name, payload) => this.#call(name, payload), changed: () => this.desk.kick(),
    }));
    on("privacy", () => this.here?.place.schema_id && openPrivacy(this.root, { schema: this.here.place.schema_id, name: this.here.place.schema, call: (name, payload) => this.#call(name, payload) }));
    on("people", () => this.here && this.question && openPeople(this.root, {
      where: whereOf(this.here), labeller: this.labeller, question: this.question, pictureUrl: this.pictureUrl,
      read: () => this.#call("agreement", whereOf(this.here)), settle: (payload) => this.#call("settled", payload),
    }));
    on("labeller", async () => {
      this.labeller = await askName(this.root, this.labeller);
      this.#who();
      if (this.here && this.labeller !== this.desk.labeller) await this.open(this.here, null);
    });
    on("settings", () => this.here && this.settings && openSettings(this.root, this.settings, {
      save: (changes) => this.#call("set_desk", { where: whereOf(this.here), ...changes }),
      changed: (settings) => {
        this.desk.settings = settings;
        this.desk.kick();
        this.draw();
      },
    }));
    const hide = this.find("hide");
    const shown = () => hide.querySelectorAll("button").forEach((el) => setAttr(el, "aria-pressed", String((el.dataset.hide === "1") === this.hide)));
    hide.addEventListener("click", (event) => {
      const pressed = event.target.closest("[data-hide]");
      if (!pressed || !pressed.dataset.hide) return;
      this.hide = pressed.dataset.hide === "1";
      localStorage.setItem(HIDE, this.hide ? "1" : "0");
      shown();
      // What was seen once cannot be made unseen: hiding begins with the next item, showing with this one.
      if (!this.hide) this.#show(this.shown);
    });
    shown();
    menuButton(this.find("place"), () => this.places.map((place) => ({
      label: placeName(place), about: `${place.scorer_name} ${place.scorer.slice(0, 7)}, ${count(place.decisions)} kept`,
      checked: place === this.here?.place, run: () => this.open({ place, question: place.asked.some((a) => a.id === this.here?.question) ? this.here.question : place.asked[0].id }),
    })));
    menuButton(this.find("question-menu"), () => (this.here?.place.asked ?? []).map((a) => ({
      label: a.id, about: a.type, checked: a.id === this.here.question, run: () => this.open({ place: this.here.place, question: a.id }),
    })));
    this.find("note").addEventListener("keydown", (event) => {
      if (event.isComposing || (event.key !== "Enter" && event.key !== "Escape")) return;
      event.preventDefault();
      event.stopPropagation();
      if (event.key === "Escape") this.#noteShown(false);
      // The note waits for the label; the keys label again.
      this.find("note").blur();
    });
  }

  #key(event) {
    const wish = meant(event, { enabled: keysEnabled() });
    if (!wish) return;
    if (wish.do === "help") openKeys(this.root);
    else if (wish.do === "accept") this.accept();
    else if (wish.do === "cantTell") this.choose(null);
    else if (wish.do === "skip") this.skip();
    else if (wish.do === "undo") this.undo();
    else if (wish.do === "note") this.#noteShown(true);
    else if (wish.do === "filter") this.ask.focusFilter();
    else {
      const option = this.question && this.ask.optionOf(wish.key);
      if (!option) return;
      this.choose(option);
    }
    event.preventDefault();
  }
}

/** This tab's id: a reload keeps it, and with it the items that it holds. */
function tabId() {
  const known = sessionStorage.getItem(TAB);
  // A duplicated tab brings the id of the one it was made from: only a reload may keep it.
  const [entry] = performance.getEntriesByType("navigation");
  if (known && entry?.type !== "navigate") return known;
  const id = crypto.randomUUID();
  sessionStorage.setItem(TAB, id);
  return id;
}
