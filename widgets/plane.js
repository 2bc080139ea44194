// Points of the plane that can be dragged; what they make follows. Part of a picture, fetched where there is such a picture.

import {writeNumber} from "./format.js";

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const NEAR = 26; // pixels from a point at which it can be taken hold of

export class Plane {
  constructor(picture) {
    Object.assign(this, {picture, lab: picture.lab, feed: picture.feed, held: null, dragged: false, sizes: new Map()});
    new ResizeObserver(() => this.show()).observe(picture.plot);
    this.listen();
  }

  array(name) {
    return this.lab.arrays.get(name);
  }

  control(side, row) {
    return this.feed.move[side].replace("{row}", row);
  }

  // The points stand where the controls say, at once; the server's numbers bring the rest.
  points() {
    const count = this.array(this.feed.points)?.shape[0] ?? 0;
    return Array.from({length: count}, (_, i) => [0, 1].map((side) => this.lab.values[this.control(side, i)]));
  }

  show() {
    const {feed, lab, picture} = this;
    const points = this.points();
    const shares = this.array(feed.sizes)?.data;
    if (!points.length || !shares) return;
    this.square();
    const put = (name, rows, more = {}) =>
      picture.find(name).setv({data: {x: rows.map((p) => p[0]), y: rows.map((p) => p[1]), ...more}}, {sync: false});
    const rows = (name) => {
      const {data} = this.array(name);
      return Array.from({length: data.length / 2}, (_, i) => [data[2 * i], data[2 * i + 1]]);
    };
    const path = [[0, 0]];
    for (const [x, y] of rows(feed.path)) path.push([path.at(-1)[0] + x, path.at(-1)[1] + y]);
    const size = points.map((_, i) => picture.scale * (9 + 27 * Math.sqrt(shares[i] ?? 0)));
    put("points", points, {size});
    put("hull", rows(feed.hull));
    put("path", path);
    const [output, centre] = feed.marks.map((name) => rows(name));
    put("output", output);
    put("centre", centre);
    const words = lab.labels.axes?.[feed.names] ?? [];
    const middle = points.reduce((sum, [, y]) => sum + y / points.length, 0);
    const named = points.map((point, i) => {
      const text = `${words[i] ?? i} ${writeNumber(shares[i] ?? 0, "2", lab.language)}`;
      return this.word(point, point[1] < middle, text, size[i] / 2 + 3);
    });
    const column = (key) => named.map((word) => word[key]);
    put("words", points, {text: column("text"), align: column("align"), baseline: column("baseline"), down: column("down")});
  }

  // A word beside its point, away from the others and inside the frame.
  word([x, y], low, text, away) {
    const {limit} = this.feed;
    const below = low ? y > -limit * 0.8 : y > limit * 0.8;
    const align = x > limit * 0.5 ? "right" : x < -limit * 0.5 ? "left" : "center";
    return {text, align, baseline: below ? "top" : "bottom", down: below ? away : -away};
  }

  // One unit is as long across as it is up.
  square() {
    const {width, height} = this.picture.view.frame.bbox;
    if (!(width > 0 && height > 0)) return;
    const far = this.feed.limit * 1.12;
    const unit = Math.min(width, height) / (2 * far);
    const {x_range, y_range} = this.picture.model;
    x_range.setv({start: -width / 2 / unit, end: width / 2 / unit});
    y_range.setv({start: -height / 2 / unit, end: height / 2 / unit});
    if (this.ticked) return;
    this.ticked = true;
    const {limit} = this.feed;
    for (const [axis] of [this.picture.model.below, this.picture.model.left]) this.picture.tick(axis, -limit, limit, {count: 4, whole: true});
  }

  paint() {
    const {picture} = this;
    for (const renderer of picture.model.renderers) {
      const colour = {warm: css("--warm"), soft: css("--soft"), ink: css("--ink")}[renderer.name];
      if (!colour) continue;
      const {glyph} = renderer;
      const text_font_size = `${picture.size()}px`;
      if (renderer.name === "ink") glyph.setv({text_color: colour, text_font: "Inter, sans-serif", text_font_size});
      if (renderer.name !== "ink" && "size" in glyph.properties) {
        this.sizes.has(glyph) || this.sizes.set(glyph, glyph.size.value);
        glyph.setv({size: {value: this.sizes.get(glyph) * picture.scale}});
      }
      if ("line_color" in glyph.properties) glyph.setv({line_color: colour});
      if ("fill_color" in glyph.properties) glyph.setv({fill_color: colour});
    }
    for (const span of picture.model.center) if (span.name === "zero") span.setv({line_color: css("--rule")});
    this.show();
  }

  // The point that an event is near enough to.
  near(event) {
    const pixel = this.picture.pixel(event);
    if (!pixel) return null;
    const {x_scale, y_scale} = this.picture.view.frame;
    let [nearest, found] = [NEAR, null];
    this.points().forEach(([x, y], i) => {
      const away = Math.hypot(x_scale.compute(x) - pixel[0], y_scale.compute(y) - pixel[1]);
      if (away < nearest) [nearest, found] = [away, i];
    });
    return found;
  }

  listen() {
    const {plot} = this.picture;
    plot.addEventListener("pointerdown", (event) => {
      this.dragged = false;
      this.held = event.button === 0 ? this.near(event) : null;
      if (this.held !== null) plot.setPointerCapture(event.pointerId);
    });
    plot.addEventListener("pointermove", (event) => {
      if (this.held === null) {
        this.picture.surface.style.cursor = this.near(event) === null ? "" : "grab";
        return;
      }
      this.picture.surface.style.cursor = "grabbing";
      const canvas = plot.firstElementChild.getBoundingClientRect();
      const {x_scale, y_scale} = this.picture.view.frame;
      const place = [x_scale.invert(event.clientX - canvas.left), y_scale.invert(event.clientY - canvas.top)];
      const moved = {};
      place.forEach((at, side) => {
        const name = this.control(side, this.held);
        const {low, high, step} = this.lab.config.controls[name];
        moved[name] = Number((Math.round(Math.min(high, Math.max(low, at)) / step) * step).toPrecision(12));
      });
      if (!this.lab.set(moved)) return;
      this.dragged = true;
      this.show();
    });
    const release = () => {
      if (this.held === null) return;
      this.held = null;
      this.picture.surface.style.cursor = "";
      if (this.dragged) this.lab.commit();
    };
    plot.addEventListener("pointerup", release);
    plot.addEventListener("pointercancel", release);
    // A finger on a point drags it; anywhere else it scrolls the page.
    const take = (event) => this.near(event.touches[0]) !== null && event.preventDefault();
    plot.addEventListener("touchstart", take, {passive: false});
  }

  // A point tells where its share comes from, the cross where its own place does.
  elementAt(event) {
    if (this.dragged) return null;
    const point = this.near(event);
    return point === null ? null : [this.feed.sizes, [point]];
  }
}
