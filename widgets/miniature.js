// Miniatures follow the arrays: the same drawing as widgets/miniature.py; a browser test compares the two.

const MOST_ROWS = {cells: 16, lines: 5, bars: 4};
const MOST_COLUMNS = {cells: 24, lines: 120, bars: 32};
const WIDTH = 100;
const HEIGHT = 60;
const EDGE = 4;

const sign = (share) => (share < 0 ? "negative" : "positive");
const number = (given) => (given === undefined ? null : +given);

export class Miniature {
  // `lab` has `arrays` and says "numbers" when they are new. What is out of sight follows when it comes into sight.
  constructor(svg, lab) {
    Object.assign(this, {svg, lab, array: svg.dataset.miniature, kind: svg.dataset.kind, log: "log" in svg.dataset, seen: false});
    [this.most, this.low, this.high] = ["most", "low", "high"].map((name) => number(svg.dataset[name]));
    this.shares = svg.classList.contains("shares");
    lab.addEventListener("numbers", () => this.show());
    new IntersectionObserver((entries) => {
      this.seen = entries.at(-1).isIntersecting;
      this.show();
    }).observe(svg);
  }

  show() {
    const state = this.lab.arrays.get(this.array);
    if (!this.seen || !state || state.data === this.last) return;
    this.last = state.data;
    const rows = this.rows(state);
    const box = this.kind === "cells" ? `0 0 ${rows[0].length} ${rows.length}` : `0 0 ${WIDTH} ${HEIGHT}`;
    if (this.svg.getAttribute("viewBox") !== box) this.svg.setAttribute("viewBox", box);
    this.write(this[this.kind](rows));
  }

  // Of a long axis every k-th element is drawn, counted from the first.
  rows({shape, data}) {
    const [height, width] = shape.length < 2 ? [1, data.length] : [shape[0], data.length / shape[0]];
    const down = Math.max(1, Math.ceil(height / MOST_ROWS[this.kind]));
    const along = Math.max(1, Math.ceil(width / MOST_COLUMNS[this.kind]));
    const rows = [];
    for (let i = 0; i < height; i += down) {
      const row = [];
      for (let j = 0; j < width; j += along) row.push(data[i * width + j]);
      rows.push(row);
    }
    return rows;
  }

  shared(rows) {
    const most = this.most || Math.max(...rows.flat().map(Math.abs)) || 1;
    return rows.map((row) => row.map((value) => Math.max(-1, Math.min(1, value / most))));
  }

  cells(rows) {
    const gap = rows.length * rows[0].length <= 100 ? 0.06 : -0.02;
    const size = 1 - 2 * gap;
    return this.shared(rows).flatMap((row, i) => row.map((share, j) =>
      ["rect", {class: sign(share), x: j + gap, y: i + gap, width: size, height: size, style: `--t:${Math.abs(share).toFixed(2)}`}]));
  }

  bars(rows) {
    const [band, step] = [HEIGHT / rows.length, WIDTH / rows[0].length];
    const room = this.shares ? band - EDGE : (band - EDGE) / 2;
    return this.shared(rows).flatMap((row, i) => row.map((share, j) => {
      const base = (i + 1) * band - EDGE / 2 - (this.shares ? 0 : room);
      const long = Math.abs(share) * room;
      return ["rect", {class: sign(share), x: j * step + 0.1 * step, y: base - (share >= 0 ? long : 0), width: 0.8 * step, height: long}];
    }));
  }

  lines(rows) {
    const scaled = this.log ? rows.map((row) => row.map((value) => (value > 0 ? Math.log10(value) : NaN))) : rows;
    const seen = scaled.flat().filter(Number.isFinite);
    const end = (given, of) => (given === null ? (seen.length ? of(...seen) : 0) : this.log && given ? Math.log10(given) : given);
    const [low, high] = [end(this.low, Math.min), end(this.high, Math.max)];
    const scale = Math.max(Math.abs(low), Math.abs(high)) || 1; // huge numbers have a difference as well
    return scaled.map((row, i) => {
      let pen = "M";
      const way = row.map((value, j) => {
        if (!Number.isFinite(value)) {
          pen = "M";
          return "";
        }
        const x = (WIDTH * j) / Math.max(1, row.length - 1);
        const share = high > low ? (Math.min(high, Math.max(low, value)) / scale - low / scale) / (high / scale - low / scale) : 0.5;
        const y = EDGE + (HEIGHT - 2 * EDGE) * (1 - share);
        const point = `${pen}${x.toFixed(1)} ${y.toFixed(1)}`;
        pen = "L";
        return point;
      });
      return ["path", {class: `curve v${i}`, d: way.join("")}];
    });
  }

  // Marks are kept; only what is different is written.
  write(marks) {
    const {svg} = this;
    while (svg.children.length > marks.length) svg.lastChild.remove();
    marks.forEach(([name, attributes], k) => {
      const mark = svg.children[k] ?? svg.appendChild(document.createElementNS("http://www.w3.org/2000/svg", name));
      for (const [key, value] of Object.entries(attributes)) {
        const text = typeof value === "number" ? value.toFixed(2) : value;
        if (mark.getAttribute(key) !== text) mark.setAttribute(key, text);
      }
    });
  }
}
