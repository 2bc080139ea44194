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

  follow(token) {
    if (token.control) {
      this.lab.focusControl(token.control);
      return;
    }
    const here = this.current;
    this.pinned = true;
    const shown = token.array && this.lab.matrices.find((m) => m.array === token.array && !m.twin)?.cell(token.index);
    if (shown) this.lab.reveal(shown);
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
    try {
      const {head} = await this.lab.ask({kind: "explain", values: this.lab.values, array: here.array, index: here.index, path: here.path});
      if (head.line && here === this.current) {
        this.answer = head;
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

  name({array, index}) {
    const matrix = this.lab.matrices.find((m) => m.array === array);
    const words = matrix ? matrix.place(index) : index.map(String);
    const {labels} = this.lab;
    return [labels.arrays?.[array] ?? array, ...words].join(", ");
  }

  draw() {
    const {words, language} = this.lab;
    const here = this.current;
    if (!here || !this.answer) return;
    const form = this.lab.form;
    const line = document.createElement("p");
    line.className = "line";
    const number = (value) => writeNumber(value, form === "full" ? "full" : this.form(value, form), language);
    for (const [k, token] of this.answer.line.entries()) {
      if (token.text !== undefined) {
        line.append(token.text);
        continue;
      }
      // A negative number after an operator stands in brackets, as one writes it by hand.
      const before = this.answer.line[k - 1]?.text ?? "";
      const bracket = token.value < 0 && /[+−·/^√] ?$/.test(before);
      const part = document.createElement(token.array || token.control || token.path ? "button" : "span");
      if (part.tagName === "BUTTON") {
        part.type = "button";
        part.className = token.array ? "to-array" : token.control ? "to-control" : "to-path";
        part.addEventListener("click", () => this.follow(token));
        part.title = token.array ? this.name(token) : token.control ? (this.lab.labels.controls?.[token.control] ?? token.control) : "";
      }
      part.textContent = number(token.value);
      line.append(...(bracket ? ["(", part, ")"] : [part]));
    }
    const leaf = this.answer.line.length === 1;
    if (!leaf) line.append(" = ", Object.assign(document.createElement("b"), {textContent: number(this.answer.value)}));
    else line.append(` · ${this.answer.line[0].control ? words.set_by : this.answer.line[0].array ? "" : words.given}`);
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
    this.element.replaceChildren(title, line);
    this.element.classList.toggle("pinned", this.pinned);
    if (focused) this.element.querySelector("button")?.focus();
    this.light();
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
    for (const matrix of this.lab.matrices) {
      if (matrix.array === here.array) matrix.cell(here.index)?.classList.add("picked");
    }
    for (const token of this.answer.line) {
      if (token.array) {
        for (const matrix of this.lab.matrices) if (matrix.array === token.array) matrix.cell(token.index)?.classList.add("from");
      } else if (token.control) {
        this.lab.root.querySelector(`[data-control="${token.control}"]`)?.closest(".control, td")?.classList.add("from");
      }
    }
  }
}
