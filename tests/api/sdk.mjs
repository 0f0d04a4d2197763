// Drives a server with the official JavaScript SDK and prints what came back, as JSON.
// usage: node sdk.mjs FOLDER_WITH_NODE_MODULES BASE_URL
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [folder, baseURL] = process.argv.slice(2);
const require = createRequire(pathToFileURL(`${folder}/anchor.cjs`));
const { TypeSafeClient, choice, noul, score } = require("@typesafe-ai/sdk");
const client = new TypeSafeClient({ baseURL, apiKey: "anything", retry: { maxRetries: 0 } });

async function failure(request) {
  try {
    await client.systemOne(request);
    return null;
  } catch (error) {
    return { name: error.constructor.name, status: error.status, message: error.message };
  }
}

const answered = await client.systemOne({
  state: { document: "I was charged twice 🙂" },
  questions: {
    team: choice("Who?", { 10: null, 2: "Two", billing: { is: ["payments"] } }),
    severity: score("How bad?", ["calm", "annoyed", "angry"]),
    "질문": noul("Is it urgent?"),
  },
});
const question = { q: { type: "noul", instructions: "?" } };
console.log(JSON.stringify({
  models: await client.models.list(),
  answers: answered.answers,
  model: answered.model,
  usage: answered.usage,
  unknownModel: await failure({ model: "no-such-model", state: "x", questions: question }),
  unknownType: await failure({ state: "x", questions: { q: { type: "boolean", instructions: "?" } } }),
}));
