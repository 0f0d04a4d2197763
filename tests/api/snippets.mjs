// Prints the page's code for a request, as JSON: {id: text}. Arguments: address, "keyed" or "open", names of pictures.
import { snippets } from "../../assets/design/code.js";

const [baseUrl, entry, ...pictures] = process.argv.slice(2);
const options = [["billing", "Invoices and payments"], ["10", ""], ["2", "It's \"two\""]].map(([name, description]) => ({ name, description }));
const questions = [
  { id: "urgent", type: "noul", instructions: "Is it urgent?", criteria: { true: "Somebody waits" } },
  { id: "team", type: "choice", instructions: "Which team?", options },
  { id: "질문", type: "score", instructions: "How upset?", levels: [{ text: "calm" }, { text: "$HOME `upset`" }] },
];
const target = { baseUrl, model: "jev-latest", pictures, keyed: entry === "keyed" };
const made = snippets({ questions }, "It's down:\n</script> 👍", target);
console.log(JSON.stringify(Object.fromEntries(made.map(({ id, text }) => [id, text]))));
