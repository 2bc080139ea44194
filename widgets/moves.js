// What was moved: made visible, lit for a moment, told as "from → to", and taken back. One mechanism serves links in the text,
// buttons, Undo, Back and Forward, and an address that somebody sent. Which choice or folded group a control stands
// under is read from the lab's own markup.

const RUN = 800; // ms: moves of one control that follow each other so closely are one
const LIT = 1800; // ms
const MOST_UNDO = 100;
const MOST_TOLD = 2;

// The height of the sheet that the lab is on a small screen; undefined where it stands beside the text.
const sheet = () => (document.documentElement.dataset.view ? undefined : document.documentElement.dataset.sheet);
const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

export class Moves {
  constructor(lab) {
    const {root, words} = lab;
    Object.assign(this, {lab, known: lab.values, past: [], lent: [], last: {name: null, at: -Infinity}});
    this.strip = root.querySelector(".strip");
    this.said = this.strip.querySelector(".last");
    this.undoButton = Object.assign(document.createElement("button"), {type: "button", className: "undo-last", title: words.undo, hidden: true});
    this.undoButton.innerHTML = '<span class="long"></span><span class="short" aria-hidden="true">↶</span>'; // one of them, as the room allows
    this.undoButton.firstChild.textContent = words.undo;
    this.undoButton.setAttribute("aria-label", words.undo);
    this.undoButton.addEventListener("click", () => this.undo());
    this.said.after(this.undoButton);
    this.tray = Object.assign(document.createElement("div"), {className: "tray", hidden: true});
    this.tray.setAttribute("role", "group");
    this.tray.setAttribute("aria-label", words.moved);
    const close = Object.assign(document.createElement("button"), {type: "button", className: "end-play", textContent: words.all_controls});
    close.addEventListener("click", () => {
      const [first] = this.lent;
      this.end();
      if (first?.holder.checkVisibility()) first.holder.querySelector("[data-control]")?.focus();
      else root.focus();
    });
    this.tray.append(close);
    this.strip.after(this.tray);
    lab.addEventListener("commit", ({detail}) => this.record(detail));
  }

  // Ways to move

  // A link in the text: `wanted` values, everything else at its textbook value.
  follow(wanted) {
    const {controls} = this.lab.config;
    const names = Object.keys(wanted);
    const values = {...Object.fromEntries(Object.entries(controls).map(([name, c]) => [name, c.default])), ...wanted};
    this.end();
    this.make({...values, ...this.choices(names, values)}, names);
  }

  // A button of the lab: it stands where the reader looks, so nothing is scrolled away from under it.
  press(wanted) {
    this.lab.set(wanted);
    this.lab.commit();
    this.light(Object.keys(wanted).map((name) => this.holder(name)));
  }

  // Takes back what was moved last, whatever moved it.
  undo() {
    const [before, past] = [this.past.at(-1), this.past.slice(0, -1)];
    if (!before) return;
    this.make(before);
    this.past = past; // taking back is no move of its own
    this.undoButton.hidden = this.past.length === 0;
    if (this.undoButton.hidden) [...this.strip.querySelectorAll("button")].find((button) => button.checkVisibility())?.focus({preventScroll: true});
  }

  // Sets values and shows the controls `names`, or else all that changed.
  make(values, names = []) {
    const before = this.lab.values;
    this.lab.set(values);
    this.lab.commit();
    const changed = Object.keys(values).filter((name) => values[name] !== before[name]);
    this.play(names.length ? names : changed);
  }

  // Back and Forward: the address holds these values already.
  return(values) {
    const before = this.lab.values;
    this.lab.set(values);
    this.record(null);
    this.play(Object.keys(values).filter((name) => values[name] !== before[name]));
  }

  // An address with other values than the textbook's: they are shown, and told against the textbook.
  open() {
    const {config, values} = this.lab;
    const names = this.lab.settings().map(([name]) => name);
    if (!names.length) return;
    this.tell(names.map((name) => [name, config.controls[name].default, values[name]]));
    this.play(names);
  }

