// The lab on a projector: what the screen holds, without scrolling. A lab that is larger is shown view by view, with large buttons,
// PageUp and PageDown (a clicker sends them) and number keys; a long list of controls turns its pages by itself.

const root = document.documentElement;
const WIDE = matchMedia("(min-width: 900px)");
const REST = 120; // ms without another change of size

const shown = (element) => !element.hidden && element.checkVisibility();

// One box of the lab and the pages it is cut into. A page is a list of parts; a part too tall for a page of its own is
// taken apart, and its heading stands on each page with a part of it.
class Pages {
  // `filled`: a part is taken apart as well to fill up a page.
  constructor(box, filled) {
    Object.assign(this, {box, filled, pages: [[]], at: 0});
  }

  get count() {
    return this.pages.length;
  }

  lay() {
    const kept = this.pages[this.at]?.[0];
    this.clear();
    const queue = [...this.box.children].filter(shown);
    this.parts = [...queue];
    this.whole = [];
    const fits = () => !this.overflows();
    let page = [];
    const pages = [];
    while (queue.length) {
      const part = queue.shift();
      this.only([...page, part]);
      const begun = page.some((one) => one.matches(".view") || one.querySelector(".view")); // with more than a control or a line
      const inner = fits() || (begun && !this.filled) ? [] : pieces(part);
      if (fits()) page.push(part);
      else if (inner.length) {
        this.whole.unshift(part); // the innermost first
        this.parts = [...this.parts.filter((one) => one !== part), ...inner];
        queue.unshift(...inner);
      } else if (page.length) {
        pages.push(page);
        page = [];
        queue.unshift(part);
      } else pages.push([part]);
    }
    if (page.length || !pages.length) pages.push(page);
    this.pages = pages;
    this.go(Math.max(0, pages.findIndex((parts) => parts.some((part) => kept && (part === kept || part.contains(kept) || kept.contains(part))))));
  }

  clear() {
    for (const part of this.box.querySelectorAll("[data-off-stage]")) part.removeAttribute("data-off-stage");
  }

  only(parts) {
    for (const part of this.parts) part.toggleAttribute("data-off-stage", !parts.includes(part));
    for (const part of this.whole) part.toggleAttribute("data-off-stage", !parts.some((one) => part.contains(one)));
  }

  go(at) {
    this.at = Math.max(0, Math.min(this.count - 1, at));
    this.only(this.pages[this.at]);
  }

  pageOf(element) {
    return this.pages.findIndex((parts) => parts.some((part) => part.contains(element) || element.contains(part)));
  }

  overflows() {
    return this.box.scrollHeight > this.box.clientHeight + 1;
  }

  heading() {
    const part = this.pages[this.at][0];
    const heading = part?.closest(".group")?.querySelector("h2") ?? part?.querySelector("h2, figcaption b");
    return heading?.firstChild?.textContent.trim() ?? "";
  }
}

// What a part can be taken apart into; nothing for one view or one control.
function pieces(part) {
  if (!part.matches(".group, .row, .stack, .when, .controls, .together, .training, .training > section, .training > div")) return [];
  return [...part.children].filter((one) => shown(one) && !one.matches("h2, summary, legend"));
}

