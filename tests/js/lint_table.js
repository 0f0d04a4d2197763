// The lint's tables: questions that each rule speaks of, and questions that it must not; and how they are built.

import { lint } from "../../assets/design/lint.js";

export const freeze = (value) => {
  if (value !== null && typeof value === "object") Object.values(Object.freeze(value)).forEach(freeze);
  return value;
};
export const question = (type, instructions, fields = {}) => ({
  id: "subject",
  type,
  instructions,
  criteria: {},
  options: [],
  levels: [],
  ...fields,
});
export const noul = (instructions, criteria = {}) => question("noul", instructions, { criteria });
export const options = (...names) =>
  names.map((n) => (Array.isArray(n) ? { name: n[0], description: n[1] } : { name: n, description: "" }));
export const choice = (instructions, ...names) => question("choice", instructions, { options: options(...names) });
export const score = (instructions, ...texts) =>
  question("score", instructions, { levels: texts.map((text) => ({ text })) });
export const run = (questions, { state = "", questionIds = "literal" } = {}) =>
  lint(freeze({ questions: [questions].flat() }), { state, questionIds, limits: {} });
export const found = (questions, context) => run(questions, context).map((f) => f.rule);
export const show = ({ type, instructions, options: rows, levels }) =>
  JSON.stringify([type, instructions, ...rows.map((o) => o.name), ...levels.map((l) => l.text)]);

