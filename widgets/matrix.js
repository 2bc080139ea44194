// Tables of numbers: cells follow the arrays, colours follow the numbers.

import {writeNumber} from "./format.js";

// How far a number is from zero, and to which side, for the stylesheet.
export function colour(cell, value, most, above = "positive") {
  const share = Math.max(-1, Math.min(1, value / most));
  cell.style.setProperty("--t", Math.abs(share).toFixed(3));
  cell.dataset.sign = share < 0 ? "negative" : above;
}

export class Matrix {
  constructor(table, lab) {
    this.table = table;
    this.lab = lab;
    const data = table.dataset;
    this.array = data.array;
    this.colours = data.colours;
    this.most = data.most ? +data.most : null;
    this.forms = data.form?.split(" ") ?? null;
    this.across = "across" in data;
    this.edit = data.edit?.split(" ") ?? null;
    this.twin = table.closest("details.twin");
    this.cells = null;
    this.last = null;
    this.twin?.addEventListener("toggle", () => this.twin.open && this.show());
  }

  // Called after each step. A closed twin costs nothing, unless its numbers are wanted for a file (`closed`).
  show(closed = false) {
    if (this.twin && !this.twin.open && !closed) return;
    const state = this.lab.arrays.get(this.array);
    if (!state) return;
    const {shape, data} = state;
    const rows = this.across ? 1 : (shape[0] ?? 1);
    const columns = this.across ? shape[0] : shape.length > 1 ? shape.slice(1).reduce((a, b) => a * b, 1) : 1;
    const refit = this.cells === null || this.rows !== rows || this.columns !== columns;
    if (refit) this.fit(rows, columns, shape);
    else if (this.lookedUp) this.nameAxes();
    const most = this.most ?? (this.colours === "plain" ? 1 : data.reduce((a, v) => Math.max(a, Math.abs(v)), 0) || 1);
    const forms = this.forms ?? [this.lab.form];
    const all = refit || this.lab.form !== this.lastForm || most !== this.lastMost;
    for (let k = 0; k < data.length; k++) {
      if (!all && data[k] === this.last[k]) continue;
      this.write(this.cells[k], data[k], most, forms[(k % columns) % forms.length]);
    }
    if (this.edit) this.table.style.setProperty("--digits", Math.max(...this.cells.map((cell) => cell.firstElementChild.value.length)));
    this.last = data;
    this.lastForm = this.lab.form;
    this.lastMost = most;
    this.markUnseen();
    this.markPick();
  }

  write(cell, value, most, form) {
    cell.dataset.value = value;
    const text = writeNumber(value, form, this.lab.language);
    const field = cell.firstElementChild;
    if (field) {
      if (field !== document.activeElement) field.value = text;
    } else if (cell.firstChild) cell.firstChild.data = text;
    else cell.textContent = text;
    if (this.colours !== "plain") colour(cell, value, most, this.colours === "shares" ? "share" : "positive");
  }

  // Adds and removes rows and cells by copying what the server wrote, then words the headers.
  fit(rows, columns, shape) {
    const body = this.table.tBodies[0];
    delete this.table.dataset.unfilled;
    while (body.rows.length > rows) body.deleteRow(-1);
    const model = body.rows[0];
    while (model.cells.length > columns + 1) for (const row of body.rows) row.deleteCell(-1);
    while (body.rows[0].cells.length < columns + 1) for (const row of body.rows) row.append(row.cells[1].cloneNode(true));
    while (body.rows.length < rows) body.append(model.cloneNode(true));
    const head = this.table.tHead?.rows[0];
    if (head) {
      while (head.cells.length > columns + 1) head.deleteCell(-1);
      while (head.cells.length < columns + 1) head.append(head.cells[1]?.cloneNode(true) ?? document.createElement("th"));
    }
    this.cells = [...body.rows].flatMap((row) => [...row.cells].slice(1));
    this.cells.forEach((cell, k) => {
      cell.tabIndex = k ? -1 : 0;
      cell.classList.remove("from", "picked");
      cell.firstChild ?? cell.append("");
    });
    this.rows = rows;
    this.columns = columns;
    this.shape = shape;
    this.nameAxes();
    if (this.edit) this.nameFields();
  }

