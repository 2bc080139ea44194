// A panel of jobs that run on the server: starts, watches, pauses and cancels them, and draws their curves as they grow.
//
// The server is asked for news over the lab's line; a reader's jobs are kept in this browser, so that a reload finds them.

import {writeNumber} from "./format.js";
import {download, png} from "./save.js";
import {svg, svgText} from "./svg.js";

const DASHES = ["", "8 4", "10 3 2 3", "2 3", "14 3"];
const LETTERS = "ABCDEFGH"; // as many jobs stand in the list
const OFTEN = 400; // ms between two questions while something runs
const SELDOM = 2500; // while something waits
const ALIVE = ["queued", "running"];

const make = (name, className, textContent = "") => Object.assign(document.createElement(name), {className, textContent});

// What this browser remembers; without storage, as long as the page.
const memory = {
  read(key) {
    try {
      return JSON.parse(localStorage.getItem(key));
    } catch {
      return null;
    }
  },
  write(key, value) {
    try {
      localStorage.setItem(key, JSON.stringify(value));
    } catch {}
  },
};

function readerId() {
  let id = memory.read("reader");
  if (typeof id !== "string" || !/^[A-Za-z0-9-]{8,64}$/.test(id)) {
    id = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    memory.write("reader", id);
  }
  return id;
}

// How a curve of variant `k` is drawn, and the letter in a circle at its end.
const line = (k, faint) => ({class: `curve v${k}${faint ? " faint" : ""}`, "stroke-dasharray": DASHES[k] ?? ""});
const marked = (letter, k, x, y, size) => [
  svg("circle", {class: `end v${k}`, cx: x, cy: y, r: size * 0.62}),
  svg("text", {x, y, class: "letter", "text-anchor": "middle", "dominant-baseline": "central", "font-size": size * 0.86}, letter),
];

export class Training {
  constructor(root, lab) {
    Object.assign(this, {root, lab, settings: JSON.parse(root.dataset.training), reader: readerId()});
    this.words = lab.labels.words ?? {};
    this.key = `training/${lab.page}`;
    this.find = (selector) => root.querySelector(selector);
    this.rows = new Map();
    // A job: {values, letter, table, state, runs: {key: snapshot}}; `state` is what this reader wants or knows of it.
    this.jobs = (memory.read(this.key) ?? []).filter((job) => job?.values && (job.letter || job.table));
    for (const job of this.jobs.filter((job) => job.table)) {
      Object.assign(job, {runs: {}, state: job.state === "cancelled" ? job.state : "waiting"});
    }
    this.charts = [...root.querySelectorAll(".chart")].map((element) => new Chart(element, this));
    this.which = this.find(".which");
    this.which?.addEventListener("change", () => this.draw());
    for (const button of root.querySelectorAll("[data-act]")) {
      button.addEventListener("click", () => this.press(button.dataset.act));
    }
    this.live = this.find(".live");
    this.live.addEventListener("toggle", () => this.writeNumbers());
    lab.addEventListener("numbers", () => this.heard());
    lab.addEventListener("live", () => this.ask());
    document.addEventListener("visibilitychange", () => document.hidden || this.ask());
    document.documentElement.addEventListener("look", () => this.draw());
    this.heard();
    this.show();
    if (lab.link.open) this.ask();
  }

  // Words

  word(key, given = {}) {
    return (this.words[key] ?? key).replace(/\{(\w+)\}/g, (whole, name) => given[name] ?? whole);
  }

  number(value, form = "0") {
    return writeNumber(value, form, this.lab.language);
  }

  facts() {
    return Object.fromEntries(Object.entries(this.lab.facts).map(([name, value]) => [name, this.number(value)]));
  }

  option(name, value) {
    const control = this.lab.config.controls[name];
    return String(this.lab.labels.options?.[name]?.[control.choices.indexOf(value)] ?? value);
  }

