// The Datasets page: a dataset that is being chosen, the versions so far, one of them, and files that come in.
// mount(element, server, {root}). What is looked at stands in the address: dataset=<id>, import=<upload>, or nothing.

import { toast } from "../design/dialog.js";
import { h, icon, setText } from "../design/dom.js";
import { mountOnce } from "../design/server.js";
import { mountTheme } from "../design/theme.js";
import { makeApi } from "./api.js";
import { Bring } from "./bring.js";
import { Choose } from "./choose.js";
import { formOf } from "./recipe.js";
import { Version, showList } from "./version.js";

export const mount = (element, server, config) =>
  mountOnce(element, (root) => {
    mountTheme(root.querySelector("[data-theme-switch]"));
    return new Page(root, makeApi(server, config.root)).start();
  });

class Page {
  constructor(root, api) {
    Object.assign(this, { root, api, versions: [], here: { dataset: null, upload: null }, wanted: null });
    this.find = (name) => root.querySelector(`[data-${name}]`);
    this.choose = new Choose(root, { api, frozen: (reply) => this.#frozen(reply) });
    this.version = new Version(this.find("version-head"), this.find("files"), { api, again: (recipe, name) => this.#again(recipe, name), live: (text) => setText(this.find("live"), text) });
    this.bring = new Bring(this.find("bring"), { api, go: (query) => this.go(query), live: (text) => setText(this.find("live"), text) });
    this.find("new").addEventListener("click", () => this.go({}));
    this.find("import").addEventListener("click", () => this.go({ import: "" }));
    window.addEventListener("popstate", () => this.#load());
  }

  async start() {
    await this.#list();
    await this.#load();
  }

  go(query) {
    const address = new URLSearchParams(query).toString();
    // With its path: Gradio's page has a base, which a bare query would be laid on.
    history.pushState(null, "", `${location.pathname}${address ? `?${address}` : ""}`);
    return this.#load();
  }

  async #load() {
    const query = new URLSearchParams(location.search);
    this.here = { dataset: query.get("dataset"), upload: query.get("import") };
    const { dataset, upload } = this.here;
    this.#alert("");
    this.#mark();
    this.find("choose").hidden = Boolean(dataset) || upload !== null;
    this.find("bring").hidden = upload === null;
    this.find("version").hidden = true;
    this.find("new").hidden = !dataset && upload === null;
    this.find("import").hidden = upload !== null && !dataset;
    this.root.dataset.shown = "";
    if (dataset) await this.#show(dataset);
    else if (upload !== null) await this.bring.open(upload);
    else {
      const { wanted } = this;
      this.wanted = null;
      this.#alert(await this.choose.open(wanted?.form, wanted?.name));
    }
    this.root.dataset.shown = dataset ?? upload ?? "new";
  }

  async #show(id) {
    const [version, labelled] = await Promise.all([this.api.dataset({ dataset: id }), this.api.labelled()]);
    if (id !== this.here.dataset) return;
    if (version.error) return this.#alert(version.error.message);
    this.find("version").hidden = false;
    this.version.show(version, labelled.sets ?? []);
  }

  async #frozen(reply) {
    await this.#list();
    await this.go({ dataset: reply.dataset });
    toast(this.root, reply.same ? `Nothing has changed: this is version ${reply.number}, with the same hash.` : `Frozen as version ${reply.number}.`);
    this.find("files").closest(".cs-runs-main").focus({ preventScroll: true });
  }

  #again(recipe, name) {
    this.wanted = { form: formOf(recipe), name };
    this.go({});
  }

  async #list() {
    const reply = await this.api.datasets();
    if (reply.error) return this.#alert(reply.error.message);
    this.versions = reply.datasets;
    return this.#mark();
  }

  #mark() {
    showList(this.find("list"), this.versions, this.here.dataset, { open: (dataset) => this.go({ dataset }), href: (dataset) => `${location.pathname}?${new URLSearchParams({ dataset })}` });
  }

  #alert(text) {
    const alert = this.find("alert");
    alert.hidden = !text;
    alert.replaceChildren(...(text ? [icon("alert"), h("span", { text })] : []));
  }
}
