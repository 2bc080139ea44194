// Signed bars that add up: where each begins and ends follows the numbers of its row.

// The next of 1, 2, 5 times a power of ten, as `round_up` of `waterfall.py`.
function roundUp(size) {
  if (!(size > 1e-12)) return 1;
  const power = 10 ** Math.floor(Math.log10(size));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= size * 0.9999);
}

export class Waterfall {
  constructor(table, lab) {
    this.lab = lab;
    this.groups = [...table.tBodies].map((body) => [...body.rows].map((row) => ({
      bar: row.querySelector(".extent"), name: row.querySelector("td[data-cell]").dataset.cell, total: row.classList.contains("total"),
    })));
    lab.addEventListener("numbers", () => this.show());
    if (lab.arrays.size) this.show();
  }

  show() {
    const ends = [];
    for (const rows of this.groups) {
      let place = 0;
      for (const {bar, name, total} of rows) {
        const value = this.lab.quote(name);
        const from = total ? 0 : place;
        place = from + value;
        ends.push([bar, from, place]);
      }
    }
    const scale = roundUp(Math.max(...ends.flatMap(([, from, to]) => [Math.abs(from), Math.abs(to)])));
    for (const [bar, from, to] of ends) {
      bar.style.setProperty("--from", (from / scale).toFixed(4));
      bar.style.setProperty("--to", (to / scale).toFixed(4));
      bar.dataset.sign = to < from ? "negative" : "positive";
    }
  }
}