  // Choices that bring what a link sets on show, as far as the link itself leaves them open.
  choices(names, values) {
    const {config, inputs} = this.lab;
    const votes = new Map();
    for (const name of names) {
      for (let part = inputs.get(name)?.[0]?.closest("[data-when]"); part; part = part.parentElement.closest("[data-when]")) {
        const chooser = part.dataset.when;
        if (names.includes(chooser) || config.controls[chooser].kind !== "choice") continue;
        const ballot = votes.get(chooser) ?? new Map();
        for (const choice of part.dataset.is.split(" ")) ballot.set(choice, (ballot.get(choice) ?? 0) + 1);
        votes.set(chooser, ballot);
      }
    }
    const chosen = {};
    for (const [chooser, ballot] of votes) {
      const most = Math.max(...ballot.values());
      if (ballot.get(String(values[chooser])) === most) continue;
      chosen[chooser] = config.controls[chooser].choices.find((choice) => ballot.get(String(choice)) === most);
    }
    return chosen;
  }

  // What was moved

  // A change is done: it is told and can be taken back. `name` is the control it was made with.
  record(name) {
    const {values} = this.lab;
    const now = performance.now();
    const moves = Object.keys(values).filter((one) => values[one] !== this.known[one]).map((one) => [one, this.known[one], values[one]]);
    if (!moves.length) return;
    const run = name !== null && name === this.last.name && now - this.last.at < RUN && this.past.length > 0;
    if (!run) {
      this.past.push(this.known);
      if (this.past.length > MOST_UNDO) this.past.shift();
    }
    this.last = {name, at: now};
    this.known = values;
    this.undoButton.hidden = false;
    const before = this.past.at(-1);
    this.tell(moves.map(([one, , to]) => [one, before[one], to]));
  }

  tell(moves) {
    const parts = [];
    const choice = ([name]) => this.lab.config.controls[name].kind === "choice";
    const told = [...moves].sort((one, other) => choice(one) - choice(other)); // a choice may only have come along
    for (const [name, from, to] of told.slice(0, MOST_TOLD)) {
      const what = Object.assign(document.createElement("span"), {textContent: this.called(name)});
      const how = Object.assign(document.createElement("b"), {textContent: `${this.written(name, from)} → ${this.written(name, to)}`});
      const told = document.createElement("span");
      told.append(what, " ", how);
      parts.push(told, " ");
    }
    if (moves.length > MOST_TOLD) parts.push(this.lab.words.more_moves.replace("{n}", moves.length - MOST_TOLD));
    this.said.replaceChildren(...parts);
  }

  // A control's name; where only one choice shows it, with that choice: "cat: value, 1st".
  called(name) {
    const {config, inputs, labels} = this.lab;
    const own = labels.controls?.[name] ?? inputs.get(name)?.[0]?.getAttribute("aria-label") ?? name;
    const place = this.lent.find(({holder}) => holder.dataset.for === name)?.place ?? inputs.get(name)?.[0];
    const part = place?.closest("[data-when]");
    const choices = part && config.controls[part.dataset.when].choices;
    const at = choices?.map(String).indexOf(part.dataset.is) ?? -1;
    const choice = at < 0 ? null : labels.options?.[part.dataset.when]?.[at];
    return choice ? `${choice}: ${own}` : own;
  }

  written(name, value) {
    const {config, labels, words} = this.lab;
    const control = config.controls[name];
    if (control.kind === "text") return value;
    if (control.kind !== "choice") return this.lab.written(value, control);
    const option = labels.options?.[name]?.[control.choices.indexOf(value)];
    return String(option ?? (String(control.choices) === "0,1" ? (value ? words.yes : words.no) : value));
  }

  // Where it is seen

  // The part of the lab that stands for a control: its label and input, or its cell in a table.
  holder(name) {
    const input = this.lab.inputs.get(name)?.[0];
    return input && (input.closest(".control, td, li") ?? input);
  }

  // Shows these controls together: unfolded, within sight, lit. Those that cannot stand within sight where they belong are
  // lent to the tray at the head of the lab.
  play(names) {
    this.end();
    const holders = [...new Set(names.map((name) => this.holder(name)).filter((one) => one && !one.hidden))];
    if (!holders.length) return;
    this.lab.dispatchEvent(new Event("play"));
    for (const holder of holders) {
      const group = holder.closest("details.group");
      if (group) group.open = true;
    }
    const hidden = holders.some((holder) => holder.closest("[hidden]"));
    if ("stage" in document.documentElement.dataset) this.end(); // it turns to the page they stand on
    else if (sheet() === "half" || hidden || !this.fits(holders)) this.lend(holders, names);
    this.bring(holders.filter((holder) => !this.tray.contains(holder)));
    this.light(holders);
    // Tables may grow with the numbers that are on their way.
    this.lab.addEventListener("numbers", () => this.lent.length || this.bring(holders), {once: true});
  }

