// Where in the pictures: boxes over the thumbnails. While there are any, a thumbnail shows its picture whole.

import { h } from "./dom.js";
import { LOOKED, LOOKED_MUCH, MOVES, MOVES_MUCH } from "./marks.js";

/** Width by height of a thumbnail. */
const FRAME = 4 / 3;
const MOST = 300;

/** Cells of one picture that were looked at: {rows, columns, weights} → [{x, y, w, h, look}] in parts of the picture. */
export function lookedCells({ rows, columns, weights }) {
  const cells = weights.map((weight, i) => ({ weight, x: (i % columns) / columns, y: Math.floor(i / columns) / rows, w: 1 / columns, h: 1 / rows, look: weight >= LOOKED_MUCH ? 3 : 2 }));
  return cells.filter((cell) => cell.weight >= LOOKED).sort((a, b) => b.weight - a.weight).slice(0, MOST);
}

/** Boxes of the parts of picture `index` that move an option. */
export function movingBoxes(parts, index) {
  const found = parts.filter((part) => part.counts && part.picture === index && Math.abs(part.change) >= MOVES);
  return found.map(({ box, change }) => {
    const [left, top, right, bottom] = box ?? [0, 0, 1, 1];
    return { x: left, y: top, w: right - left, h: bottom - top, look: Math.abs(change) >= MOVES_MUCH ? 3 : 2, against: change > 0 };
  });
}

/** Draws `spots(index)` over each picture of the document; no spots, no trace. */
export function showSpots(pictures, doc, spots) {
  for (const tile of pictures.made.values()) {
    tile.pic.querySelector(".cs-spots")?.remove();
    const picture = doc.pictures[tile.index];
    const boxes = picture ? spots(tile.index) : [];
    tile.pic.classList.toggle("is-whole", boxes.length > 0);
    if (!boxes.length) continue;
    const shape = picture.width / picture.height / FRAME;
    const frame = h("span", { class: "cs-spots", "aria-hidden": "true" });
    frame.style.width = `${100 * Math.min(1, shape)}%`;
    frame.style.height = `${100 * Math.min(1, 1 / shape)}%`;
    for (const box of boxes) {
      const spot = h("i", { class: "cs-spot", "data-look": box.look, "data-against": box.against });
      for (const [side, value] of [["left", box.x], ["top", box.y], ["width", box.w], ["height", box.h]]) spot.style[side] = `${100 * value}%`;
      frame.append(spot);
    }
    tile.pic.append(frame);
  }
}