export class Stage {
  constructor(lab) {
    Object.assign(this, {lab, on: false, boxes: ["views", "controls"].map((kind) => new Pages(lab.root.querySelector(`:scope > .${kind}`), kind === "controls"))});
    [this.views, this.controls] = this.boxes;
    const {words} = lab;
    const button = (kind, sign, text, act) => {
      const made = Object.assign(document.createElement("button"), {type: "button", className: kind, textContent: sign, title: text});
      made.setAttribute("aria-label", text);
      made.addEventListener("click", act);
      return made;
    };
    this.pager = Object.assign(document.createElement("nav"), {className: "pager", hidden: true});
    this.pager.setAttribute("aria-label", words.views);
    this.where = document.createElement("output");
    this.pager.append(button("turn-back", "‹", words.previous_view, () => this.turn(-1)), this.where, button("turn-on", "›", words.next_view, () => this.turn(1)));
    lab.root.querySelector(".strip").append(this.pager);
    this.more = button("more-controls", "", words.more_controls, () => {
      this.controls.go((this.controls.at + 1) % this.controls.count);
      this.tell();
    });
    this.more.hidden = true;
    this.controls.box.after(this.more);
    lab.addEventListener("bring", ({detail}) => this.show(detail));
    lab.addEventListener("numbers", () => this.on && this.signature() !== this.laid && this.lay());
    root.addEventListener("look", () => this.update());
    WIDE.addEventListener("change", () => this.update());
    addEventListener("resize", () => this.on && this.rest());
    // Pictures come later than the page, and numbers may need another line.
    this.sizes = new ResizeObserver(() => this.on && this.rest());
    this.update();
  }

  // The look, the view or the window changed.
  update() {
    const on = root.dataset.view === "lab" && root.dataset.look === "projector" && WIDE.matches;
    if (on === this.on) return;
    this.on = on;
    root.toggleAttribute("data-stage", on);
    if (on) {
      this.folded = [...this.lab.root.querySelectorAll("details.group:not([open])")];
      for (const group of this.folded) group.open = true;
      this.lay();
      for (const view of this.lab.root.querySelectorAll(".views .view, .controls > *")) this.sizes.observe(view);
    } else {
      this.sizes.disconnect();
      for (const group of this.folded) group.open = false;
      for (const box of this.boxes) box.clear();
      this.pager.hidden = this.more.hidden = true;
      root.style.removeProperty("--plot-size");
      root.style.removeProperty("--most-plot");
    }
    this.lab.paint();
  }

  rest() {
    clearTimeout(this.resting);
    this.resting = setTimeout(() => {
      if (!this.on) return;
      const size = `${innerWidth} ${innerHeight} ${this.signature()}`;
      if (this.boxes.some((box) => box.overflows()) || size !== this.size) this.lay();
    }, REST);
  }

  // Which parts the choices have on show.
  signature() {
    return [...this.lab.root.querySelectorAll("[data-when]")].map((part) => +part.hidden).join("");
  }

  lay() {
    const font = parseFloat(getComputedStyle(this.lab.root).fontSize);
    root.style.setProperty("--plot-size", `${font}px`);
    root.style.setProperty("--most-plot", `${Math.floor(this.views.box.clientHeight - 5.5 * font)}px`); // beside captions and a legend
    this.laid = this.signature();
    if (this.size?.split(" ")[0] !== String(innerWidth)) this.lab.paint();
    this.size = `${innerWidth} ${innerHeight} ${this.laid}`;
    this.more.hidden = true;
    this.controls.lay();
    if (this.controls.count > 1) {
      this.more.hidden = false; // it takes room itself
      this.controls.lay();
    }
    this.views.lay();
    this.tell();
  }

  tell() {
    const {at, count} = this.views;
    this.pager.hidden = count < 2;
    this.where.textContent = `${at + 1}/${count} · ${this.views.heading()}`;
    this.pager.firstChild.disabled = at === 0;
    this.pager.lastChild.disabled = at === count - 1;
    this.more.textContent = `${this.controls.at + 1}/${this.controls.count} ›`;
    for (const picture of this.lab.pictures) picture.show();
  }

  // Whether the page could be turned.
  turn(by) {
    return this.goTo(this.views.at + by);
  }

  goTo(at) {
    if (!this.on || at < 0 || at >= this.views.count || at === this.views.at) return this.on;
    this.views.go(at);
    this.tell();
    return true;
  }

  // Whatever is asked to come into sight: its page is turned to.
  show(elements) {
    if (!this.on) return;
    for (const box of this.boxes) {
      const at = elements.map((element) => box.pageOf(element)).find((page) => page >= 0);
      if (at !== undefined) box.go(at);
    }
    this.tell();
  }
}
