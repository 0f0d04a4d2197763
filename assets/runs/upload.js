// Sends files to the studio, each straight to its disk, with progress. One upload: a file, or all files of a folder, each
// {file, name} with its path inside the folder.

const TOGETHER = 3;
const TAKEN = /\.(csv|tsv|txt|jsonl|ndjson|json|parquet|xlsx|zip|png|jpe?g|webp|gif|heic|heif)$/i;

/** Files of an input, by their names. */
export const named = (files) => [...files].map((file) => ({ file, name: file.webkitRelativePath || file.name }));

/** Those of a folder's files that can be used. */
export const usable = (files) => files.filter(({ file }) => TAKEN.test(file.name) && !file.name.startsWith("."));

/** What was dropped: files, and all that is in folders. */
export async function dropped(transfer) {
  // All entries first: after the first wait the browser has taken them back.
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.some((entry) => entry.isDirectory)) return named(transfer.files);
  const found = [];
  for (let entry = entries.shift(); entry; entry = entries.shift()) {
    if (entry.isFile) found.push({ file: await new Promise((resolve, reject) => entry.file(resolve, reject)), name: entry.fullPath.slice(1) });
    else entries.push(...(await inside(entry)));
  }
  return found;
}

/** A folder's entries; a browser gives them a hundred at a time. */
async function inside(folder) {
  const reader = folder.createReader();
  const all = [];
  for (;;) {
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!some.length) return all;
    all.push(...some);
  }
}

/**
 * Sends files to the upload's address; told(sent, all) in bytes. Resolves to "" or to a sentence about what was refused;
 * the first refusal ends it.
 */
export async function send(files, { url, told }) {
  const all = files.reduce((sum, { file }) => sum + file.size, 0);
  const sent = new Map();
  const waiting = [...files];
  let refused = "";
  const some = async () => {
    for (let next = waiting.shift(); next && !refused; next = waiting.shift()) {
      const { file, name } = next;
      const note = (bytes) => {
        sent.set(name, bytes);
        told([...sent.values()].reduce((sum, n) => sum + n, 0), all);
      };
      refused = (await post(`${url}?${new URLSearchParams({ name })}`, file, note)) || refused;
    }
  };
  await Promise.all(Array.from({ length: Math.min(TOGETHER, files.length) }, some));
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