  // What a job is called: its variant, and each control that makes it what it is.
  name(job) {
    const {variant, about, defines, shared} = this.settings;
    const moved = (name) => job.values[name] !== this.lab.config.controls[name].default;
    const tells = (name) => (job.table ? shared.includes(name) && moved(name) : about.includes(name) || moved(name));
    const told = defines.filter((name) => name !== variant && tells(name));
    const label = (name) => this.lab.labels.controls?.[name] ?? name;
    const form = (name) => (this.lab.config.controls[name].kind === "choice" ? "full" : "0");
    const parts = told.map((name) => `${label(name)} ${this.number(job.values[name], form(name))}`);
    return [job.table ? this.word("table_job") : this.option(variant, job.values[variant]), ...parts].join(" · ");
  }

  // Short: a run's letter.
  called(job) {
    return job.letter ?? this.name(job);
  }

  // The one run of a job that is not a table.
  run(job) {
    return job.table ? null : (Object.values(job.runs)[0] ?? null);
  }

  said(job) {
    const run = this.run(job);
    const {state} = job;
    if (job.table) {
      const runs = Object.values(job.runs);
      const given = {done: this.number(runs.filter((r) => r.state === "finished").length), all: this.number(runs.length)};
      const counts = ["running", "finished"].includes(state) && runs.length;
      return this.word(counts ? "table_state" : `state_${state}`, given);
    }
    const given = {
      epoch: this.number(run?.epoch ?? 0), epochs: this.number(run?.epochs ?? 0), place: this.number(run?.position ?? 0),
      result: run?.test ? this.number(run.test[this.settings.result], "3") : "–",
    };
    const parts = [this.word(`state_${state === "queued" && !run?.position ? "starting" : state}`, given)];
    if (ALIVE.includes(state) && Number.isFinite(run?.eta)) {
      parts.push(this.word("eta", {seconds: this.number(Math.ceil(run.eta))}));
    }
    if (ALIVE.includes(state) && run?.watchers > 1) parts.push(this.word("watchers", {n: this.number(run.watchers)}));
    if (run?.message && state !== "queued") parts.push(run.message);
    return parts.join(" · ");
  }

  // Said to those who listen; `shown` to all, where the list does not say it.
  announce(text, shown = false) {
    const line = this.find(".said");
    line.textContent = text;
    line.classList.toggle("aside", !shown);
  }

  // What the reader asks for

  press(act) {
    const values = this.lab.values;
    const {variant} = this.settings;
    const variants = act === "train_all" ? this.lab.config.controls[variant].choices : [values[variant]];
    const asked = act === "train_table" ? [this.job(values, true)] : variants.map((v) => this.job({...values, [variant]: v}));
    for (const job of asked) this.begin(job);
    this.ask();
  }

  same(left, right, names) {
    return names.every((name) => left[name] === right[name]);
  }

  // The job with these values: one that stands in the list, or a new one.
  job(values, table = false) {
    const names = table ? this.settings.shared : this.settings.defines;
    const known = this.jobs.find((job) => Boolean(job.table) === table && this.same(job.values, values, names));
    if (known) return known;
    if (this.jobs.length >= LETTERS.length) {
      const old = this.jobs.find((job) => !this.pending(job)) ?? this.jobs[0];
      this.forget(old);
    }
    const letter = table ? null : [...LETTERS].find((l) => !this.jobs.some((job) => job.letter === l));
    const job = {values, letter, table, state: "waiting", runs: {}};
    this.jobs.push(job);
    return job;
  }

  pending(job) {
    return job.state === "waiting" || ALIVE.includes(job.state);
  }

  begin(job) {
    if (ALIVE.includes(job.state) && Object.keys(job.runs).length) return;
    job.again = job.state === "finished";
    job.state = "waiting";
    this.find(".unavailable").hidden = true;
    this.show();
  }

  // Pause and cancel end this reader's wish; the run itself goes on while others watch it.
  async leave(job, kind) {
    const before = job.state;
    job.state = kind === "pause" ? "paused" : "cancelled";
    this.announce(`${this.called(job)}: ${this.said(job)}`);
    this.show();
    if (before === "waiting") return;
    const [run] = Object.keys(job.runs); // of a table, any
    try {
      const {head} = run ? await this.lab.ask({kind, reader: this.reader, run, table: Boolean(job.table)}) : {head: {}};
      for (const snapshot of head.runs ?? [head]) if (snapshot.curves) job.runs[snapshot.run] = snapshot;
    } catch {} // the line broke: the server forgets a reader who no longer asks
    this.show();
    this.ask();
  }

