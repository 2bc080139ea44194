// A section's page: its lab, the links in the prose that set it, questions, keys and the address.

import {Lab} from "../widgets/lab.js";
import {Follow} from "./follow.js";
import {rewrite, setLook, wireLook} from "./frame.js";
import {Progress} from "./progress.js";
import {Sheet} from "./sheet.js";
import {Stage} from "./stage.js";

const root = document.documentElement;
const config = JSON.parse(document.getElementById("config").textContent);
const {words} = config;
const reserved = ["page", "lang", "look", "view", "hide"];

wireLook();

// The browser shows the page as loading, and its load event waits, until the lab is live (or two seconds have passed): an
// unfinished frame holds it back. Who waits for the page, a reader, a script or a screenshot, then finds the lab at work.

const hold = Object.assign(document.createElement("iframe"), {hidden: true, title: ""});
document.body.append(hold);
hold.contentDocument.open();
function release() {
  hold.contentDocument?.close();
  hold.remove();
}
setTimeout(release, 2000);

// The lab

const lab = new Lab(document.getElementById("lab"), config, {
  early: window.earlyLine,
  token: JSON.parse(document.getElementById("session").textContent).token,
  freshToken: async () => {
    const answer = await fetch(`${location.pathname}?page=${config.page}&lang=${config.language}`, {cache: "no-store"});
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    return JSON.parse(page.getElementById("session").textContent).token;
  },
});
lab.addEventListener("live", release, {once: true});
const sheet = new Sheet(lab);
const stage = new Stage(lab);
new Follow(lab);
lab.addEventListener("live", () => lab.moves.open(), {once: true});
window.addEventListener("pagehide", () => {
  lab.catchUp();
  lab.link.leave();
});
root.addEventListener("look", () => lab.paint());

// Paper is white: what is printed has the light look, pictures included.
let onScreen = null;
addEventListener("beforeprint", () => {
  onScreen ??= root.dataset.look;
  root.dataset.look = "light";
  lab.paint();
});
addEventListener("afterprint", () => {
  root.dataset.look = onScreen ?? root.dataset.look;
  onScreen = null;
  lab.paint();
});

// The address follows the controls when they are let go; Back and Forward bring them back.

// A run of key presses on one control is one step back.
let last = {at: -Infinity, name: null};
lab.addEventListener("commit", ({detail: name}) => {
  const now = performance.now();
  const run = name !== null && name === last.name && now - last.at < 800;
  rewrite((query) => {
    for (const name of [...query.keys()]) if (!reserved.includes(name)) query.delete(name);
    for (const [name, value] of lab.settings()) query.set(name, value);
  }, !run);
  last = {at: now, name};
});
addEventListener("popstate", () => {
  const query = new URLSearchParams(location.search);
  const defaults = Object.fromEntries(Object.entries(config.controls).map(([name, c]) => [name, c.default]));
  lab.moves.return({...defaults, ...lab.parse(query)});
  labView(query.get("view") === "lab");
});

// Prose links that set the controls, each with an undo beside it.

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-set]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const wanted = lab.parse(new URLSearchParams(link.dataset.set));
  if (link.classList.contains("button")) return lab.moves.press(wanted);
  const before = lab.values;
  lab.moves.follow(wanted);
  for (const old of document.querySelectorAll(".undo")) old.remove();
  const undo = Object.assign(document.createElement("button"), {type: "button", className: "undo", textContent: words.undo});
  undo.addEventListener("click", () => {
    lab.moves.make(before);
    undo.remove();
    link.focus({preventScroll: true});
  });
  link.after(undo);
});

// Predict, then reveal. What was chosen and answered is kept for this reader.

const progress = new Progress();

for (const question of document.querySelectorAll(".predict")) {
  const options = [...question.querySelectorAll('input[type="radio"]')];
  const details = question.querySelector("details");
  const verdict = Object.assign(document.createElement("p"), {className: "verdict"});
  verdict.setAttribute("role", "status");
  if (options.length) details.before(verdict);
  const choose = (option) => {
    option.checked = true;
    for (const other of options) other.closest(".option").classList.toggle("chosen", other === option);
    verdict.textContent = option.value === "right" ? words.right : words.wrong;
    verdict.className = `verdict ${option.value}`;
    details.open = true;
  };
  options.forEach((option, k) => option.addEventListener("change", () => {
    choose(option);
    progress.note(config.page, `predict${question.dataset.question}`, k);
  }));
  const chosen = options[progress.answer(config.page, `predict${question.dataset.question}`)];
  if (chosen) choose(chosen);
}

