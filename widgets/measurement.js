// A measurement that the server makes once for all: starts it, tells how far it is, and feeds its picture and table.

import {writeNumber} from "./format.js";

const OFTEN = 700; // ms between two questions while it is made

export class Measurement {
  constructor(root, lab) {
    Object.assign(this, {root, lab, ...JSON.parse(root.dataset.measurement)});
    this.find = (selector) => root.querySelector(selector);
    this.times = Object.fromEntries(this.kinds.map((kind) => [kind, []]));
    this.wish = false; // whether the reader pressed the button and the server does not know yet
    this.lost = true; // whether an answer is still owed
    this.picture = lab.pictures.find((picture) => root.contains(picture.element));
    this.picture.part = this;
    this.button = this.find(".start");
    this.button.addEventListener("click", () => {
      this.wish = true;
      this.ask();
    });
    lab.addEventListener("live", () => this.lost && this.ask());
    document.addEventListener("visibilitychange", () => this.state === "running" && this.ask());
    if (lab.link.open) this.ask();
  }

  number(value, form = "0") {
    return writeNumber(value, form, this.lab.language);
  }

  word(key, given) {
    return this.words[key].replace(/\{(\w+)\}/g, (_, name) => given[name]);
  }

  async ask() {
    try {
      this.lost = false;
      const {head} = await this.lab.ask({kind: "measure", start: this.wish});
      this.wish = false;
      this.take(head);
    } catch {
      this.lost = true; // the line broke; the lab opens it again and is then "live"
    }
    clearTimeout(this.timer);
    if (this.state === "running" && !this.lost && !document.hidden) this.timer = setTimeout(() => this.ask(), OFTEN);
  }

  take(head) {
    if (head.error) return this.tell(this.word("not_measured", {reason: head.error}));
    const {state, done, total} = head;
    this.state = state;
    this.root.dataset.state = state;
    this.times = head.milliseconds;
    const progress = this.find("progress");
    const running = state === "running";
    Object.assign(progress, {max: total, value: done, hidden: !running});
    const far = {done: this.number(done), all: this.number(total)};
    this.find(".count").textContent = running ? this.word("measure_done", far) : "";
    this.button.setAttribute("aria-disabled", running);
    if (state === "finished" && document.activeElement === this.button) this.find("summary").focus();
    this.button.hidden = state === "finished";
    if (state === "finished") this.tell(this.word("measured_on", this.made(head)));
    else this.tell(state === "failed" ? this.word("not_measured", {reason: head.message}) : "");
    this.fill();
    this.picture.show();
  }

  // What it was measured with, as the words want it.
  made({made, width, taps}) {
    const locale = this.lab.language === "en" ? "en-GB" : this.lab.language;
    const day = new Date(`${made.date}T12:00`).toLocaleDateString(locale, {dateStyle: "long"});
    const library = made.torch ? `PyTorch ${made.torch}` : `NumPy ${made.numpy}`;
    return {...made, date: day, library, width: this.number(width), taps: this.number(taps)};
  }

  tell(text) {
    const line = this.find(".outcome");
    if (line.textContent !== text) line.textContent = text;
  }

  // The table: the median, and from the smallest to the 90th percentile below it.
  fill() {
    for (const cell of this.root.querySelectorAll("td[data-kind]")) {
      const length = +cell.parentElement.dataset.length;
      const row = this.times[cell.dataset.kind].find(([at]) => at === length);
      if (!row) {
        cell.textContent = "–";
        continue;
      }
      const [low, median, high] = row.slice(1).map((value) => this.number(value, "3g"));
      const range = Object.assign(document.createElement("small"), {textContent: `${low} – ${high}`});
      cell.dataset.median = row[2];
      cell.replaceChildren(median, " ", range);
    }
  }

  // A part of the picture: it is fed here, its colours are those of any series.

  show() {
    if (!this.picture.view) return;
    const all = [...this.picture.feed.known];
    this.kinds.forEach((kind, k) => {
      const [x, low, median, high] = [0, 1, 2, 3].map((column) => this.times[kind].map((row) => row[column]));
      all.push(...low, ...high);
      this.picture.find(`measured${k}`).setv({data: {x, low, median, high}}, {sync: false});
    });
    if (all.length === this.picture.feed.known.length) return;
    const [bottom, top] = [Math.min(...all), Math.max(...all)].map(Math.log10);
    this.picture.model.y_range.setv({start: 10 ** Math.floor(bottom - 0.1), end: 10 ** Math.ceil(top + 0.1)});
  }

  paint() {
    this.show();
  }

  // These numbers are measured: there is no arithmetic to tell.
  elementAt() {
    return null;
  }

  csv() {
    const head = "layer,T,smallest_ms,median_ms,percentile_90_ms";
    const rows = this.kinds.flatMap((kind) => this.times[kind].map((row) => [kind, ...row].join(",")));
    return [head, ...rows].join("\n") + "\n";
  }
}
