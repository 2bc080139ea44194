// Taking numbers and pictures away: CSV of an array, a table or plot as SVG or PNG.

import {svgText} from "./svg.js";

export function download(name, blob) {
  const link = Object.assign(document.createElement("a"), {href: URL.createObjectURL(blob), download: name});
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

const escape = (text) => text.replace(/[&<>]/g, (c) => ({"&": "&amp;", "<": "&lt;", ">": "&gt;"})[c]);

// A table as drawn on the page, cell by cell.
export function tableSvg(table) {
  const frame = table.getBoundingClientRect();
  const parts = [];
  for (const cell of table.querySelectorAll("th, td")) {
    const box = cell.getBoundingClientRect();
    const style = getComputedStyle(cell);
    const [x, y] = [box.left - frame.left, box.top - frame.top];
    if (cell.dataset.value !== undefined) {
      parts.push(`<rect x="${x}" y="${y}" width="${box.width}" height="${box.height}" rx="5" fill="${style.backgroundColor}"/>`);
    }
    const text = cell.querySelector("input")?.value ?? cell.textContent.trim();
    if (text) {
      parts.push(
        `<text x="${x + box.width / 2}" y="${y + box.height / 2}" text-anchor="middle" dominant-baseline="central" ` +
          `font-family="Inter, sans-serif" font-size="${style.fontSize}" fill="${style.color}">${escape(text)}</text>`,
      );
    }
  }
  for (const bar of table.querySelectorAll(".extent")) {
    const box = bar.getBoundingClientRect();
    parts.push(`<rect x="${box.left - frame.left}" y="${box.top - frame.top}" width="${box.width}" height="${box.height}" fill="${getComputedStyle(bar).backgroundColor}"/>`);
  }
  const size = `width="${Math.ceil(frame.width)}" height="${Math.ceil(frame.height)}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size}>${parts.join("")}</svg>`;
}

export async function png(svg) {
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([svg], {type: "image/svg+xml"}));
  await image.decode();
  const canvas = Object.assign(document.createElement("canvas"), {width: image.width * 2, height: image.height * 2});
  const context = canvas.getContext("2d");
  context.scale(2, 2);
  context.drawImage(image, 0, 0);
  URL.revokeObjectURL(image.src);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

// A "Save" menu for each view that says with data-save which name its files get.
export function addSaveMenus(lab) {
  for (const view of lab.root.querySelectorAll("[data-save]")) {
    const name = `${lab.page}-${view.dataset.save}`;
    const matrices = lab.matrices.filter((m) => view.contains(m.table));
    const picture = lab.pictures.find((p) => p.element === view);
    const menu = document.createElement("details");
    menu.className = "save";
    const title = (view.querySelector("figcaption b") ?? view.querySelector("caption"))?.textContent ?? "";
    menu.innerHTML = `<summary title="${lab.words.save}" aria-label="${lab.words.save}: ${escape(title)}">⤓</summary>`;
    const box = document.createElement("div");
    for (const kind of ["CSV", "SVG", "PNG"]) {
      const button = Object.assign(document.createElement("button"), {type: "button", textContent: kind});
      button.addEventListener("click", async () => {
        menu.open = false;
        const own = picture?.part ?? view; // what keeps numbers of its own
        if (kind === "CSV" && own.csv) download(`${name}.csv`, new Blob([own.csv()], {type: "text/csv"}));
        else if (kind === "CSV") {
          for (const matrix of matrices) {
            matrix.show(true);
            download(`${lab.page}-${matrix.array}.csv`, new Blob([matrix.csv()], {type: "text/csv"}));
          }
        } else if (picture) download(`${name}.${kind.toLowerCase()}`, await picture.export(kind.toLowerCase()));
        else {
          const drawn = view.querySelector(".plot > svg");
          const svg = drawn ? svgText(drawn) : tableSvg(view.querySelector("table.drawn") ?? matrices[0].table);
          download(`${name}.${kind.toLowerCase()}`, kind === "SVG" ? new Blob([svg], {type: "image/svg+xml"}) : await png(svg));
        }
      });
      box.append(button);
    }
    menu.append(box);
    (view.querySelector("figcaption") ?? view).append(menu);
    menu.addEventListener("focusout", (event) => menu.contains(event.relatedTarget) || (menu.open = false));
    menu.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      menu.open = false;
      menu.querySelector("summary").focus();
    });
  }
}
