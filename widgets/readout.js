// The line under the tables that says where a number comes from. It stays in one place; a number can be pinned,
// and each number in the line can be followed one level deeper, down to the sliders.

import {writeNumber} from "./format.js";

export class Readout {
  constructor(element, lab) {
    this.element = element;
    this.lab = lab;
    this.hint = element.innerHTML;
    this.pinned = false;
    this.trail = []; // what was followed: {array, index, path}
    this.asking = false;
    this.again = null;
  }

  get current() {
    return this.trail.at(-1) ?? null;
  }

  // Shows a cell unless another is pinned.
  point(array, index) {
    if (this.pinned) return;
    const here = this.current;
    if (here && this.trail.length === 1 && here.array === array && String(here.index) === String(index)) return;
    this.trail = [{array, index, path: []}];
    this.ask();
  }

  pin(array, index) {
    const same = this.pinned && this.trail[0]?.array === array && String(this.trail[0]?.index) === String(index);
    this.pinned = !same;
    this.trail = [{array, index, path: []}];
    this.ask();
  }

  togglePin() {
    if (!this.current) return;
    this.pinned = !this.pinned;
    this.draw();
  }

  clear() {
    this.pinned = false;
    this.trail = [];
    this.answer = null;
    this.element.innerHTML = this.hint;
    this.light();
  }

  // Goes one level deeper from a number in the line that tells `here`.
  follow(token, here) {
    if (token.control) {
      this.lab.focusControl(token.control);
      return;
    }
    this.pinned = true;
    const shown = token.array && this.lab.matrices.find((m) => m.array === token.array && !m.twin)?.cell(token.index);
    if (shown) this.lab.moves.show(shown);
    this.trail.push(token.array ? {array: token.array, index: token.index, path: []} : {...here, path: token.path});
    this.ask();
  }

  back() {
    this.trail.pop();
    this.ask();
  }

  // One question at a time; only the newest is kept waiting.
  async ask() {
    if (!this.current) return this.clear();
    if (this.asking) {
      this.again = true;
      return;
    }
    this.asking = true;
    const here = this.current;
    const also = !here.path.length && this.tableOf(here.array)?.table.dataset.also;
    const told = [here, ...(also ? [{array: also, index: here.index, path: []}] : [])];
    try {
      const answers = await Promise.all(told.map((one) => this.lab.ask({kind: "explain", values: this.lab.values, ...one})));
      const head = answers[0].head;
      // An element that is a slider's own number is looked for in its table, if there is one, else at the slider.
      for (const token of answers.flatMap((answer) => answer.head.line ?? [])) {
        if (token.array && token.control) delete token[this.tableOf(token.array) ? "control" : "array"];
      }
      if (head.line && here === this.current) {
        this.answer = head;
        this.told = told.map((one, k) => ({here: one, answer: answers[k].head})).filter(({answer}) => answer.line);
        this.draw();
      } else if (head.error && here === this.current) this.clear();
    } catch {
      // The line is broken: what is shown stays, and the next step asks again.
    }
    this.asking = false;
    if (this.again) {
      this.again = false;
      this.ask();
    }
  }

  // After a step the numbers in the line have moved; ask again, but not at the pace of a drag.
  refresh() {
    if (!this.current || this.waiting) return;
    this.waiting = setTimeout(() => {
      this.waiting = null;
      this.ask();
    }, 120);
  }

  // The table that shows an array: one that stands open before one beside a picture.
  tableOf(array) {
    const all = this.lab.matrices.filter((m) => m.array === array);
    return all.find((m) => !m.twin) ?? all[0];
  }

  name({array, index}) {
    const matrix = this.tableOf(array);
    const words = matrix ? matrix.place(index) : index.map(String);
    const {labels} = this.lab;
    return [labels.arrays?.[array] ?? array, ...words].join(", ");
  }

