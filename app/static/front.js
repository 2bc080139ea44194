// The front page: three arrows to drag right there, the way back to where one was, and what is kept about it.

import {Arrows} from "../widgets/arrows.js";
import {Link} from "../widgets/link.js";
import {Matrix} from "../widgets/matrix.js";
import {Stepper} from "../widgets/stepper.js";
import {wireLook} from "./frame.js";
import {Progress} from "./progress.js";

const read = (id) => JSON.parse(document.getElementById(id).textContent);
const config = read("config");
const {words} = config;

wireLook();

// The taste of a lab: the same step that the section's lab takes. The line to the server is opened when somebody reaches for it.

class Taste extends Stepper {
  constructor(root) {
    super(config.page, config.values);
    Object.assign(this, {root, language: config.language, labels: config.labels, form: "2"});
    this.arrows = new Arrows(root.querySelector(".arrows"), this);
    this.matrix = new Matrix(root.querySelector("table[data-array]"), this);
    this.says = root.querySelector(".offline");
    for (const kind of ["pointerenter", "focusin", "pointerdown"]) root.addEventListener(kind, () => this.connect(), {once: true});
  }

  connect() {
    if (this.link) return;
    const url = new URL(`${location.pathname.replace(/\/$/, "")}/ws`, location.href);
    url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    const freshToken = async () => {
      const answer = await fetch(location.pathname + location.search, {cache: "no-store"});
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      return JSON.parse(page.getElementById("session").textContent).token;
    };
    this.link = new Link({url: url.href, frames: []}, read("session").token, freshToken, (status) => {
      this.says.hidden = status === "open";
      if (status === "open") this.step();
    });
    this.link.connect();
  }

  set(values) {
    this.connect();
    this.values = {...this.values, ...values};
    this.arrows.show();
    const away = new URLSearchParams(Object.entries(this.values).filter(([name, value]) => value !== config.values[name]));
    const lab = this.root.querySelector("a.whole");
    lab.href = `?page=${config.page}&lang=${config.language}&${away}`.replace(/&$/, "");
    this.step();
  }

  show() {
    this.matrix.show();
    super.show();
  }

  say(status) {
    document.documentElement.dataset.lab = status;
  }
}

new Taste(document.querySelector(".taste"));

// Where one was

const progress = new Progress();
const start = document.querySelector(".start");
const own = document.querySelector(".own-progress");
const told = own.querySelector("[role=status]");
const item = (page) => document.querySelector(`.contents li[data-section="${CSS.escape(page)}"]`);

function show() {
  const {page, place} = progress.record;
  const at = page === null ? null : item(page);
  const link = start.querySelector("a.continue");
  link.hidden = at === null; // never begun, or a section that this book does not have
  if (at) {
    const title = at.querySelector("a").textContent;
    const question = /^q(\d+)$/.exec(place ?? "")?.[1];
    link.textContent = (question ? words.continue_question : words.continue_section).replace("{title}", title).replace("{n}", question);
    link.href = `${at.querySelector("a").getAttribute("href")}${place ? `#${place}` : ""}`;
  }
  start.classList.toggle("begun", at !== null);
  for (const one of document.querySelectorAll(".contents li[data-section]")) {
    const questions = +one.dataset.questions;
    const done = Math.min(questions, progress.answered(one.dataset.section));
    one.classList.toggle("here", one === at);
    one.querySelector(".answered").textContent = done ? words.answered_of.replace("{n}", done).replace("{all}", questions) : "";
  }
  own.hidden = !progress.begun;
}

function bring() {
  if (!location.hash.startsWith("#progress=")) return;
  const taken = progress.take(location.hash);
  history.replaceState(null, "", location.pathname + location.search);
  show();
  if (taken) {
    told.textContent = words.progress_taken;
    own.hidden = false;
  }
}

own.querySelector(".forget").addEventListener("click", () => {
  progress.forget();
  show();
  start.querySelector("a:not([hidden])").focus();
});
own.querySelector(".carry").addEventListener("click", async () => {
  const address = location.origin + location.pathname + location.search + progress.fragment();
  const field = own.querySelector("input");
  field.hidden = false;
  field.value = address;
  field.focus();
  field.select();
  try {
    await navigator.clipboard.writeText(address);
    told.textContent = words.progress_copied;
  } catch {
    told.textContent = words.progress_copy; // clipboards need https; the address stands there, selected
  }
});
addEventListener("hashchange", bring);
addEventListener("pageshow", (event) => event.persisted && (progress.read(), show()));
show();
bring();
