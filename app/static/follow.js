// The lab follows the text: while one reads, it shows the view that the heading or paragraph speaks of. It stays where it is
// under a pointer, a finger or the focus, while it shows what was just moved, and when the reader turned this off.

import {keep, kept} from "../widgets/lab.js";

const HIGH = 0.4; // of the window: what has risen this far is being read

export class Follow {
  constructor(lab) {
    Object.assign(this, {lab, marks: [...document.querySelectorAll(".prose [data-shows]")], over: false, last: null, due: false});
    if (!this.marks.length) return;
    const label = Object.assign(document.createElement("label"), {className: "follow"});
    this.input = Object.assign(document.createElement("input"), {type: "checkbox", checked: kept("follow") !== "no"});
    label.append(this.input, ` ${lab.words.follow}`);
    lab.root.querySelector(".tools .status").before(label);
    this.input.addEventListener("change", () => keep("follow", this.input.checked ? "yes" : "no"));
    lab.root.addEventListener("pointerenter", () => (this.over = true));
    lab.root.addEventListener("pointerleave", () => (this.over = false)); // a finger that is lifted leaves as well
    this.last = this.current();
    addEventListener("scroll", () => {
      if (this.due) return;
      this.due = true;
      requestAnimationFrame(() => {
        this.due = false;
        this.read();
      });
    }, {passive: true});
  }

  // The last mark above the line that is being read.
  current() {
    return this.marks.findLast((mark) => mark.getBoundingClientRect().top < HIGH * innerHeight) ?? null;
  }

  used() {
    return this.over || this.lab.root.contains(document.activeElement) || this.lab.moves.lent.length > 0;
  }

  read() {
    const mark = this.current();
    if (mark === this.last || !this.input.checked || this.used()) return;
    this.last = mark;
    const view = mark && this.place(mark.dataset.shows);
    if (view) this.lab.moves.bring([view], "top");
  }

  // The part of the lab with this name, unless a choice hides it; of a folded group, its heading.
  place(name) {
    const found = [`[data-group="${name}"]`, `[data-save="${name}"]`, `table[data-array="${name}"]`]
      .flatMap((selector) => [...this.lab.root.querySelectorAll(`.views ${selector}`)])
      .map((one) => (one.matches("table") ? one.closest(".view") : one))
      .find((one) => !one.closest("[hidden]"));
    return found?.closest("details.group:not([open])")?.querySelector("summary") ?? found;
  }
}
