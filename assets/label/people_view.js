// The people: how far they agree, whether a shown answer sways them, and the answers on which they differ, to settle.

import { button, h, icon } from "../design/dom.js";
import { asked, openDialog } from "../design/dialog.js";
import { percent } from "../design/words.js";
import { parts } from "./state_view.js";

/** host: {where, labeller, question, read(), settle(payload), pictureUrl} */
export async function openPeople(root, host) {
  const body = h("div", { class: "cs-people" }, h("p", { class: "cs-small cs-dim", text: "Counting…" }));
  openDialog(root, { title: "People", classes: "cs-wide-dialog", body: [body] });
  const draw = async () => {
    const reply = await asked(() => host.read());
    if (reply.error) return body.replaceChildren(h("p", { class: "cs-error", role: "alert", text: reply.error.message }));
    return body.replaceChildren(
      section("How far people agree", agreementWords(reply.agreement)),
      section("Does a shown answer sway them", anchoringWords(reply.anchoring)),
      conflictList(reply, host, draw),
    );
  };
  await draw();
}

const section = (title, lines) => h("section", { class: "cs-people-part" }, h("h3", { class: "cs-h2", text: title }), ...lines.map((text) => h("p", { text })));

const figure = (value) => (value === null ? "–" : value.toFixed(2));

/** Sentences about agreement. Pure. */
export function agreementWords({ n, people, observed, kappa, alpha, names, ordered }) {
  if (!n) return ["Nobody judged what another person judged. Some items want two people (see What is shown); let a second one label."];
  const lines = [`${names.join(", ")} judged ${n} answer${n === 1 ? "" : "s"} in common and said the same in ${percent(observed)} of the pairs.`];
  const [name, found] = kappa ? [`Cohen’s κ${ordered ? ", weighted," : ""}`, kappa] : [`Krippendorff’s α${ordered ? ", ordinal," : ""}`, alpha];
  const range = found.low === null ? "" : ` (95 %: ${figure(found.low)} to ${figure(found.high)})`;
  lines.push(
    found.value === null
      ? `${name} cannot be told: everybody always said the same.`
      : `${name} is ${figure(found.value)}${range}: 0 is what chance would give, 1 is full agreement.`,
  );
  if (n < 20) lines.push("Under 20 answers in common: provisional.");
  return lines;
}

/** Sentences about anchoring. Pure. */
export function anchoringWords({ blind, shown, difference: [gap, low, high] }) {
  if (gap === null) {
    return [`Not known yet: ${blind.n} labels given blind, ${shown.n} with the answer shown; both are needed.`];
  }
  const points = (p) => `${Math.abs(100 * p).toFixed(0)} point${Math.abs(100 * p).toFixed(0) === "1" ? "" : "s"}`;
  const lines = [
    `Blind, people agree with the model in ${percent(blind.value)} (n = ${blind.n}); with its answer shown in ${percent(shown.value)} (n = ${shown.n}). Both are weighed by how items were chosen.`,
  ];
  const signed = (p) => `${p < 0 ? "−" : "+"}${points(p)}`;
  if (low > 0) lines.push(`The shown answer sways people: ${points(gap)} more agreement (95 %: ${signed(low)} to ${signed(high)}). Trust blind labels for measuring.`);
  else if (high < 0) lines.push(`With the answer shown people agree less, by ${points(gap)} (95 %: ${signed(low)} to ${signed(high)}): look whether the items differ in kind.`);
  else lines.push(`No sign of sway: the difference is ${signed(gap)} (95 %: ${signed(low)} to ${signed(high)}).`);
  return lines;
}

function conflictList({ conflicts, more }, host, again) {
  const title = h("h3", { class: "cs-h2", text: conflicts.length ? `Where they differ: ${conflicts.length + more}` : "Where they differ" });
  if (!conflicts.length) return h("section", { class: "cs-people-part" }, title, h("p", { text: "Nothing is open." }));
  return h("section", { class: "cs-people-part" }, title, ...conflicts.map((one) => conflict(one, host, again)));
}

function conflict(one, host, again) {
  const word = (option) => (option === null ? "can’t tell" : (host.question.options.find(([id]) => id === option)?.[1] ?? option));
  const error = h("p", { class: "cs-error", role: "alert", hidden: true });
  const settle = async (option) => {
    const reply = await asked(() => host.settle({ id: crypto.randomUUID(), decision: one.decision, where: host.where, true_option: option, labeller: host.labeller }));
    error.hidden = !reply.error;
    if (reply.error) error.textContent = reply.error.message;
    else await again();
  };
  const { paragraphs, fields } = parts(one.state);
  const options = host.question.options.map(([id, name]) => button("is-small", name, { onclick: () => settle(id) }));
  return h(
    "article",
    { class: "cs-conflict-one", "data-conflict-of": one.decision },
    h("div", { class: "cs-conflict-state" }, ...paragraphs.map((text) => h("p", { text })), ...fields.map(([key, text]) => h("p", {}, h("span", { class: "cs-dim", text: `${key} ` }), text))),
    ...one.pictures.map((picture, i) => h("img", { src: host.pictureUrl(picture.token), alt: `Picture ${i + 1} of the state`, width: picture.width, height: picture.height })),
    h("ul", { class: "cs-said" }, ...one.said.map(({ labeller, option, note, blind }) => h("li", {}, icon("person"), h("b", { text: labeller }), `: ${word(option)}`, blind ? h("span", { class: "cs-dim", text: " (blind)" }) : null, note ? h("span", { class: "cs-dim", text: ` “${note}”` }) : null))),
    h("div", { class: "cs-line", role: "group", "aria-label": "What stands" }, h("span", { class: "cs-small cs-dim", text: "What stands:" }), ...options, button("is-small", "Nobody can tell", { onclick: () => settle(null) })),
    error,
  );
}
