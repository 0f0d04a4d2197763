// Where one labels: a schema version, a scorer and a question; chosen in a menu, and part of the address. Pure but for
// the address itself.

/** The place that an address names: {place, question}. Falls back to the first question of the newest place. */
export function wanted(places, search) {
  const query = new URLSearchParams(search);
  const [schema, version, scorer, question, set] = ["schema", "version", "scorer", "question", "questions"].map((name) => query.get(name));
  const fits = places.filter(
    (p) =>
      (!set || p.questions.startsWith(set)) &&
      (!schema || p.schema_id === schema) &&
      (!version || String(p.version ?? "draft") === version) &&
      (!scorer || p.scorer.startsWith(scorer)),
  );
  const named = fits.find((p) => !question || p.asked.some((a) => a.id === question));
  const asked = Boolean(schema || version || scorer || question || set);
  const place = named ?? (asked ? null : places[0]) ?? null;
  if (!place) return null;
  return { place, question: question ?? place.asked[0].id };
}

/** The address of a place and question: readable where a version is named, by hash where none is. */
export function address({ place, question }) {
  const query = new URLSearchParams();
  if (place.schema_id && place.version !== null) {
    query.set("schema", place.schema_id);
    query.set("version", String(place.version));
  } else query.set("questions", place.questions.slice(0, 16));
  query.set("scorer", place.scorer.slice(0, 16));
  query.set("question", question);
  return `?${query}`;
}

/** "Support triage v7" */
export function placeName(place) {
  const name = place.schema ?? "No schema";
  return place.version === null ? `${name}, draft` : `${name} v${place.version}`;
}

export const whereOf = ({ place, question }) => ({ questions: place.questions, scorer: place.scorer, question });