for (const exercise of document.querySelectorAll(".exercise")) {
  const form = exercise.querySelector("form");
  const [field, output] = [form.querySelector("input"), form.querySelector("output")];
  const name = exercise.dataset.exercise;
  field.value = progress.answer(config.page, name) ?? "";
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (!field.value.trim()) return;
    progress.note(config.page, name, field.value);
    let text;
    try {
      const {head} = await lab.ask({kind: "check", exercise: name, answer: field.value});
      const tolerance = new Intl.NumberFormat(config.language, {maximumSignificantDigits: 3}).format(head.tolerance);
      text = (words[`answer_${head.verdict}`] ?? words.refused.replace("{reason}", head.error)).replace("{tolerance}", tolerance);
      output.className = head.verdict ?? "";
    } catch {
      text = words.offline;
    }
    output.textContent = text;
  });
}

// Where the reader is: the last heading or question that has risen into the upper half of the window.

const places = [...document.querySelectorAll(".prose [id]")].filter(({id}) => /^[hq]\d+$/.test(id));
function markPlace() {
  const here = places.findLast((place) => place.getBoundingClientRect().top < innerHeight / 2 && place.checkVisibility());
  progress.at(config.page, here && scrollY > 0 ? here.id : null);
}
let marking = null;
addEventListener("scroll", () => (marking ??= setTimeout(() => {
  marking = null;
  markPlace();
}, 300)), {passive: true});
markPlace();

// The lab alone on the screen, and the list of keys

const labButton = Object.assign(document.createElement("button"), {type: "button", className: "fill"});
function labView(on) {
  root.toggleAttribute("data-view", on);
  if (on) root.dataset.view = "lab";
  labButton.textContent = on ? "×" : "⛶";
  labButton.title = on ? words.page_view : words.lab_view;
  labButton.setAttribute("aria-label", labButton.title);
  rewrite((query) => (on ? query.set("view", "lab") : query.delete("view")));
  sheet.settled();
  stage.update();
}
labButton.addEventListener("click", () => labView(root.dataset.view !== "lab"));
lab.root.querySelector(".strip").append(labButton);
labView(root.dataset.view === "lab");

const help = document.createElement("dialog");
help.className = "help";
const keys = [["?", "help"], ["f", "lab"], ["p", "projector"], ["r", "reset"], ["[", "previous"], ["]", "next"], ["Enter", "pin"], ["← → ↑ ↓", "arrows"], ["PageUp PageDown 1 2 …", "views"]];
help.innerHTML = `<h2>${words.help}</h2><dl>${keys.map(([key, name]) => `<dt><kbd>${key}</kbd></dt><dd>${words[`key_${name}`]}</dd>`).join("")}</dl><form method="dialog"><button>${words.close}</button></form>`;
document.body.append(help);
const helpButton = Object.assign(document.createElement("button"), {type: "button", className: "help-button", textContent: "?", title: words.help});
helpButton.setAttribute("aria-label", words.help);
helpButton.addEventListener("click", () => help.showModal());
document.querySelector("header.bar").append(helpButton);

let lookBefore = root.dataset.look === "projector" ? "light" : root.dataset.look;
const acts = {
  "?": () => (help.open ? help.close() : help.showModal()),
  f: () => labView(root.dataset.view !== "lab"),
  p: () => {
    if (root.dataset.look === "projector") setLook(lookBefore);
    else {
      lookBefore = root.dataset.look;
      setLook("projector");
    }
  },
  r: () => lab.reset(),
  "[": () => document.querySelector('a[rel="prev"]')?.click(),
  "]": () => document.querySelector('a[rel="next"]')?.click(),
  Escape: () => {
    if (lab.readout.pinned) lab.readout.clear();
    else if (root.dataset.view === "lab") labView(false);
    else sheet.step(-1);
  },
};
// A clicker turns the views, whatever has the focus.
addEventListener("keydown", (event) => {
  const by = {PageUp: -1, PageDown: 1}[event.key];
  if (!by || help.open || !stage.turn(by)) return;
  event.preventDefault();
  event.stopPropagation();
}, {capture: true});
const letters = {KeyF: "f", KeyP: "p", KeyR: "r", BracketLeft: "[", BracketRight: "]"}; // where a Cyrillic keyboard has other letters
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.matches?.('input[type="text"], select, textarea')) return;
  if (help.open && event.key !== "?") return;
  if (/^[1-9]$/.test(event.key) && stage.goTo(event.key - 1)) return event.preventDefault();
  const act = acts[event.key] ?? (event.key > "~" && acts[letters[event.code]]);
  if (!act) return;
  act();
  if (event.key !== "Escape") event.preventDefault();
});