  // Which control each entry field sets; rows that were copied need it said anew.
  nameFields() {
    this.cells.forEach((cell, k) => {
      const [row, column] = [Math.floor(k / this.columns), k % this.columns];
      const name = this.edit[column % this.edit.length].replace("{row}", row).replace("{column}", column);
      const field = cell.firstElementChild;
      field.dataset.control = name;
      field.setAttribute("aria-label", this.lab.labels.controls?.[name] ?? name);
      cell.removeAttribute("tabindex"); // the field itself can be reached
    });
    this.lab.findInputs();
  }

  nameAxes() {
    const head = this.table.tHead?.rows[0];
    const write = (cell, word) => cell.textContent === word || (cell.textContent = word);
    if (head) for (let j = 0; j < this.columns; j++) write(head.cells[j + 1], this.header("columns", j));
    if (!this.across) for (let i = 0; i < this.rows; i++) write(this.table.tBodies[0].rows[i].cells[0], this.header("rows", i));
  }

  // The word for a row or column: from a named axis, looked up through an array ("ids:vocabulary", counted, or
  // "ids::vocabulary"), or its number.
  header(side, k) {
    const axis = this.table.dataset[side] ?? "";
    const [array, words] = axis.includes(":") ? axis.split(/:+/) : [null, axis];
    const named = this.lab.labels.axes?.[words];
    if (array) {
      this.lookedUp = true;
      const at = this.lab.arrays.get(array)?.data[k];
      return at === undefined ? String(k) : axis.includes("::") ? String(named[at]) : `${k}: ${named[at]}`;
    }
    const length = (side === "rows" ? this.rows : this.columns) ?? k + 1; // a twin that was never opened has not counted yet
    return named?.length >= length ? String(named[k]) : String(k);
  }

  // The words for an element's place, for the line of arithmetic.
  place(index) {
    if (!index.length) return [];
    if (index.length === 1) return [this.header(this.across ? "columns" : "rows", index[0])];
    return [this.header("rows", index[0]), ...index.slice(1).map((i) => this.header("columns", i))];
  }

  markUnseen() {
    const seen = this.table.dataset.seen && this.lab.arrays.get(this.table.dataset.seen)?.data;
    if (seen) this.cells.forEach((cell, k) => cell.classList.toggle("unseen", !seen[k]));
  }

  markPick() {
    const pick = this.table.dataset.pick;
    if (!pick) return;
    const rows = pick in this.lab.values ? [+this.lab.values[pick]] : Array.from(this.lab.arrays.get(pick)?.data ?? []);
    const now = `${this.rows}: ${rows}`;
    if (now === this.picked) return;
    this.picked = now;
    [...this.table.tBodies[0].rows].forEach((element, i) => element.classList.toggle("chosen", rows.includes(i)));
  }

  index(cell) {
    const flat = this.cells.indexOf(cell);
    if (flat < 0) return null;
    const index = [];
    let rest = flat;
    for (const size of [...this.shape].reverse()) {
      index.unshift(rest % size);
      rest = Math.floor(rest / size);
    }
    return index;
  }

  cell(index) {
    if (this.cells === null || index.length !== this.shape.length) return undefined;
    return this.cells[index.reduce((at, i, axis) => at * this.shape[axis] + i, 0)];
  }

  // Arrow keys go from cell to cell.
  move(cell, key) {
    const at = this.cells.indexOf(cell);
    const step = {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -this.columns, ArrowDown: this.columns}[key];
    const next = this.cells[at + step];
    if (!next) return;
    for (const other of this.cells) other.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }

  csv() {
    const table = this.table;
    const quote = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    const lines = [...table.rows].map((row) =>
      [...row.cells].map((cell) => quote(cell.dataset.value ?? cell.textContent.trim())).join(","));
    return lines.join("\n") + "\n";
  }
}
