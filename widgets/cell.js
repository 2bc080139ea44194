// Numbers outside tables of arrays: they follow the state, and each tells where it comes from.

import {colour} from "./matrix.js";
import {writeNumber} from "./format.js";

const NAME = /^(\w+)(?:\[([\d,]+)\])?$/;

export class Cells {
  constructor(lab) {
    this.lab = lab;
    this.all = [...lab.root.querySelectorAll("[data-cell]")].map((element) => {
      const [, array, index] = NAME.exec(element.dataset.cell);
      const {most, form} = element.dataset;
      const control = element.dataset.cell in lab.values;
      return {element, name: element.dataset.cell, array, index: index ? index.split(",").map(Number) : [], control, most: most && +most, form};
    });
    this.of = new Map(this.all.map((cell) => [cell.element, cell]));
    for (const table of new Set(this.all.map(({element}) => element.closest("table")))) {
      table?.querySelector("td[data-cell]")?.setAttribute("tabindex", 0);
    }
    this.listen();
    lab.addEventListener("numbers", () => this.show());
    if (lab.arrays.size) this.show();
  }

  value({name, control}) {
    return control ? this.lab.values[name] : this.lab.quote(name);
  }

  show() {
    const {lab} = this;
    for (const cell of this.all) {
      const value = this.value(cell);
      if (value === undefined || (value === cell.shown && cell.as === lab.form)) continue;
      const {element} = cell;
      const text = writeNumber(value, cell.form ?? lab.form, lab.language);
      // As one writes it by hand: a negative number after an operator stands in brackets.
      const bracket = value < 0 && /[·+−] ?$/.test(element.previousSibling?.data ?? "");
      element.textContent = bracket ? `(${text})` : text;
      if (element.tagName === "TD") element.dataset.value = value;
      if (cell.most) colour(element, value, cell.most);
      Object.assign(cell, {shown: value, as: lab.form});
    }
  }

  listen() {
    const {root, readout} = this.lab;
    const found = (event) => this.of.get(event.target.closest?.("[data-cell]"));
    const point = (event) => {
      const cell = found(event);
      if (cell && !cell.control) readout.point(cell.array, cell.index);
    };
    const choose = (cell) => (cell.control ? this.lab.focusControl(cell.name) : readout.pin(cell.array, cell.index));
    root.addEventListener("pointerover", (event) => event.pointerType !== "touch" && !event.buttons && point(event));
    root.addEventListener("focusin", point);
    root.addEventListener("click", (event) => {
      const cell = found(event);
      if (cell) choose(cell);
    });
    root.addEventListener("keydown", (event) => {
      const cell = found(event);
      if (!cell) return;
      if (event.key.startsWith("Arrow")) this.move(cell.element, event.key);
      else if (event.key === "Enter" || event.key === " ") choose(cell);
      else return;
      event.preventDefault();
    });
  }

  // Arrow keys go from result to result.
  move(element, key) {
    const table = element.closest("table");
    const results = [...table.querySelectorAll("td[data-cell]")];
    const columns = +table.dataset.columns;
    const next = results[results.indexOf(element) + {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns}[key]];
    if (!next) return;
    element.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }
}