  forget(job) {
    if (ALIVE.includes(job.state)) this.leave(job, "cancel");
    this.jobs = this.jobs.filter((other) => other !== job);
    this.rows.get(job)?.row.remove();
    this.rows.delete(job);
  }

  // Sets the lab to a job, so that its numbers are those of this run.
  showInLab(job) {
    this.lab.set(Object.fromEntries(this.settings.defines.map((name) => [name, job.values[name]])));
    this.lab.commit();
  }

  // News from the server: one question at a time, the next one soon while something runs.

  async ask() {
    clearTimeout(this.timer);
    if (this.asking) {
      this.more = true;
      return;
    }
    this.asking = true;
    try {
      await this.send();
      await this.watch();
    } catch {
      // The line broke; the lab opens it again and is then "live".
    }
    this.asking = false;
    if (this.more) {
      this.more = false;
      this.ask();
      return;
    }
    const pending = this.jobs.filter((job) => this.pending(job));
    if (!pending.length || document.hidden) return;
    this.timer = setTimeout(() => this.ask(), pending.some((job) => ALIVE.includes(job.state)) ? OFTEN : SELDOM);
  }

  // Sends the jobs that wait, one after the other: the next one when the last has ended. What is done already comes at once.
  async send() {
    for (const job of this.jobs) {
      if (job.state !== "waiting") continue;
      const busy = this.jobs.some((other) => !other.table && ALIVE.includes(other.state));
      if (busy && !job.table) continue;
      const {head} = await this.lab.ask({kind: "train", reader: this.reader, values: job.values, table: Boolean(job.table)});
      if (job.state !== "waiting") continue; // cancelled meanwhile
      if (head.refused === "busy") return;
      if (head.refused || head.error) {
        this.refuse(job, head);
        continue;
      }
      const again = job.again;
      job.again = false;
      job.state = "queued";
      if (!job.table) job.runs = {};
      this.take(job, head.runs ?? [head]);
      if (again && job.state === "finished") this.replay(job);
    }
  }

  refuse(job, head) {
    job.state = "refused";
    const text = this.word(head.refused === "full" ? "full" : "unavailable", {reason: head.reason ?? head.error});
    const line = this.find(".unavailable");
    line.textContent = text;
    line.hidden = false;
    this.announce(text);
    this.show();
  }

  async watch() {
    const seen = {};
    for (const job of this.jobs) {
      if (!ALIVE.includes(job.state)) continue;
      for (const run of Object.values(job.runs)) if (ALIVE.includes(run.state)) seen[run.run] = run.version ?? 0;
      if (!Object.keys(job.runs).length) job.state = "waiting"; // a table after a reload
    }
    if (!Object.keys(seen).length) return;
    const {head} = await this.lab.ask({kind: "watch", reader: this.reader, runs: seen});
    for (const job of this.jobs) {
      const news = (head.runs ?? []).filter((snapshot) => snapshot.run in job.runs);
      if (news.length && ALIVE.includes(job.state)) this.take(job, news);
    }
  }

  // A run that the server does not know (it was restarted) is asked for again: the same values name the same run.
  take(job, snapshots) {
    const before = job.state;
    for (const snapshot of snapshots) if (snapshot.curves) job.runs[snapshot.run] = snapshot;
    const states = Object.values(job.runs).map((run) => run.state);
    if (snapshots.some(({state}) => state === "unknown")) job.state = "waiting";
    else job.state = states.find((state) => ALIVE.includes(state)) ?? states.find((state) => state !== "finished") ?? "finished";
    if (job.table && job.state === "queued") job.state = "running";
    if (job.state !== before) {
      this.announce(`${[job.letter, this.name(job)].filter(Boolean).join(": ")}: ${this.said(job)}`);
      if (job.state === "finished") this.lab.step(); // the page's numbers may now come from this run
    }
    this.show();
  }

