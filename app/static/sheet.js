// On a small screen the lab is a sheet over the text with three heights: peek (its strip), half and full. Swipe or tap
// the strip, use its buttons, or Escape; whatever the lab is asked to show raises it. The heights stand in book.css.

const HEIGHTS = ["peek", "half", "full"];
const SLOP = 6; // px: a finger that went no further has tapped
const FLICK = 0.25; // px/ms: a swipe this fast goes on to the next height
const SETTLE = 220; // ms

const root = document.documentElement;
const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

export class Sheet {
  constructor(lab) {
    Object.assign(this, {lab, element: lab.root, strip: lab.root.querySelector(".strip"), drag: null});
    this.raiseButton = this.button("raise", "▴", lab.words.raise_lab, 1);
    this.lowerButton = this.button("lower", "▾", lab.words.lower_lab, -1);
    this.strip.append(this.lowerButton, this.raiseButton);
    this.strip.addEventListener("pointerdown", (event) => this.take(event));
    this.strip.addEventListener("pointermove", (event) => this.follow(event));
    for (const kind of ["pointerup", "pointercancel"]) this.strip.addEventListener(kind, (event) => this.release(event));
    this.strip.addEventListener("click", (event) => this.tap(event), {capture: true});
    lab.addEventListener("play", () => this.raise());
    for (const link of document.querySelectorAll('a[href="#lab"]')) link.addEventListener("click", () => this.raise());
    window.smallScreen.addEventListener("change", () => this.fit());
    this.fit();
  }

  get on() {
    return root.dataset.sheet !== undefined && root.dataset.view === undefined;
  }

  button(kind, sign, words, by) {
    const made = Object.assign(document.createElement("button"), {type: "button", className: kind, textContent: sign, title: words});
    made.setAttribute("aria-label", words);
    made.addEventListener("click", () => this.step(by));
    return made;
  }

  // The window became small, or large.
  fit() {
    if (window.smallScreen.matches) root.dataset.sheet ??= "peek";
    else delete root.dataset.sheet;
    this.settled();
  }

  raise() {
    if (this.on && root.dataset.sheet === "peek") this.to("half");
  }

  // Up or down by one height; whether there was a way to go.
  step(by) {
    const next = this.on && HEIGHTS[HEIGHTS.indexOf(root.dataset.sheet) + by];
    if (next) this.to(next);
    return Boolean(next);
  }

  to(height, from = this.element.offsetHeight) {
    root.dataset.sheet = height;
    this.element.style.height = "";
    this.settled();
    if (still()) return;
    // What is asked of the lab in the same breath measures it at its new height; the way there is shown after that.
    requestAnimationFrame(() => {
      const by = this.element.offsetHeight - from;
      const way = by > 0 ? [{translate: `0 ${by}px`}, {translate: "0"}] : [{height: `${from}px`}, {height: `${from + by}px`}];
      this.element.animate(way, {duration: SETTLE, easing: "cubic-bezier(.2, .8, .3, 1)"});
    });
  }

  // What cannot be seen cannot be focused: the text under a full sheet, the lab under its strip.
  settled() {
    const height = this.on ? root.dataset.sheet : null;
    document.querySelector(".prose").inert = height === "full";
    this.raiseButton.hidden = height === null || height === "full";
    this.lowerButton.hidden = height === null || height === "peek";
    const focus = document.activeElement;
    if (height === "peek" && this.element.contains(focus) && !(this.strip.contains(focus) && focus.checkVisibility())) {
      this.raiseButton.focus({preventScroll: true});
    } else if (focus?.hidden) (this.raiseButton.hidden ? this.lowerButton : this.raiseButton).focus({preventScroll: true});
  }

  // The finger

  take(event) {
    if (!this.on || event.button !== 0) return;
    this.drag = {y: event.clientY, height: this.element.offsetHeight, on: false, path: [[event.timeStamp, event.clientY]]};
    this.swiped = false;
  }

  follow(event) {
    const {drag} = this;
    if (!drag) return;
    if (!drag.on) {
      if (Math.abs(event.clientY - drag.y) < SLOP) return;
      drag.on = true;
      this.strip.setPointerCapture(event.pointerId);
      if (root.dataset.sheet === "peek") root.dataset.sheet = "half"; // what comes into sight is there to be seen
    }
    drag.path = [...drag.path.slice(-5), [event.timeStamp, event.clientY]];
    const most = innerHeight - 48;
    this.element.style.height = `${Math.max(this.strip.offsetHeight, Math.min(most, drag.height + drag.y - event.clientY))}px`;
  }

  release(event) {
    const {drag} = this;
    this.drag = null;
    if (!drag?.on) return;
    this.swiped = true; // the click that follows is none
    const [[t0, y0], [t1, y1]] = [drag.path[0], drag.path.at(-1)];
    const speed = t1 > t0 && event.timeStamp - t1 < 80 ? (y0 - y1) / (t1 - t0) : 0; // px/ms, upwards
    const here = this.element.offsetHeight;
    const heights = {peek: this.strip.offsetHeight, half: 0.58 * innerHeight, full: innerHeight - 48};
    const ahead = HEIGHTS.filter((one) => Math.abs(speed) < FLICK || (heights[one] - here) * speed > 0);
    const nearest = (ahead.length ? ahead : HEIGHTS).reduce((best, one) => (Math.abs(heights[one] - here) < Math.abs(heights[best] - here) ? one : best));
    this.to(nearest, here);
  }

  tap(event) {
    if (this.swiped) {
      this.swiped = false;
      event.stopPropagation();
      event.preventDefault();
    } else if (this.on && !event.target.closest("button")) this.to(root.dataset.sheet === "half" ? "peek" : "half");
  }
}
