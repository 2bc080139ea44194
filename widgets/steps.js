// Steps that the reader takes: each sets controls to what the last answer holds for them. The history is kept here, with a way back.

import {writeNumber} from "./format.js";
import {svg} from "./svg.js";

const MANY = 10; // steps of the second button
const PAST = 2; // curves that were taken back stay, faintly, to compare with

export class Steps {
  constructor(figure, lab) {
    Object.assign(this, {figure, lab, settings: JSON.parse(figure.dataset.steps), history: [], gestures: [], past: [], running: null});
    this.plot = figure.querySelector(".plot");
    this.buttons = Object.fromEntries([...figure.querySelectorAll("[data-act]")].map((button) => [button.dataset.act, button]));
    this.buttons.step.addEventListener("click", () => this.take(1));
    this.buttons.ten.addEventListener("click", () => this.take(MANY));
    this.buttons.undo.addEventListener("click", () => this.undo());
    figure.csv = () => this.csv();
    this.twin = figure.querySelector(".twin");
    this.twin.addEventListener("toggle", () => this.writeTable());
    new ResizeObserver(() => this.draw()).observe(this.plot);
    lab.addEventListener("numbers", () => this.heard());
    if (lab.arrays.size) this.heard();
  }

  get number() {
    return this.lab.quote(this.settings.number);
  }

  // The values of the controls that a step sets.
  place() {
    return Object.fromEntries(this.settings.sets.map((name) => [name, this.lab.values[name]]));
  }

  // What the history belongs to: all other controls, but those that may change on the way.
  ground() {
    const own = [...this.settings.sets, ...this.settings.keep];
    return JSON.stringify(Object.entries(this.lab.values).filter(([name]) => !own.includes(name)));
  }

  // Called after every answer. Numbers of the newest controls are recorded, or begin a new history.
  heard() {
    if (this.lab.wanted) return; // a newer state is on its way
    const here = JSON.stringify(this.place());
    const grounded = this.ground() === this.on;
    if (grounded && this.awaited?.here === here) {
      this.history.push({place: this.place(), number: this.number});
      const {done} = this.awaited;
      this.awaited = null;
      done(true);
    } else {
      this.awaited?.done(false); // the reader moved something in between
      this.awaited = null;
      if (!grounded || here !== JSON.stringify(this.history.at(-1)?.place)) {
        this.on = this.ground();
        this.history = [{place: this.place(), number: this.number}];
        this.gestures = [];
        this.past = [];
      }
      if (!this.running) this.say("");
    }
    this.show();
  }

  // Takes `count` steps, one answer after the other; all of them are one gesture to undo.
  async take(count) {
    if (this.running || !this.history.length) return;
    const run = (this.running = {});
    const before = this.history.length;
    this.say("");
    for (let k = 0; k < count; k++) {
      const next = this.next();
      if (!next) break;
      const settled = new Promise((done) => (this.awaited = {here: JSON.stringify(next), done}));
      this.lab.set(next);
      if (!(await settled) || this.running !== run) break;
    }
    this.running = null;
    if (this.history.length > before) this.gestures.push(before);
    this.lab.commit();
    this.show();
  }

  // Where the next step leads; null, and the reason said, where there is none.
  next() {
    const {sets, to} = this.settings;
    const {words, labels, config} = this.lab;
    const data = this.lab.arrays.get(to).data;
    const next = Object.fromEntries(sets.map((name, k) => [name, data[k] + 0])); // one zero, as the server has it
    const outside = sets.find((name) => !(next[name] >= config.controls[name].low && next[name] <= config.controls[name].high));
    if (outside) this.say(words.step_outside.replace("{name}", labels.controls?.[outside] ?? outside).replace("{value}", this.write(next[outside])));
    else if (sets.every((name) => next[name] === this.lab.values[name])) this.say(words.step_nowhere);
    else return next;
    return null;
  }

  undo() {
    if (this.running || !this.gestures.length) return;
    const start = this.gestures.pop();
    this.past = [...this.past, this.history.map(({number}, k) => (k < start - 1 ? null : number))].slice(-PAST);
    this.history = this.history.slice(0, start);
    this.lab.set(this.history.at(-1).place);
    this.lab.commit();
    this.say("");
    this.show();
  }

  say(text) {
    const said = this.figure.querySelector(".said");
    if (said.textContent !== text) said.textContent = text;
  }

  write(value, form = "4g") {
    return writeNumber(value, form, this.lab.language);
  }