  // The same seed gives the same run: its curves are drawn once more, as they grew.
  replay(job) {
    this.announce(`${this.called(job)}: ${this.word("same_again")}`, true);
    const run = this.run(job);
    if (!run || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    const start = performance.now();
    const grow = (now) => {
      job.drawn = Math.max(1, Math.ceil(((now - start) / 1200) * run.epochs));
      if (job.drawn < run.epochs) requestAnimationFrame(grow);
      else delete job.drawn;
      this.draw();
    };
    requestAnimationFrame(grow);
  }

  // Showing

  heard() {
    const line = this.find(".not-own");
    const {own, not_own, compare, variant} = this.settings;
    const has = own in this.lab.facts;
    line.hidden = !has || this.lab.facts[own] !== 0;
    if (!line.hidden) line.textContent = this.word(not_own, this.facts());
    if (has) {
      const legend = this.find(".compare");
      legend.replaceChildren(make("span", "", this.word(compare, this.facts())));
      this.lab.config.controls[variant].choices.forEach((choice, k) => {
        const key = make("span", "key");
        key.append(this.swatch(k, null), this.option(variant, choice));
        legend.append(key);
      });
    }
    this.draw();
  }

  show() {
    memory.write(this.key, this.jobs.map((job) => ({...job, drawn: undefined, runs: job.table ? {} : job.runs})));
    for (const job of this.jobs) {
      if (!this.rows.has(job)) this.addRow(job);
      const {row, parts, buttons} = this.rows.get(job);
      const run = this.run(job);
      const write = (part, text) => parts[part].textContent === text || (parts[part].textContent = text);
      row.dataset.state = job.state;
      row.dataset.epoch = run?.epoch ?? 0;
      write("name", this.name(job));
      write("said", this.said(job));
      parts.bar.hidden = !ALIVE.includes(job.state) || job.table;
      if (run) Object.assign(parts.bar, {max: run.epochs, value: run.epoch});
      const shown = {
        pause: !job.table && ALIVE.includes(job.state), resume: job.state === "paused",
        cancel: this.pending(job) || job.state === "paused",
        again: ["finished", "cancelled", "failed", "refused"].includes(job.state),
        show: !job.table && job.state === "finished",
        forget: !this.pending(job) && job.state !== "paused",
      };
      for (const [name, button] of Object.entries(buttons)) {
        if (!shown[name] && button === document.activeElement) this.find("[data-act]").focus(); // the reader's place is not lost
        button.hidden = !shown[name];
      }
    }
    this.draw();
    this.writeNumbers();
  }

  addRow(job) {
    const row = make("li", "job");
    const parts = {name: make("b", "name"), said: make("span", "state"), bar: document.createElement("progress")};
    parts.bar.setAttribute("aria-label", this.name(job));
    const acts = {
      pause: () => this.leave(job, "pause"), resume: () => this.restart(job), again: () => this.restart(job),
      show: () => this.showInLab(job), cancel: () => this.leave(job, "cancel"), forget: () => this.remove(job),
    };
    const buttons = {};
    const box = make("span", "acts");
    for (const [name, act] of Object.entries(acts)) {
      const button = Object.assign(make("button", name, name === "forget" ? "×" : this.word(name)), {type: "button"});
      button.setAttribute("aria-label", `${this.word(name)}: ${this.called(job)}`);
      button.title = this.word(name);
      button.addEventListener("click", act);
      buttons[name] = button;
      box.append(button);
    }
    row.append(...(job.table ? [] : [this.swatch(this.variant(job.values), job.letter)]), parts.name, parts.said, parts.bar, box);
    this.find(".jobs").append(row);
    this.rows.set(job, {row, parts, buttons});
  }

  restart(job) {
    this.begin(job);
    this.ask();
  }

  remove(job) {
    this.forget(job);
    this.find("[data-act]").focus();
    this.show();
  }

  variant(values) {
    return this.lab.config.controls[this.settings.variant].choices.indexOf(values[this.settings.variant]);
  }

  // A piece of the curve as it is drawn, with the job's letter.
  swatch(k, letter) {
    const key = svg("svg", {class: "swatch-line", viewBox: "0 0 44 16", width: 44, height: 16, "aria-hidden": "true"});
    key.append(svg("path", {d: letter ? "M0 8H27" : "M0 8H44", ...line(k, !letter)}));
    if (letter) key.append(...marked(letter, k, 35, 8, 11.6));
    return key;
  }

  // Every curve of one kind: rows to compare with, then the jobs.
  series(curve) {
    const {variant} = this.settings;
    const state = this.lab.arrays.get(curve.array);
    const width = state?.shape[1];
    const compared = state ? this.lab.config.controls[variant].choices.map((choice, k) =>
      ({k, name: this.option(variant, choice), values: Array.from(state.data.subarray(k * width, (k + 1) * width))})) : [];
    const own = this.jobs.flatMap((job) => Object.values(job.runs).map((run) => {
      const told = this.settings.defines.filter((name) => run[name] !== undefined).map((name) => [name, run[name]]);
      const values = {...job.values, ...Object.fromEntries(told)}; // of a table, each run has its own
      const drawn = (run.curves?.[curve.name] ?? []).slice(0, job.drawn);
      return {k: this.variant(values), letter: job.table ? null : job.letter, name: this.name({values}), values: drawn};
    }));
    return {compared, own};
  }

  curves() {
    const {curves} = this.settings;
    return [curves[0], curves[this.which ? +this.which.value : 1]];
  }

  draw() {
    this.curves().forEach((curve, i) => this.charts[i].draw(curve, this.series(curve)));
  }

  // The table twin of the jobs' curves: a row for each epoch.
  writeNumbers() {
    if (!this.live.open) return;
    const table = make("table", "plain");
    const curves = this.settings.curves;
    const jobs = this.jobs.filter((job) => this.run(job)?.curves);
    const head = table.createTHead().insertRow();
    const header = (row, text, scope) => row.append(Object.assign(document.createElement("th"), {textContent: text, scope}));
    header(head, this.word(this.settings.x_label), "col");
    for (const job of jobs) for (const curve of curves) header(head, `${job.letter}: ${this.word(curve.word)}`, "col");
    const body = table.createTBody();
    const longest = Math.max(0, ...jobs.map((job) => this.run(job).epoch));
    for (let i = 0; i < longest; i++) {
      const row = body.insertRow();
      header(row, this.number(i + 1), "row");
      for (const job of jobs) {
        for (const curve of curves) {
          const value = this.run(job).curves[curve.name]?.[i];
          row.insertCell().textContent = value === undefined ? "" : this.number(value, "4g");
        }
      }
    }
    const box = this.live.querySelector(".scroll");
    box.replaceChildren(jobs.length ? table : make("p", "", this.word("no_runs")));
  }
}

// Curves over epochs in one picture, with a letter at the end of each job's.
class Chart {
  constructor(element, panel) {
    Object.assign(this, {element, panel});
    this.plot = element.querySelector(".plot");
    new ResizeObserver(() => this.last && this.draw(...this.last)).observe(this.plot);
    this.addSave();
  }

