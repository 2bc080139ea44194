// A lab on the page: its controls, its views, and what a reader does with them.

import {readNumber, writeNumber} from "./format.js";
import {loadBokeh, Picture} from "./figure.js";
import {Link} from "./link.js";
import {Matrix} from "./matrix.js";
import {Miniature} from "./miniature.js";
import {Moves} from "./moves.js";
import {Readout} from "./readout.js";
import {addSaveMenus} from "./save.js";
import {slideUnderPointer} from "./slide.js";
import {Stepper} from "./stepper.js";

const LATE = 24; // ms that a slider's thumb waits for its numbers
const PRECISIONS = ["2", "3", "4", "full"];
// Kinds of pictures with a part of their own, fetched where there is such a picture.
const PARTS = {plane: async () => (await import("./plane.js")).Plane};

// What the browser keeps for this reader; where storage is forbidden, a choice lasts as long as the page.
export function keep(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {}
}

export function kept(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

export class Lab extends Stepper {
  // `root` is the lab's element; `config` what the server wrote beside it; `connect` gives the line to the server.
  constructor(root, config, {early, token, freshToken}) {
    super(config.page, Object.fromEntries(Object.entries(config.controls).map(([name, c]) => [name, c.value])));
    Object.assign(this, {root, config, language: config.language, words: config.words, labels: config.labels});
    this.palettes = config.palettes;
    Object.assign(this, {late: new Set(), rested: [], ahead: null});
    this.notice = root.querySelector(".undefined");
    this.form = PRECISIONS.includes(kept("precision")) ? kept("precision") : "2";
    root.dataset.digits = this.form;
    this.status = "connecting";
    this.readout = new Readout(root.querySelector(".readout"), this);
    this.matrices = [...root.querySelectorAll("table[data-array]")].map((table) => new Matrix(table, this));
    this.pictures = [...root.querySelectorAll("[data-figure]")].map((e) => new Picture(e, config.pictures[+e.dataset.figure], this));
    for (const svg of document.querySelectorAll("[data-miniature]")) new Miniature(svg, this);
    this.outputs = [...document.querySelectorAll("output[data-fact]")].map((output) => ({output, name: output.dataset.fact}));
    this.findInputs();
    this.moves = new Moves(this);
    this.listen();
    this.addTools();
    this.alignRows();
    addSaveMenus(this);
    for (const name of Object.keys(this.values)) this.echo(name);
    this.link = new Link(early, token, freshToken, (status) => this.heard(status));
    this.first = this.values;
    this.link.connect();
    if (this.pictures.length) this.drawPictures();
    if (root.querySelector("[data-cell]")) import("./cell.js").then(({Cells}) => new Cells(this));
    for (const table of root.querySelectorAll("table.waterfall")) import("./waterfall.js").then(({Waterfall}) => new Waterfall(table, this));
    for (const figure of root.querySelectorAll("[data-switches]")) import("./switches.js").then(({Switches}) => new Switches(figure, this));
    for (const figure of root.querySelectorAll("[data-steps]")) import("./steps.js").then(({Steps}) => new Steps(figure, this));
    for (const panel of root.querySelectorAll("[data-training]")) import("./training.js").then(({Training}) => new Training(panel, this));
    for (const panel of root.querySelectorAll("[data-measurement]")) {
      import("./measurement.js").then(({Measurement}) => new Measurement(panel, this));
    }
  }

  // Controls

  // The inputs of each control; called again when a table of entry fields has grown.
  findInputs() {
    this.inputs = new Map();
    for (const input of this.root.querySelectorAll("[data-control]")) {
      const name = input.dataset.control;
      this.inputs.set(name, [...(this.inputs.get(name) ?? []), input]);
    }
    for (const name of this.inputs.keys()) this.markMoved(name);
  }

  listen() {
    this.root.addEventListener("input", (event) => {
      const name = event.target.dataset.control;
      if (!name || event.target.type === "text") return;
      this.set({[name]: this.read(event.target)});
    });
    this.root.addEventListener("change", (event) => {
      const target = event.target;
      const name = target.dataset.control ?? target.dataset.entry;
      if (!name) return;
      if (target.type === "text") this.enter(name, target);
      this.commit(name);
    });
    this.root.addEventListener("click", (event) => {
      const reset = event.target.closest("[data-reset]");
      if (reset) {
        const own = [...reset.closest("figure")?.querySelectorAll("[data-control]") ?? []].map((input) => input.dataset.control);
        const names = reset.dataset.reset ? [reset.dataset.reset] : own; // a table's button resets all its entries
        this.set(Object.fromEntries(names.map((name) => [name, this.config.controls[name].default])));
        this.commit();
        return;
      }
      const cell = event.target.closest("td[data-value]");
      const matrix = cell && this.matrixOf(cell);
      if (!matrix?.cells || event.target.tagName === "INPUT") return;
      if (matrix.table.dataset.toggle && this.toggleBit(matrix, cell)) return;
      this.readout.pin(matrix.array, matrix.index(cell));
    });
    const point = (event) => {
      const cell = event.target.closest?.("td[data-value]");
      const matrix = cell && this.matrixOf(cell);
      if (matrix?.cells) this.readout.point(matrix.array, matrix.index(cell));
    };
    this.root.addEventListener("pointerover", (event) => event.pointerType !== "touch" && !event.buttons && point(event));
    this.root.addEventListener("focusin", point);
    slideUnderPointer(this.root, {
      value: (input) => this.values[input.dataset.control],
      slide: (input, value) => this.slide(input.dataset.control, value),
      rest: (input) => this.rest(input.dataset.control),
    });
    this.listenToEntries();
    this.root.addEventListener("keydown", (event) => {
      const cell = event.target.closest?.("td[data-value]");
      const matrix = cell && this.matrixOf(cell);
      if (!matrix?.cells || event.target.tagName === "INPUT") return;
      if (event.key.startsWith("Arrow")) matrix.move(cell, event.key);
      else if (event.key === "Enter" || event.key === " ") {
        if (!(matrix.table.dataset.toggle && this.toggleBit(matrix, cell))) this.readout.pin(matrix.array, matrix.index(cell));
      } else return;
      event.preventDefault();
    });
  }

  // An entry field in a table goes up and down by one step with the arrow keys, and follows a sideways drag.
  listenToEntries() {
    const control = (field) => this.config.controls[field.dataset.control];
    const numeric = (target) => target.matches?.("td input[data-control]") && control(target).kind !== "text";
    const move = (field, from, steps) => {
      const name = field.dataset.control;
      const {low, high, step, kind} = control(field);
      const value = Math.min(high, Math.max(low, (Math.round(from / step) + steps) * step));
      this.set({[name]: kind === "whole" ? Math.round(value) : Number(value.toPrecision(12))});
      field.value = writeNumber(this.values[name], this.form, this.language);
    };
    this.root.addEventListener("keydown", (event) => {
      const steps = {ArrowUp: 1, ArrowDown: -1, PageUp: 10, PageDown: -10}[event.key];
      if (!steps || !numeric(event.target)) return;
      event.preventDefault();
      move(event.target, this.values[event.target.dataset.control], steps);
    });
    this.root.addEventListener("keyup", (event) => {
      if (/^(Arrow|Page)(Up|Down)$/.test(event.key) && numeric(event.target)) this.commit();
    });
    let drag = null;
    this.root.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || !numeric(event.target)) return;
      drag = {field: event.target, x: event.clientX, from: this.values[event.target.dataset.control], on: false};
    });
    addEventListener("pointermove", (event) => {
      if (!drag) return;
      const across = event.clientX - drag.x;
      if (!drag.on && Math.abs(across) < 5) return;
      if (!drag.on) {
        drag.on = true;
        drag.field.setPointerCapture(event.pointerId);
        drag.field.blur();
        this.root.classList.add("scrubbing");
      }
      move(drag.field, drag.from, Math.round(across / 6));
    });
    const end = () => {
      if (drag?.on) {
        this.root.classList.remove("scrubbing");
        this.commit();
      }
      drag = null;
    };
    addEventListener("pointerup", end);
    addEventListener("pointercancel", end);
  }

  matrixOf(cell) {
    const table = cell.closest("table");
    return this.matrices.find((m) => m.table === table);
  }

  read(input) {
    const control = this.config.controls[input.dataset.control];
    if (input.type === "checkbox") return input.checked ? 1 : 0;
    if (input.type === "radio") return control.choices.find((choice) => String(choice) === input.value);
    return Number(input.value);
  }

  // A typed value: taken when legal, else the field goes back to what stands.
  enter(name, field) {
    const control = this.config.controls[name];
    if (control.kind === "text") {
      const legal = new RegExp(`^(?:${control.pattern})$`).test(field.value.trim());
      if (legal) this.set({[name]: field.value.trim()});
      else this.refuse(field);
    } else {
      const value = readNumber(field.value);
      if (Number.isFinite(value)) {
        const inside = Math.min(control.high, Math.max(control.low, value));
        this.set({[name]: control.kind === "whole" ? Math.round(inside) : inside});
      } else this.refuse(field);
      if (field.dataset.control) field.value = writeNumber(this.values[name], this.form, this.language); // it still has the focus
    }
    this.echo(name);
  }

  refuse(field) {
    field.classList.remove("refused");
    requestAnimationFrame(() => field.classList.add("refused"));
  }

  // Cells that show which keys a row sees switch one bit of a text control.
  toggleBit(matrix, cell) {
    const toggle = JSON.parse(matrix.table.dataset.toggle);
    const [row, column] = matrix.index(cell);
    const whole = String(this.values[toggle.by_column[0]]) === toggle.by_column[1];
    const state = this.arrays.get(matrix.array);
    const bits = Array.from({length: matrix.columns}, (_, j) =>
      whole ? (this.values[toggle.bits][j] ?? "1") : String(state.data[row * matrix.columns + j]));
    bits[column] = bits[column] === "1" ? "0" : "1";
    // The cells follow at once; where nothing is left to see, no numbers come to do it.
    const data = state.data.map((bit, k) => (k % matrix.columns === column && (whole || k === row * matrix.columns + column) ? +bits[column] : bit));
    this.arrays.set(matrix.array, {...state, data});
    matrix.show();
    this.set({...(whole ? {} : {[toggle.sets[0]]: toggle.sets[1], [toggle.row]: row}), [toggle.bits]: bits.join("")});
    this.commit();
    return true;
  }

  // Takes new values (names and types are legal by now), shows them at once and asks for their numbers.
  set(values) {
    this.catchUp();
    let changed = false;
    for (const [name, value] of Object.entries(values)) {
      if (value === undefined || this.values[name] === value) continue;
      this.values = {...this.values, [name]: value};
      this.echo(name);
      changed = true;
    }
    if (changed) this.step();
    return changed;
  }

  // A slider's new value. Its thumb moves together with the numbers: on its own it would take a frame that they then miss.
  // Where they are long in coming it goes ahead.
  slide(name, value) {
    if (this.values[name] === value) return false;
    this.values = {...this.values, [name]: value};
    this.late.add(name);
    this.step();
    this.ahead ??= setTimeout(() => this.catchUp(), LATE);
    return true;
  }

  // A slider was let go: once its thumb stands there the change is done.
  rest(name) {
    this.late.size ? this.rested.push(name) : this.commit(name);
  }

  // Thumbs move to where they should be. What is done with them, address and history, need not be in the same breath.
  catchUp(later = false) {
    clearTimeout(this.ahead);
    this.ahead = null;
    const {late} = this;
    this.late = new Set();
    for (const name of late) this.echo(name);
    if (later) {
      if (this.rested.length) setTimeout(() => this.catchUp());
      return;
    }
    const {rested} = this;
    this.rested = [];
    for (const name of rested) this.commit(name);
  }

  // Shows a control's value in its own inputs, without waiting for the server.
  echo(name) {
    const value = this.values[name];
    const control = this.config.controls[name];
    for (const input of this.inputs.get(name) ?? []) {
      if (input.type === "checkbox") input.checked = value === 1;
      else if (input.type === "radio") input.checked = input.value === String(value);
      else if (input.type === "range") {
        if (Number(input.value) !== value) input.value = value;
        input.style.setProperty("--fill", (value - control.low) / (control.high - control.low));
        input.setAttribute("aria-valuetext", this.written(value, control));
      } else if (input !== document.activeElement || control.kind === "text") {
        input.value = control.kind === "text" ? value : writeNumber(value, this.form, this.language);
      }
    }
    const holder = this.root.querySelector(`.control[data-for="${name}"]`);
    this.markMoved(name);
    const entry = holder?.querySelector(`[data-entry="${name}"]`);
    if (entry) entry.value = this.written(value, control);
    for (const part of this.root.querySelectorAll(`[data-when="${name}"]`)) {
      const hidden = !part.dataset.is.split(" ").includes(String(value));
      if (part.hidden !== hidden) {
        part.hidden = hidden;
        for (const picture of this.pictures) if (part.contains(picture.element)) picture.show();
      }
    }
  }

  // Controls and entries away from the textbook value say so, and offer the way back.
  markMoved(name) {
    const moved = this.values[name] !== this.config.controls[name].default;
    this.root.querySelector(`.control[data-for="${name}"]`)?.classList.toggle("moved", moved);
    for (const input of this.inputs.get(name) ?? []) {
      const cell = input.closest("td");
      if (!cell) continue;
      cell.classList.toggle("moved", moved);
      const figure = cell.closest("figure");
      figure.classList.toggle("moved", figure.querySelector("td.moved") !== null);
    }
  }

  written(value, control) {
    if (control.kind === "whole") return writeNumber(value, "0", this.language);
    const decimals = String(control.step).split(".")[1]?.length ?? 0;
    const exact = Number(value.toFixed(decimals)) === value;
    const form = Number.isInteger(control.step) ? "0" : String(Math.max(2, decimals));
    return writeNumber(value, exact ? form : "4g", this.language);
  }

  // A change is done (slider let go): the page may write it into the address. `name` is the control it was made with.
  commit(name = null) {
    this.dispatchEvent(new CustomEvent("commit", {detail: name}));
  }

  reset() {
    this.set(Object.fromEntries(Object.entries(this.config.controls).map(([name, c]) => [name, c.default])));
    this.commit();
  }

  // Values as text (from an address or a link): names and ranges are checked here, the rest by the server.
  parse(settings) {
    const values = {};
    for (const [name, text] of settings) {
      const control = this.config.controls[name];
      if (!control) continue;
      if (control.kind === "choice") values[name] = control.choices.find((choice) => String(choice) === text);
      else if (control.kind === "text") values[name] = new RegExp(`^(?:${control.pattern})$`).test(text) ? text : undefined;
      else {
        const value = Number(text);
        if (Number.isFinite(value) && value >= control.low && value <= control.high) values[name] = value;
      }
    }
    return values;
  }

  // Controls that are not at their defaults, as they stand in an address.
  settings() {
    return Object.entries(this.config.controls)
      .filter(([name, control]) => this.values[name] !== control.default)
      .map(([name]) => [name, String(this.values[name])]);
  }

  focusControl(name) {
    const control = (this.inputs.get(name) ?? [])[0];
    if (!control) return;
    this.moves.show(control);
    control.focus({preventScroll: true});
  }

  // Steps

  refused(head) {
    this.catchUp();
    const text = head.undefined ? (this.labels.undefined?.[head.undefined] ?? head.undefined) : this.words.refused.replace("{reason}", head.error);
    if (this.notice.textContent !== text) this.notice.textContent = text;
    this.notice.hidden = false;
    this.root.classList.add("no-numbers");
    for (const {output} of this.outputs) output.textContent = "–";
  }

  unpack(head, body) {
    const there = super.unpack(head, body);
    if (there && !this.notice.hidden) {
      this.notice.hidden = true;
      this.root.classList.remove("no-numbers");
    }
    return there;
  }

  show() {
    const folded = (matrix) => matrix.table.closest("details.group:not([open]), [data-off-stage]");
    for (const matrix of this.matrices) if (!folded(matrix)) matrix.show();
    clearTimeout(this.unhurried); // tables that are folded away follow when the drag rests
    this.unhurried = setTimeout(() => this.matrices.filter(folded).forEach((matrix) => matrix.show()), 80);
    this.showPictures();
    for (const one of this.outputs) {
      const value = this.quote(one.name);
      const text = value === undefined ? "–" : writeNumber(value, one.output.dataset.format ?? this.form, this.language);
      if (text !== one.output.textContent) one.output.textContent = text;
    }
    super.show();
    this.catchUp(true);
    this.readout.refresh();
  }

  // Pictures follow once the numbers are painted, one a frame: drawing them takes longer than a frame has.
  async showPictures() {
    this.redraw = true;
    if (this.drawing || !this.pictures.length) return;
    this.drawing = true;
    while (this.redraw) {
      this.redraw = false;
      for (const picture of this.pictures) {
        if (!picture.visible()) continue;
        await new Promise((painted) => requestAnimationFrame(() => setTimeout(painted)));
        picture.show();
      }
    }
    this.drawing = false;
  }

  // A number that says where to look: a control or an array of one element.
  place(name) {
    return name in this.values ? +this.values[name] : this.arrays.get(name)?.data[0];
  }

  // A fact, an array that is one number, or an element such as weights[0,2].
  quote(name) {
    const element = /^(\w+)\[([\d,\s]+)\]$/.exec(name);
    if (!element) return this.facts[name] ?? this.arrays.get(name)?.data[0];
    const state = this.arrays.get(element[1]);
    const index = element[2].split(",").map(Number);
    if (!state || index.length !== state.shape.length || index.some((i, axis) => i >= state.shape[axis])) return undefined;
    return state.data[index.reduce((at, i, axis) => at * state.shape[axis] + i, 0)];
  }

  // Tables of the same rows side by side: the words of the rows stand at the left of each line only.
  alignRows() {
    const align = (row, again) => {
      const views = [...row.children];
      const leads = (view) => view.offsetLeft <= views[0].offsetLeft + 2;
      if (!again && views.every((view) => leads(view) === view.classList.contains("leads"))) return;
      for (const view of views) view.classList.remove("leads");
      for (const view of views) if (leads(view)) view.classList.add("leads");
    };
    const watch = new ResizeObserver((entries) => {
      const rows = new Map();
      for (const {target} of entries) {
        const row = target.closest(".aligned");
        rows.set(row, rows.get(row) || target === row); // another width of the row itself may need fewer lines
      }
      for (const [row, again] of rows) align(row, again);
    });
    for (const row of this.root.querySelectorAll(".aligned")) {
      watch.observe(row);
      for (const body of row.querySelectorAll("tbody")) watch.observe(body);
    }
    for (const group of this.root.querySelectorAll("details.group")) {
      group.addEventListener("toggle", () => {
        for (const matrix of this.matrices) if (group.contains(matrix.table)) matrix.show();
        for (const picture of this.pictures) if (group.contains(picture.element)) picture.show();
      });
    }
  }

  // Status

  heard(status) {
    if (status === "open") this.step();
    else this.say("offline");
  }

  say(status) {
    if (this.status === status || (status === "busy" && this.status !== "ready")) return;
    this.status = status;
    document.documentElement.dataset.lab = status;
    if (status === "ready") this.dispatchEvent(new Event("live"));
    const text = status === "offline" ? this.words.offline : "";
    const element = this.root.querySelector(".status");
    if (element.textContent !== text) element.textContent = text;
  }

  async drawPictures() {
    try {
      const Bokeh = await loadBokeh(this.config.bokeh);
      for (const picture of this.pictures) await picture.draw(Bokeh, await PARTS[picture.feed.kind]?.());
    } catch (error) {
      setTimeout(() => this.drawPictures(), 3000); // offline: the tables still work
      if (!/did not load/.test(error.message)) console.error(error);
    }
  }

  paint() {
    for (const picture of this.pictures) picture.paint();
  }

  // Tools under the lab

  addTools() {
    const tools = this.root.querySelector(".tools");
    const {words} = this;
    const precision = document.createElement("label");
    precision.className = "precision";
    const select = document.createElement("select");
    for (const form of PRECISIONS) {
      const text = form === "full" ? words.full : words.decimals.replace("{n}", form);
      select.append(new Option(text, form, false, form === this.form));
    }
    select.addEventListener("change", () => {
      this.root.dataset.digits = this.form = select.value;
      keep("precision", this.form);
      this.show();
      this.readout.draw();
    });
    precision.append(Object.assign(document.createElement("span"), {className: "aside", textContent: words.precision}), select);
    const button = (text, act) => {
      const made = Object.assign(document.createElement("button"), {type: "button", textContent: text});
      made.addEventListener("click", () => act(made));
      return made;
    };
    tools.prepend(
      precision,
      button(words.reset, () => this.reset()),
      button(words.copy_link, (b) => this.copy(location.href, b)),
      ...["numpy", "torch"].filter((kind) => this.config.code[kind]).map((kind) =>
        button(words[`copy_${kind}`], (b) => this.copy(this.code(kind), b))),
    );
  }

  // This very state as a program that prints the same numbers.
  code(kind) {
    return this.config.code[kind].replace(/\{\{(\w+)\}\}/g, (whole, name) => {
      const value = this.values[name];
      if (value === undefined) return whole;
      return this.config.controls[name].kind === "number" && Number.isInteger(value) ? `${value}.0` : String(value);
    });
  }

  async copy(text, button) {
    const before = button.dataset.text ?? button.textContent;
    button.dataset.text = before;
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = this.words.copied;
    } catch {
      // Clipboards need https; elsewhere the text is put where it can be copied by hand.
      window.prompt(this.words.copy_failed, text);
    }
    setTimeout(() => (button.textContent = before), 1500);
  }
}