  // One level of arithmetic as a paragraph.
  line({here, answer}) {
    const {words} = this.lab;
    const line = document.createElement("p");
    line.className = "line";
    for (const [k, token] of answer.line.entries()) {
      if (token.text !== undefined) {
        line.append(token.text);
        continue;
      }
      // A negative number after an operator stands in brackets, as one writes it by hand.
      const before = answer.line[k - 1]?.text ?? "";
      const bracket = token.value < 0 && /[+−·/^√] ?$/.test(before);
      const part = document.createElement(token.array || token.control || token.path ? "button" : "span");
      if (part.tagName === "BUTTON") {
        part.type = "button";
        part.className = token.array ? "to-array" : token.control ? "to-control" : "to-path";
        part.addEventListener("click", () => this.follow(token, here));
        part.title = token.array ? this.name(token) : token.control ? (this.lab.labels.controls?.[token.control] ?? token.control) : "";
      }
      part.textContent = this.write(token.value, token);
      line.append(...(bracket ? ["(", part, ")"] : [part]));
    }
    const [first] = answer.line;
    const result = Object.assign(document.createElement("b"), {textContent: this.write(answer.value, here)});
    if (answer.line.length > 1) line.append(" = ", result);
    else if (first.control) line.append(` · ${words.set_by}`);
    else line.append(` · ${first.array ? this.name(first) : this.given(here.array)}`);
    return line;
  }

  // Where a number comes from that no arithmetic on the page made.
  given(array) {
    const {labels, words} = this.lab;
    return labels.given?.[array] ?? labels.notes?.[array] ?? words.given;
  }

  draw() {
    const {words} = this.lab;
    const here = this.current;
    if (!here || !this.answer) return;
    const lines = this.told.map((told, k) => {
      const line = this.line(told);
      if (k) line.prepend(`${this.name(told.here)}: `);
      return line;
    });
    const title = document.createElement("p");
    title.className = "of";
    title.append(Object.assign(document.createElement("b"), {textContent: this.name(here)}));
    if (here.path.length) title.append(" › …");
    const buttons = document.createElement("span");
    buttons.className = "acts";
    const button = (text, act) => {
      const b = Object.assign(document.createElement("button"), {type: "button", textContent: text});
      b.addEventListener("click", act);
      buttons.append(b);
    };
    if (this.trail.length > 1) button(words.back, () => this.back());
    button(this.pinned ? words.unpin : words.pin, () => (this.pinned ? this.clear() : this.togglePin()));
    title.append(buttons);
    const focused = this.element.contains(document.activeElement);
    this.element.replaceChildren(title, ...lines);
    this.element.classList.toggle("pinned", this.pinned);
    // Its place on the page is not where it sticks, so the focus must not scroll there.
    if (focused) this.element.querySelector("button")?.focus({preventScroll: true});
    this.light();
  }

  // A number of the line as it stands where it comes from: a slider, a table, or a constant such as the 2 of a square.
  write(value, {array, index, control, path}) {
    const {lab} = this;
    if (lab.form === "full") return writeNumber(value, "full", lab.language);
    if (control) return lab.written(value, lab.config.controls[control]);
    const forms = array && !path?.length && this.tableOf(array)?.forms;
    if (forms) return writeNumber(value, forms[(index.at(-1) ?? 0) % forms.length], lab.language);
    const constant = !array && Number.isInteger(value) && (!path || Math.abs(value) >= 1000);
    return writeNumber(value, constant ? "0" : this.form(value, lab.form), lab.language);
  }

  // Small numbers keep their digits in the line, or a product would look like a product of zeros.
  form(value, form) {
    return value !== 0 && Math.abs(value) < 0.5 * 10 ** -form ? `${form}g` : form;
  }

  // Lights up the cell and everything it was computed from.
  light() {
    for (const element of document.querySelectorAll(".picked, .from")) element.classList.remove("picked", "from");
    const here = this.current;
    if (!here || !this.answer) return;
    const cells = ({array, index}) => this.lab.root.querySelectorAll(`[data-cell="${array}${index.length ? `[${index}]` : ""}"]`);
    for (const matrix of this.lab.matrices) {
      if (matrix.array === here.array) matrix.cell(here.index)?.classList.add("picked");
    }
    for (const cell of cells(here)) cell.classList.add("picked");
    for (const token of this.told.flatMap(({answer}) => answer.line)) {
      if (token.array) {
        for (const matrix of this.lab.matrices) if (matrix.array === token.array) matrix.cell(token.index)?.classList.add("from");
        for (const cell of cells(token)) cell.classList.add("from");
      } else if (token.control) {
        this.lab.root.querySelector(`[data-control="${token.control}"]`)?.closest(".control, td")?.classList.add("from");
      }
    }
  }
}
