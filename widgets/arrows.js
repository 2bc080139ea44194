// Arrows of the plane that are dragged by their tips, or moved with the arrow keys by a twentieth.

import {writeNumber} from "./format.js";

const STEP = 0.05;

export class Arrows {
  // `stepper` has `values`, `language`, and `set(values)`; moves are told to it.
  constructor(svg, stepper) {
    Object.assign(this, {svg, stepper, reach: +svg.dataset.reach, arrows: [...svg.querySelectorAll(".arrow")]});
    let held = null;
    svg.addEventListener("pointerdown", (event) => {
      const arrow = event.target.closest(".arrow");
      if (!arrow || event.button !== 0) return;
      event.preventDefault();
      arrow.focus({preventScroll: true});
      arrow.parentNode.append(arrow); // on top of those it meets
      held = arrow;
      svg.setPointerCapture(event.pointerId);
    });
    svg.addEventListener("pointermove", (event) => held && this.put(held, ...this.place(event)));
    for (const kind of ["pointerup", "pointercancel"]) svg.addEventListener(kind, () => (held = null));
    svg.addEventListener("keydown", (event) => {
      const arrow = event.target.closest(".arrow");
      const way = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1]}[event.key];
      if (!arrow || !way) return;
      event.preventDefault();
      const by = event.shiftKey ? 10 * STEP : STEP;
      const {x, y} = arrow.dataset;
      this.put(arrow, stepper.values[x] + by * way[0], stepper.values[y] + by * way[1]);
    });
  }

  place(event) {
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.svg.getScreenCTM().inverse());
    return [point.x, -point.y];
  }

  put(arrow, across, up) {
    const legal = (value) => Number((Math.round(Math.min(this.reach, Math.max(-this.reach, value)) / STEP) * STEP).toFixed(2));
    const {x, y} = arrow.dataset;
    this.stepper.set({[x]: legal(across), [y]: legal(up)});
  }

  show() {
    const {values, language} = this.stepper;
    for (const arrow of this.arrows) {
      const [x, y] = [values[arrow.dataset.x], values[arrow.dataset.y]];
      const [line, touch, tip, word] = arrow.children;
      const write = (element, wanted) => Object.entries(wanted).forEach(([key, value]) => element.setAttribute(key, value));
      write(line, {x2: x, y2: -y});
      for (const circle of [touch, tip]) write(circle, {cx: x, cy: -y});
      write(word, wordPlace(x, y));
      write(arrow, {"aria-valuenow": x, "aria-valuetext": `${writeNumber(x, "2", language)}; ${writeNumber(y, "2", language)}`});
    }
  }
}

// Where an arrow's word stands: beyond the tip, on its outer side. widgets/arrows.py has the same.
function wordPlace(x, y) {
  if (Math.abs(x) > 0.3) return {x: x + (x > 0 ? 0.28 : -0.28), y: 0.14 - y, "text-anchor": x > 0 ? "start" : "end"};
  return {x, y: y >= 0 ? -y - 0.34 : -y + 0.62, "text-anchor": "middle"};
}