  draw(curve, {compared, own}) {
    this.last = [curve, {compared, own}];
    const width = this.plot.clientWidth;
    if (!width) return;
    const size = parseFloat(getComputedStyle(document.documentElement).getPropertyValue("--plot-size")) || 12;
    const height = Math.round(size * 14 + 30);
    const [left, right, top, bottom] = [size * 2.6, width - size * 0.9, size * 0.9, height - size * 2.9];
    const all = [...compared, ...own];
    const longest = Math.max(2, ...all.map(({values}) => values.length));
    const known = all.flatMap(({values}) => values.filter(Number.isFinite));
    const highest = Math.max(curve.high ?? 0, (curve.mark ?? 0) * 1.05, ...known);
    const x = (i) => left + ((right - left) * i) / (longest - 1);
    const y = (v) => bottom - ((bottom - top) * (v - curve.low)) / (highest - curve.low || 1);
    const text = (words, place, given = {}) => svg("text", {x: place[0], y: place[1], "font-size": size, ...given}, words);
    const made = [];
    const step = [0.1, 0.25, 0.5, 1, 2, 5, 10, 50].find((s) => (highest - curve.low) / s <= 4.5) ?? highest;
    for (let v = curve.low; v <= highest + 1e-9; v += step) {
      made.push(svg("path", {class: "grid", d: `M${left} ${y(v)}H${right}`}));
      const beside = {class: "tick", "text-anchor": "end", "dominant-baseline": "central"};
      made.push(text(this.panel.number(v, step < 1 ? "2" : "0"), [left - size * 0.4, y(v)], beside));
    }
    const stride = [1, 2, 5, 10, 20, 50].find((s) => longest / s <= 7) ?? 50;
    for (let e = stride === 1 ? 1 : stride; e <= longest; e += stride) {
      made.push(text(this.panel.number(e), [x(e - 1), bottom + size * 1.25], {class: "tick", "text-anchor": "middle"}));
    }
    const middle = [(left + right) / 2, height - size * 0.3];
    made.push(text(this.panel.word(this.panel.settings.x_label), middle, {class: "tick", "text-anchor": "middle"}));
    const point = (v, i, values) => `${Number.isFinite(values[i - 1]) ? "L" : "M"}${x(i).toFixed(1)} ${y(v).toFixed(1)}`;
    const way = (values) => values.map((v, i) => (Number.isFinite(v) ? point(v, i, values) : "")).join("");
    for (const {k, values} of compared) made.push(svg("path", {d: way(values), ...line(k, true)}));
    const taken = [];
    const letters = [];
    for (const {k, letter, values} of own) {
      if (!values.length) continue;
      made.push(svg("path", {d: way(values), ...line(k, !letter)}));
      if (!letter) continue;
      // At the curve's end, or as far back along it as another letter demands.
      let i = values.length - 1;
      const free = (at) => taken.every(([a, b]) => Math.hypot(a - x(at), b - y(values[at])) > size * 1.35);
      while (i > 0 && !free(i)) i--;
      taken.push([x(i), y(values[i])]);
      letters.push(...marked(letter, k, x(i), y(values[i]), size));
    }
    if (curve.mark !== null) {
      made.push(svg("path", {class: "chance", d: `M${left} ${y(curve.mark)}H${right}`, "stroke-dasharray": "1 4"}));
      const height = y(curve.mark) + (curve.mark > highest / 2 ? size * 1.1 : -size * 0.45);
      made.push(text(this.panel.word(curve.mark_word), [right, height], {class: "chance-word", "text-anchor": "end"}));
    }
    const title = this.panel.word(curve.word);
    const told = own.filter(({letter, values}) => letter && values.length);
    const label = [title, ...told.map(({letter, values}) => `${letter} ${this.panel.number(values.at(-1), "2")}`)].join(", ");
    const picture = svg("svg", {viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label});
    picture.append(...made, ...letters);
    this.plot.replaceChildren(picture);
  }