  show() {
    const {words} = this.lab;
    const [now, after] = [this.number, this.lab.quote(this.settings.after)];
    const judged = this.figure.querySelector(".judged");
    const word = after < now ? "less" : after > now ? "more" : "same";
    judged.textContent = words[`step_${word}`];
    judged.dataset.judged = word;
    this.buttons.step.disabled = this.buttons.ten.disabled = false;
    this.buttons.undo.disabled = !this.gestures.length;
    // Curve and table follow once the numbers are painted; those of a history that only begins, when the drag rests.
    clearTimeout(this.drawing);
    if (this.history.length > 1) requestAnimationFrame(() => setTimeout(() => this.follow()));
    else this.drawing = setTimeout(() => this.follow(), 80);
  }

  follow() {
    const now = JSON.stringify([this.history, this.past.length]);
    if (now === this.drawn) return;
    this.drawn = now;
    this.draw();
    this.writeTable();
  }

  draw() {
    const width = this.plot.clientWidth;
    if (!width || !this.history.length) return;
    const size = parseFloat(getComputedStyle(this.figure).fontSize) * 0.86;
    const height = Math.round(size * 9.5);
    const numbers = this.history.map(({number}) => number);
    const longest = Math.max(MANY, ...[numbers, ...this.past].map((list) => list.length - 1));
    const highest = Math.max(...[numbers, ...this.past].flat(), 1e-12);
    const power = 10 ** Math.floor(Math.log10(highest));
    const top = [1, 2, 5, 10].map((step) => step * power).find((step) => step >= highest * 0.9999);
    const label = this.write(top, "1g");
    const [left, right, up, down] = [size * (0.9 + 0.6 * label.length), width - size * 0.7, size * 0.8, height - size * 1.9];
    const x = (k) => left + ((right - left) * k) / longest;
    const y = (v) => down - ((down - up) * v) / top;
    const made = [];
    for (const v of [0, top / 2, top]) {
      made.push(svg("path", {class: "grid", d: `M${left} ${y(v)}H${right}`}));
      if (v !== top / 2) {
        made.push(svg("text", {x: left - size * 0.4, y: y(v), class: "tick", "font-size": size, "text-anchor": "end", "dominant-baseline": "central"}, v ? label : "0"));
      }
    }
    const stride = [1, 2, 5, 10, 20, 50, 100].find((s) => ((right - left) * s) / longest > size * 1.8) ?? 200;
    for (let k = 0; k <= longest; k += stride) {
      made.push(svg("text", {x: x(k), y: down + size * 1.3, class: "tick", "font-size": size, "text-anchor": "middle"}, this.write(k, "0")));
    }
    const way = (list) => list.map((v, k) => (v === null ? "" : `${k && list[k - 1] !== null ? "L" : "M"}${x(k).toFixed(1)} ${y(v).toFixed(1)}`)).join("");
    for (const list of this.past) made.push(svg("path", {class: "curve v1 faint", d: way(list), "stroke-dasharray": "5 4"}));
    made.push(svg("path", {class: "curve v0", d: way(numbers)}));
    numbers.forEach((v, k) => made.push(svg("circle", {class: k === numbers.length - 1 ? "here" : "been", cx: x(k), cy: y(v), r: size * (k === numbers.length - 1 ? 0.4 : 0.22)})));
    const picture = svg("svg", {viewBox: `0 0 ${width} ${height}`, width, height, "aria-hidden": "true"});
    picture.append(...made);
    this.plot.replaceChildren(picture);
  }

  csv() {
    const rows = this.history.map(({place, number}, k) => [k, number, ...Object.values(place)]);
    return [["step", this.settings.number, ...this.settings.sets], ...rows].map((row) => row.join(",")).join("\n") + "\n";
  }

  // The history as a table: the number and where the controls stood, before each step.
  writeTable() {
    if (!this.twin.open) return;
    const {labels} = this.lab;
    const table = this.figure.querySelector(".history");
    const header = (row, text, scope) => row.append(Object.assign(document.createElement("th"), {textContent: text, scope}));
    table.replaceChildren();
    const head = table.createTHead().insertRow();
    for (const text of [this.lab.words.steps, labels.arrays?.[this.settings.number], ...this.settings.sets.map((name) => labels.controls?.[name] ?? name)]) header(head, text, "col");
    const body = table.createTBody();
    this.history.forEach(({place, number}, k) => {
      const row = body.insertRow();
      header(row, this.write(k, "0"), "row");
      for (const value of [number, ...Object.values(place)]) row.insertCell().textContent = this.write(value);
    });
  }
}