  // Whether one look at the lab can hold them all.
  fits(holders) {
    const boxes = holders.map((holder) => holder.getBoundingClientRect());
    const [top, bottom] = this.band(this.lab.root);
    return Math.max(...boxes.map((box) => box.bottom)) - Math.min(...boxes.map((box) => box.top)) <= bottom - top;
  }

  lend(holders) {
    for (const holder of holders.filter((one) => one.matches(".control"))) {
      const name = holder.dataset.for;
      const called = this.called(name);
      const place = Object.assign(document.createElement("div"), {className: "lent"});
      place.style.height = `${holder.offsetHeight}px`;
      holder.replaceWith(place);
      const label = holder.querySelector("label, legend");
      this.lent.push({holder, place, label, text: label.textContent});
      if (label.matches("label[for], legend") && label.textContent !== called) label.textContent = called;
      this.tray.lastChild.before(holder);
    }
    this.tray.hidden = this.lent.length === 0;
    this.lab.root.classList.toggle("in-play", this.lent.length > 0);
  }

  // What was lent goes back to its place.
  end() {
    for (const {holder, place, label, text} of this.lent) {
      if (label.textContent !== text) label.textContent = text;
      place.replaceWith(holder);
    }
    this.lent = [];
    this.tray.hidden = true;
    this.lab.root.classList.remove("in-play");
  }

  light(holders) {
    clearTimeout(this.dark);
    for (const old of document.querySelectorAll(".lit")) old.classList.remove("lit");
    for (const holder of holders) holder?.classList.add("lit");
    this.dark = setTimeout(() => holders.forEach((holder) => holder?.classList.remove("lit")), LIT);
  }

  // Shows one part of the lab, whatever hides it: a choice, a folded group, or its place.
  show(element) {
    for (let part = element.closest("[data-when]"); part; part = part.parentElement.closest("[data-when]")) {
      const {choices} = this.lab.config.controls[part.dataset.when];
      if (part.hidden) this.lab.set({[part.dataset.when]: choices.find((choice) => part.dataset.is.split(" ").includes(String(choice)))});
    }
    const group = element.closest("details.group");
    if (group) group.open = true;
    this.bring([element]);
  }

  // Scrolls the lab, never the text, as little as needed until all of these can be seen; the first of them where not all can.
  bring(elements, at = "near") {
    const {root} = this.lab;
    if (!elements.length) return;
    this.lab.dispatchEvent(new CustomEvent("bring", {detail: elements}));
    if (!scrolls(root) && !elements[0].closest(".views, .controls")) return;
    const scrollers = new Map();
    for (const element of elements) {
      for (let e = element.parentElement; e && root.contains(e); e = e.parentElement) {
        if (scrolls(e)) scrollers.set(e, [...(scrollers.get(e) ?? []), element]);
      }
    }
    for (const [scroller, inside] of scrollers) {
      const [top, bottom] = this.band(scroller);
      const boxes = inside.map((element) => element.getBoundingClientRect());
      let [high, low] = [Math.min(...boxes.map((b) => b.top)), Math.max(...boxes.map((b) => b.bottom))];
      if (low - high > bottom - top) [high, low] = [boxes[0].top, Math.min(boxes[0].bottom, boxes[0].top + bottom - top)];
      const by = high < top || at === "top" ? high - top : low > bottom ? low - bottom : 0;
      const smooth = scroller === root || scroller.matches(".views");
      if (Math.abs(by) > 1) scroller.scrollBy({top: by, behavior: smooth && !still() ? "smooth" : "instant"});
    }
    if (!scrollers.size && getComputedStyle(root).position === "static") elements[0].scrollIntoView({block: "nearest"});
  }

  // Top and bottom of what can be seen within a scroller, in the window's coordinates.
  band(scroller) {
    const box = scroller.getBoundingClientRect();
    // A sheet may still be on its way up.
    const [top, bottom] = sheet() ? [box.top + 6, box.bottom - 6] : [Math.max(0, box.top) + 6, Math.min(innerHeight, box.bottom) - 6];
    if (scroller !== this.lab.root) return [top, bottom];
    const heights = [this.strip, this.tray].map((part) => part.offsetHeight);
    return [top + heights[0] + heights[1], bottom - this.lab.readout.element.offsetHeight];
  }
}

function scrolls(element) {
  return element.scrollHeight > element.clientHeight + 1 && /auto|scroll/.test(getComputedStyle(element).overflowY);
}
