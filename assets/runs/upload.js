// Sends files to the studio, each straight to its disk, with progress. One upload: a file, or all files of a folder.

const TOGETHER = 3;
const TAKEN = /\.(csv|tsv|txt|jsonl|ndjson|json|parquet|xlsx|zip|png|jpe?g|webp|gif|heic|heif)$/i;

/** Those of a folder's files that can be used. */
export const usable = (files) => files.filter((file) => TAKEN.test(file.name) && !file.name.startsWith("."));

/**
 * Sends files under the upload's id; told(sent, all) in bytes. Resolves to "" or to a sentence about what was refused;
 * the first refusal ends it.
 */
export async function send(files, { url, told }) {
  const all = files.reduce((sum, file) => sum + file.size, 0);
  const sent = new Map();
  const waiting = [...files];
  let refused = "";
  const one = async () => {
    for (let file = waiting.shift(); file && !refused; file = waiting.shift()) {
      const now = file;
      const note = (bytes) => {
        sent.set(now, bytes);
        told([...sent.values()].reduce((sum, n) => sum + n, 0), all);
      };
      refused = (await post(`${url}?${new URLSearchParams({ name: now.webkitRelativePath || now.name })}`, now, note)) || refused;
    }
  };
  await Promise.all(Array.from({ length: Math.min(TOGETHER, files.length) }, one));
  return refused;
}

/** fetch tells nothing of a body's progress; this does. */
function post(address, file, note) {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open("POST", address);
    request.setRequestHeader("Content-Type", "application/octet-stream");
    request.upload.addEventListener("progress", (event) => note(event.loaded));
    request.addEventListener("load", () => {
      note(file.size);
      resolve(request.status === 200 ? "" : reason(request));
    });
    for (const lost of ["error", "abort", "timeout"]) request.addEventListener(lost, () => resolve("The studio does not answer. Choose the file again."));
    request.send(file);
  });
}

function reason(request) {
  try {
    return JSON.parse(request.responseText).detail.message;
  } catch {
    return `The studio did not take the file (${request.status}).`;
  }
}