  // CSV of the curves on show, and the picture with its colours written into it.
  addSave() {
    const {words, page} = this.panel.lab;
    const menu = Object.assign(make("details", "save"), {innerHTML: `<summary title="${words.save}">⤓</summary>`});
    const box = document.createElement("div");
    for (const kind of ["CSV", "SVG", "PNG"]) {
      const button = Object.assign(make("button", "", kind), {type: "button"});
      button.addEventListener("click", async () => {
        menu.open = false;
        const name = `${page}-${this.last[0].name}.${kind.toLowerCase()}`;
        if (kind === "CSV") return download(name, new Blob([this.csv()], {type: "text/csv"}));
        const text = svgText(this.plot.firstElementChild);
        download(name, kind === "SVG" ? new Blob([text], {type: "image/svg+xml"}) : await png(text));
      });
      box.append(button);
    }
    menu.append(box);
    const title = this.element.querySelector("b")?.textContent ?? this.panel.word("which_curve");
    menu.querySelector("summary").setAttribute("aria-label", `${words.save}: ${title}`);
    this.element.querySelector("figcaption").append(menu);
    menu.addEventListener("focusout", (event) => menu.contains(event.relatedTarget) || (menu.open = false));
    menu.addEventListener("keydown", (event) => event.key === "Escape" && (menu.open = false));
  }

  csv() {
    const [, {compared, own}] = this.last;
    const all = [...compared, ...own];
    const quote = (text) => `"${text.replaceAll('"', '""')}"`;
    const names = all.map(({letter, name}) => quote(letter ? `${letter}: ${name}` : name));
    const head = [quote(this.panel.word(this.panel.settings.x_label)), ...names];
    const longest = Math.max(0, ...all.map(({values}) => values.length));
    const lines = Array.from({length: longest}, (_, i) => [i + 1, ...all.map(({values}) => values[i] ?? "")].join(","));
    return [head.join(","), ...lines].join("\n") + "\n";
  }
}