/** rule → questions that it speaks of, and questions that it must not. */
export const TABLE = {
  "no-way-out": {
    yes: [
      choice("Which team?", "billing", "delivery", "security"),
      choice("What is it about?", ["invoice", "A bill"], ["contract", "An agreement"], ["letter", null]),
      choice("Which of the two?", "invoice", "letter"),
      choice("", "Rechnung", "Vertrag", "Brief"),
      choice("Which team?", "billing", "", "delivery"),
    ],
    no: [
      choice("Which team?", "billing", "delivery", "other"),
      choice("Which team?", "billing", "delivery", "None of these"),
      choice("Which team?", "billing", "delivery", "not_applicable"),
      choice("Which team?", "billing", "delivery", ["front_desk", "Anything else"]),
      choice("Which attack?", "phishing", "malware", "no_attack"),
      choice("Which attack?", "phishing", "malware", "benign"),
      choice("Worum geht es?", "Rechnung", "Vertrag", "Sonstiges"),
      choice("Quel sujet ?", "facture", "contrat", "autre"),
      choice("Who sent it?", "bot", "human"),
      choice("May it pass?", "Allow", "Block"),
      choice("What kind?", "spam", "not_spam"),
      choice("State of the form?", "valid", "invalid"),
      choice("Is the writer a supplier or a tenant?", "supplier", "tenant"),
      choice("Which one?", ["urgent", "Somebody waits"], ["later", "Not urgent"]),
      choice("How is the mood?", "positive", "negative", "neutral"),
      choice("How much?", "low", "medium", "high"),
      choice("Which day?", "monday", "tuesday", "sunday"),
      choice("Which team?", "billing"),
      choice("Which team?", "", ""),
      noul("Is it urgent?"),
    ],
  },
  "repeated-option": {
    yes: [
      choice("Which?", ["a1", "An unpaid bill"], ["b1", "an unpaid  bill."], "other"),
      choice("Which?", "not_urgent", "Not urgent", "other"),
      choice("Which?", "billingIssue", "billing_issue", "other"),
      noul("Is it?", { true: "It is a bill", false: "It is a bill." }),
    ],
    no: [
      choice("Which?", ["bill", "An unpaid bill"], ["receipt", "A paid bill"], "other"),
      choice("Which?", ["bill", ""], ["receipt", ""], "other"),
      choice("Which?", "Bill", "bill", "other"),
      choice("Which?", "", "", "other"),
      noul("Is it?", { true: "It is a bill", false: "It is not a bill" }),
      noul("Is it?", { true: "", false: "" }),
    ],
  },
  "case-only-names": {
    yes: [choice("Which?", "Billing", "billing", "other"), choice("Which?", "ÄRGER", "ärger", "other")],
    no: [
      choice("Which?", "billing", "Billing dispute", "other"),
      choice("Which?", "billing", "billing", "other"),
      choice("Which?", "bill", "ball", "other"),
    ],
  },
  "overlapping-options": {
    yes: [
      choice("Which?", "billing", "billing_dispute", "other"),
      choice("Which?", "Password reset", "password", "other"),
      choice("Which?", ["read", "Looks only"], ["read_file", "Opens a file"], "other"),
    ],
    no: [
      choice("Which?", "spam", "not_spam"),
      choice("Which?", "satisfied", "very satisfied", "other"),
      choice("Which?", "billing", "other_billing"),
      choice("Which?", ["billing", "Invoices, except disputes"], "billing_dispute", "other"),
      choice("Which?", "mail", "email", "other"),
      choice("Which?", "order_status", "order_change", "other"),
      choice("Which?", "tier", "tier 2", "other"),
      choice("Which?", "error", "read_error", "write_error", "disk_error", "other"),
    ],
  },
  "yes-no-choice": {
    yes: [
      choice("Is it urgent?", "yes", "no"),
      choice("Is it urgent?", "No", "Yes"),
      choice("Is it urgent?", "true", "false"),
      choice("Ist es eilig?", "ja", "nein"),
      choice("Which?", "spam", "not_spam"),
      choice("Which?", ["yes", "Somebody waits"], ["no", null], ""),
    ],
    no: [
      choice("Is it urgent?", "yes", "no", "unknown"),
      choice("Who sent it?", "bot", "human"),
      choice("Which?", "north", "no"),
      noul("Is it urgent?"),
    ],
  },
  "opaque-names": {
    yes: [
      choice("Which case?", "A", "B", "other"),
      choice("Which case?", "C1", "C2", "C3"),
      choice("Which case?", "option_1", "option_2"),
      choice("Which case?", ["A", "Refund"], "B", "C"),
      choice("Which case?", "101", "102"),
    ],
    no: [
      choice("Which case?", ["A", "Refund"], ["B", "Repair"], "other"),
      choice("Which grade does it get?", "A", "B", "C"),
      choice("How many people?", "1", "2", "3"),
      choice("Which plan, A or B?", "A", "B"),
      choice("Which size fits?", "S", "M", "L"),
      choice("Which fits?", "s", "m", "l"),
      choice("Which language?", "en", "de", "fr", "other"),
      choice("Which vitamin?", "iron", "zinc", "C", "other"),
      choice("Which priority?", "P1", "P2", "P3"),
      choice("Is it?", "y", "n"),
    ],
  },
  "long-list": {
    yes: [
      choice("Which intent?", ...Array.from({ length: 120 }, (_, i) => `intent ${"abcdefghij"[i % 10]}${i}x`), "other"),
    ],
    no: [
      choice("Which intent?", ...Array.from({ length: 60 }, (_, i) => `intent ${i}x`), "other"),
      choice(
        "Which intent?",
        ...Array.from({ length: 120 }, (_, i) => [`intent ${i}x`, `Number ${i} of them`]),
        "other",
      ),
    ],
  },
  "one-level": {
    yes: [score("How urgent?", "urgent"), score("How urgent?", "urgent", "")],
    no: [score("How urgent?", "low", "high"), score("How urgent?"), score("How urgent?", "", "")],
  },
  "repeated-level": {
    yes: [score("How bad is it?", "none", "some", "Some"), score("How urgent?", "can wait", "can wait.", "now")],
    no: [score("How bad is it?", "none", "some", "a lot"), score("How bad?", "", "", "x", "y")],
  },
  "off-scale-level": {
    yes: [
      score("How urgent?", "low", "high", "unknown"),
      score("How urgent?", "low", "high", "Other"),
      score("How?", "N/A", "bad", "good"),
    ],
    no: [
      score("How urgent?", "none", "low", "high"),
      score("How clear is it?", "unclear", "clear"),
      score("How sure?", "uncertain", "certain"),
    ],
  },
  "unordered-levels": {
    yes: [
      score("How urgent is it?", "low", "high", "medium"),
      score("How urgent is it?", "high", "medium", "low"),
      score("How often?", "sometimes", "never", "always"),
      score("How many stars?", "1 star", "3 stars", "2 stars"),
      score("How many?", "5", "4", "3", "2", "1"),
      score("Do they agree?", "agree", "neutral", "disagree"),
    ],
    no: [
      score("How urgent is it?", "low", "medium", "high"),
      score("How urgent is it?", "none", "low", "high", "critical"),
      score("How bad is it?", "excellent", "good", "poor", "terrible"),
      score("How long?", "24 hours", "3 days", "2 weeks"),
      score("How long?", "< 1 day", "1-3 days", "> 3 days"),
      score("How many stars?", "1 star", "2 stars", "3 stars"),
      score("How urgent?", "can wait", "this week", "today", "now"),
      score("How odd is it?", "plain", "odd", "very odd"),
    ],
  },
  "kind-as-score": {
    yes: [
      score("What kind of request is it?", "billing", "delivery", "security"),
      score("Which team should answer?", "billing", "delivery"),
      score("Is it urgent?", "no", "yes"),
    ],
    no: [
      score("Which guard should apply to this step?", "Run freely", "Run and log it", "Ask a person first"),
      score("What kind of risk is it?", "low", "medium", "high"),
      score("What type of damage is it?", "no damage", "slight damage", "total loss"),
      score("How urgent?", "can wait", "today", "now"),
    ],
  },
  "double-negation": {
    yes: [
      noul("Is it not true that the customer did not pay?"),
      noul("Isn't it the case that nobody answered?"),
      noul("The message does not contain no threat."),
      noul("Is the request not impossible?"),
      noul("Is the wording not entirely unclear?"),
      noul("Is it urgent?", { false: "It is not the case that nobody waits" }),
      choice("Which of these is not never used?", "a word", "another word", "other"),
    ],
    no: [
      noul("Is the customer not satisfied?"),
      noul("Is there no name and no address?"),
      noul("Is it neither spam nor phishing?"),
      noul("Did the customer pay? Not counting the deposit, which nobody mentions."),
      noul("Must this not run without a person's consent?"),
      noul("Is the order no longer wanted, or not yet paid?"),
      noul("Does it not only complain but never thank?"),
      noul("Is it unclear who is responsible?"),
      noul("Is the text interesting and not under review?"),
      noul("Does it ask for a code?", { false: "No secret is asked for; warnings not to share secrets do not count." }),
      noul("Does it quote “not never”?"),
    ],
  },
  "two-questions": {
    yes: [
      noul("Is it urgent and is it about billing?"),
      noul("Is the customer angry? Does the customer want a refund?"),
      noul("Is it spam, or does it ask for money?"),
      noul("Does it name a person and does it name a place?"),
      choice("What went wrong and who should fix it?", "us", "them", "other"),
      score("How urgent is it? How angry is the customer?", "low", "medium", "high"),
    ],
    no: [
      noul("Is the customer angry and threatening to leave?"),
      noul("Is it about billing or delivery?"),
      noul("Does the message say who sent it and when?"),
      noul("Is it urgent? That is, must somebody act today?"),
      noul("Is it urgent (does somebody wait)?"),
      noul("Is it urgent? Think of outages and of safety."),
      noul("Is the customer writing about what they were or will be charged?"),
      noul("Is it a question such as “Is it open and is it free?”"),
      noul("Is it signed, sealed and delivered?"),
      choice("Is it a bug or is it a wish?", "bug", "wish", "other"),
      choice("Urgent? Pick one.", "bug", "wish", "other"),
      noul({ task: "Is it urgent? Is it about billing?" }),
    ],
  },
  "open-noul": {
    yes: [noul("How urgent is it?"), noul("Which team should answer?"), noul("Who sent the message?")],
    no: [
      noul("Is it urgent?"),
      noul("What if nobody answers, is that harmful?".replace("What if", "If")),
      noul("How urgent is it?", { true: "It is urgent", false: "It can wait" }),
      noul("How-to guide"),
      noul("Which is to say: is it urgent? Answer yes if somebody waits."),
      score("How urgent is it?", "low", "medium", "high"),
    ],
  },
  "silent-id": {
    yes: [
      "q",
      "q1",
      "question2",
      "Question_3",
      "x",
      "7",
      "new question",
      "is_it_so",
      "which_one_2",
      "3f2b8c1e-0000-4000-8000-0123456789ab",
    ].map((id) => ({ ...noul("Is the customer upset?"), id })),
    no: [
      ...["upset", "customer_upset", "eilig", "pii", "q3_revenue", "x_ray_needed", "긴급"].map((id) => ({
        ...noul("Is the customer upset?"),
        id,
      })),
      { ...noul(""), id: "q1" },
    ],
  },
  "nothing-asked": {
    yes: [
      { ...choice("", "billing", "delivery", "other"), id: "q1" },
      { ...score(null, "low", "high"), id: "x" },
      { ...score("  ", "low", "high"), id: "q" },
    ],
    no: [
      { ...choice("", "billing", "delivery", "other"), id: "team" },
      { ...choice("", "", ""), id: "q1" },
      { ...noul(""), id: "q1" },
      { ...noul("", { true: "It is urgent" }), id: "q1" },
      { ...choice({ task: "route" }, "billing", "other"), id: "q1" },
    ],
  },
  "refers-to-another": {
    yes: [
      noul("If yes to the above, is it about billing?"),
      noul("If so, does it name a person?"),
      noul("Does this change the previous question?"),
      noul("Given your previous answer, is it urgent?"),
      noul("Only if question 2 holds: is it urgent?"),
      noul("Is it urgent, given the answer to the previous one?"),
      noul("If you answered yes, is the amount over 100?"),
    ],
    no: [
      noul("Is it urgent?"),
      noul("Does the assistant answer the user's previous question?"),
      noul("Is the answer to the question correct?"),
      noul("Rate how useful the second part is as an answer to the first."),
      noul("Does the essay answer the second question?"),
      noul("Is the message above 100 words?"),
      noul("Is it clear if so many people can come?"),
      noul("If the sender asks for money, is a reason given?"),
    ],
  },
};
