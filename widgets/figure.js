// Bokeh pictures: embedded once as stand-alone documents, then fed with arrays and painted in the page's look.

import {writeNumber} from "./format.js";

let loading = null;

// BokehJS is a classic script; it is fetched once, when the first picture needs it.
export function loadBokeh(url) {
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = url;
    script.onload = () => resolve(window.Bokeh);
    script.onerror = () => {
      loading = null;
      script.remove();
      reject(new Error("BokehJS did not load"));
    };
    document.head.append(script);
  });
  return loading;
}

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// Round numbers for the ends of an axis, so that it does not twitch with every step.
function nice(low, high) {
  if (low === high) [low, high] = [low - 1, high + 1];
  const size = 10 ** Math.floor(Math.log10(high - low));
  const step = [0.1, 0.2, 0.5, 1].map((s) => s * size).find((s) => (high - low) / s <= 10) ?? size;
  return [Math.floor(low / step + 1e-9) * step, Math.ceil(high / step - 1e-9) * step];
}

// About `count` round places between two numbers.
function places(low, high, count) {
  const rough = (high - low) / count;
  const size = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((s) => s * size).find((s) => s >= rough * 0.999);
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return {step, ticks: Array.from({length: Math.max(0, last - first + 1)}, (_, k) => (first + k) * step)};
}

export class Picture {
  constructor(element, {item, feed}, lab) {
    Object.assign(this, {element, item, feed, lab, view: null, seen: true, labelled: new Map(), fed: new Map()});
    this.plot = element.querySelector(".plot");
  }

  // `Part` (a class) takes over the feeding and the pointer of a picture that needs more than numbers.
  async draw(Bokeh, Part = null) {
    const manager = await Bokeh.embed.embed_item(this.item, this.plot);
    this.view = [...manager.roots][0];
    this.model = this.view.model;
    this.surface = this.view.canvas_view.events_el;
    this.surface.removeAttribute("tabindex"); // BokehJS makes it a stop of the Tab key, where there is nothing to do
    this.named = (name) => [...this.model.select({name})];
    if (Part) this.part = new Part(this);
    this.paint();
    this.show();
    this.listen();
    new ResizeObserver(() => this.scale !== this.size() / 12 && this.paint()).observe(this.plot);
    const watch = new IntersectionObserver((entries) => {
      this.seen = entries.at(-1).isIntersecting;
      this.show();
    }, {rootMargin: "150px"});
    watch.observe(this.plot);
    addEventListener("beforeprint", () => {
      this.seen = true;
      this.show();
    });
  }

  find(name) {
    return this.model.document.get_model_by_name(name);
  }

  // Words of a picture are as large as the look wants them, and grow with those of a lab that fills the screen.
  size() {
    return Math.max(parseFloat(css("--plot-size")) || 12, Math.round(0.86 * parseFloat(getComputedStyle(this.element).fontSize)));
  }

  // Colours and sizes of the page's look.
  paint() {
    if (!this.view) return;
    const [ink, rule, size] = [css("--soft"), css("--rule"), `${this.size()}px`];
    this.scale = this.size() / 12; // larger words need a larger picture
    this.height ??= this.model.height;
    if (this.model.sizing_mode === "stretch_width") {
      const most = parseFloat(css("--most-plot")) * (this.element.closest(".measurement") ? 0.7 : 1) || Infinity; // a measurement has buttons above
      this.model.setv({height: Math.round(Math.min(this.height * this.scale, most))});
      this.plot.style.minHeight = `${this.model.height}px`;
    }
    const font = "Inter, sans-serif"; // families that are sure to load: BokehJS waits for them
    for (const side of ["below", "left"]) {
      for (const axis of this.model[side]) {
        axis.setv({
          axis_label_text_color: ink, major_label_text_color: ink, axis_label_text_font: font, major_label_text_font: font,
          axis_label_text_font_size: size, major_label_text_font_size: size,
        });
      }
    }
    for (const grid of this.model.center) if ("grid_line_color" in grid.properties) grid.setv({grid_line_color: rule});
    for (const renderer of this.model.renderers) {
      const glyph = renderer.glyph;
      const series = /^s(\d)$/.exec(renderer.name ?? "");
      if (series) {
        const colour = css(`--s-${series[1]}`);
        if ("line_color" in glyph.properties) glyph.setv({line_color: colour});
        if ("fill_color" in glyph.properties) glyph.setv({fill_color: colour});
      } else if (renderer.name === "outlined") glyph.setv({line_color: css("--warm")});
    }
    this.at()?.setv({line_color: css("--warm")});
    this.part?.paint();
    if (this.feed.kind === "heatmap") {
      const [both, one] = this.lab.palettes[document.documentElement.dataset.look] ?? this.lab.palettes.light;
      this.find("mapper").setv({palette: this.feed.signed ? both : one});
    }
  }

  // Ticks of a linear axis, worded in the page's language.
  tick(axis, low, high, {count = 6, whole = false} = {}) {
    let {step, ticks} = places(low, high, count);
    if (whole) ticks = ticks.filter((t) => Number.isInteger(t));
    const decimals = String(Math.max(0, -Math.floor(Math.log10(step) + 1e-9)));
    this.label(axis, ticks, ticks.map((t) => writeNumber(t, decimals, this.lab.language)));
  }

  // Places and words of an axis. The same ones again are not set: BokehJS would lay the whole picture out anew.
  label(axis, ticks, words) {
    const key = `${ticks}|${words}`;
    if (this.labelled.get(axis) === key) return;
    this.labelled.set(axis, key);
    axis.ticker.setv({ticks});
    axis.setv({major_label_overrides: new Map(ticks.map((t, i) => [t, String(words[i])]))});
  }

  // New numbers for a source; a curve that did not move is not drawn again.
  feedSource(name, data) {
    const before = this.fed.get(name);
    const same = before && Object.keys(data).every((key) =>
      before[key].length === data[key].length && data[key].every((v, i) => Object.is(v, before[key][i])));
    if (same) return;
    this.fed.set(name, data);
    this.find(name).setv({data}, {sync: false});
  }

  // Whole places from zero with the words of a named axis, or with their numbers; "ids:vocabulary" takes the words of an array's elements.
  nameOrTick(axis, names, length, count = 8) {
    const [array, key] = names?.includes(":") ? names.split(":") : [null, names];
    const named = this.lab.labels.axes?.[key];
    const words = array ? this.numbers(array)?.map((id) => named?.[id]) : named;
    if (!(words?.length >= length)) return this.tick(axis, -0.5, length - 0.5, {count, whole: true});
    this.label(axis, Array.from({length}, (_, i) => i), words.slice(0, length));
  }

  at() {
    return this.feed.at ? this.find("at") : null;
  }

  visible() {
    return this.view && this.seen && !this.element.closest("[hidden], details.group:not([open])");
  }

  // A picture that is scrolled out of view waits, whatever happens, until it comes near.
  show() {
    if (this.visible()) this.part ? this.part.show() : this[this.feed.kind]?.(); // a measurement's part comes by itself
  }

  heatmap() {
    const state = this.lab.arrays.get(this.feed.array);
    if (!state) return;
    const [rows, columns] = state.shape;
    const most = this.feed.most ?? (state.data.reduce((a, v) => Math.max(a, Math.abs(v)), 0) || 1);
    if (state !== this.last) {
      this.last = state;
      const source = this.find("data");
      const NDArray = source.data.image[0].constructor; // BokehJS does not export the class; the first image carries it
      source.setv({data: {image: [new NDArray(state.data, [rows, columns])], dw: [columns], dh: [rows]}}, {sync: false});
      this.find("mapper").setv({low: this.feed.signed ? -most : 0, high: most});
      this.model.x_range.setv({start: -0.5, end: columns - 0.5});
      this.model.y_range.setv({start: rows - 0.5, end: -0.5});
      this.nameOrTick(this.model.below[0], this.feed.column_names, columns);
      this.nameOrTick(this.model.left[0], this.feed.row_names, rows);
    }
    if (this.feed.row) {
      const row = Math.min(this.lab.place(this.feed.row), rows - 1);
      const outline = {left: [-0.5], right: [columns - 0.5], top: [row - 0.5], bottom: [row + 0.5]};
      this.feedSource("outline", outline);
    }
  }

  // The numbers of a series: an array of one axis, or a row such as weights[0].
  numbers(name) {
    const [, array, row] = /^(\w+)(?:\[(\d+)\])?$/.exec(name);
    const state = this.lab.arrays.get(array);
    if (!state) return null;
    if (row === undefined) return Array.from(state.data);
    const length = state.shape[1];
    return Array.from(state.data.subarray(row * length, (+row + 1) * length));
  }

  lines() {
    const {series, x, log, log_x, at, low, high, first, band, thin} = this.feed;
    const xs = x && this.numbers(x);
    let [left, right, bottom, top] = [Infinity, -Infinity, low ?? Infinity, high ?? -Infinity];
    if (band) {
      const far = this.numbers(band) ?? [];
      this.feedSource("band", {x: far.map((_, i) => first + i), low: far.map((v) => -v), high: far});
      for (const v of far) [bottom, top] = [Math.min(bottom, -v), Math.max(top, v)];
    }
    series.forEach((name, k) => {
      const values = this.numbers(name);
      if (!values) return;
      const places = xs ? xs.slice(0, values.length) : values.map((_, i) => first + i);
      const drawn = log ? values.map((v) => (v > 0 ? v : NaN)) : values;
      for (const p of places) if (!log_x || p > 0) [left, right] = [Math.min(left, p), Math.max(right, p)];
      for (const v of drawn) if (!Number.isNaN(v)) [bottom, top] = [Math.min(bottom, v), Math.max(top, v)];
      this.feedSource(`series${k}`, {x: places, y: drawn});
      if (thin) return;
      const every = Math.ceil(values.length / 20); // marks tell the curves apart; more of them would hide them
      const marked = (list) => list.filter((_, i) => i % every === Math.floor((k * every) / series.length));
      this.feedSource(`marks${k}`, {x: marked(places), y: marked(drawn)});
    });
    if (!Number.isFinite(left)) return;
    if (log_x) {
      this.model.x_range.setv({start: left / 1.1, end: right * 1.1});
      const axis = this.model.below[0];
      if (this.feed.ticks) {
        this.label(axis, xs, xs.map((v, i) => (xs.length > 5 && i % 2 ? "" : writeNumber(v, "0", this.lab.language))));
      }
    } else {
      const room = (right - left) * 0.02 || 0.5;
      this.model.x_range.setv({start: left - room, end: right + room});
      this.tick(this.model.below[0], left, right, {count: 8, whole: !xs});
    }
    if (!(bottom <= top)) [bottom, top] = log ? [0.1, 10] : [0, 1];
    if (log) {
      const [down, up] = [Math.floor(Math.log10(bottom) - 0.01), Math.ceil(Math.log10(top) + 0.01)];
      this.model.y_range.setv({start: 10 ** down, end: 10 ** Math.max(up, down + 1)});
    } else {
      const [start, end] = nice(bottom, top);
      const room = (end - start) * 0.04;
      this.model.y_range.setv({start: low === null ? start - room : start, end: end + room});
      this.tick(this.model.left[0], start, end);
    }
    if (at) this.at().setv({location: this.lab.place(at)});
  }

  bars() {
    const {series, low, high, wide, names} = this.feed;
    let [bottom, top, count] = [low ?? 0, high ?? -Infinity, 0];
    series.forEach((name, k) => {
      const y = this.numbers(name);
      if (!y) return;
      const x = y.map((_, i) => i + (k - (series.length - 1) / 2) * wide);
      count = Math.max(count, y.length);
      for (const v of y) [bottom, top] = [Math.min(bottom, v), Math.max(top, v)];
      this.feedSource(`series${k}`, {x, y});
    });
    if (!count) return;
    this.model.x_range.setv({start: -0.6, end: count - 0.4});
    const [start, end] = nice(bottom, top);
    this.model.y_range.setv({start, end: end + (high === null ? (end - start) * 0.04 : 0)});
    this.tick(this.model.left[0], start, end);
    this.nameOrTick(this.model.below[0], names, count, 12);
  }

  // What is under the pointer tells its arithmetic, as in the tables: a cell, a bar, or the nearest point of a curve.
  listen() {
    this.plot.addEventListener("pointermove", (event) => {
      const found = !event.buttons && this.elementAt(event);
      if (found) this.lab.readout.point(...found);
    });
    this.plot.addEventListener("click", (event) => {
      const found = this.elementAt(event);
      if (found) this.lab.readout.pin(...found);
    });
  }

  // Where an event is inside the axes, in pixels of the canvas; null outside.
  pixel(event) {
    const canvas = this.plot.firstElementChild?.getBoundingClientRect();
    if (!canvas) return null;
    const {left, right, top, bottom} = this.view.frame.bbox;
    const [x, y] = [event.clientX - canvas.left, event.clientY - canvas.top];
    return x < left || x > right || y < top || y > bottom ? null : [x, y];
  }

  // The array and index of the number that an event points at.
  elementAt(event) {
    if (this.part) return this.part.elementAt(event);
    const pixel = this.pixel(event);
    if (!pixel) return null;
    const {x_scale, y_scale} = this.view.frame;
    const {kind, series, wide} = this.feed;
    const element = (name, i) => {
      const [, array, row] = /^(\w+)(?:\[(\d+)\])?$/.exec(name);
      return [array, row === undefined ? [i] : [+row, i]];
    };
    if (kind === "heatmap") {
      const [row, column] = [Math.round(y_scale.invert(pixel[1])), Math.round(x_scale.invert(pixel[0]))];
      const [rows, columns] = this.lab.arrays.get(this.feed.array)?.shape ?? [0, 0];
      return row >= 0 && row < rows && column >= 0 && column < columns ? [this.feed.array, [row, column]] : null;
    }
    if (kind === "bars") {
      const x = x_scale.invert(pixel[0]);
      const i = Math.round(x);
      const k = Math.round((x - i) / wide + (series.length - 1) / 2);
      return series[k] && i >= 0 && i < this.numbers(series[k])?.length ? element(series[k], i) : null;
    }
    let [nearest, found] = [40, null];
    series.forEach((name, k) => {
      const {x = [], y = []} = this.find(`series${k}`)?.data ?? {};
      for (let i = 0; i < x.length; i++) {
        const away = Math.hypot(x_scale.compute(x[i]) - pixel[0], y_scale.compute(y[i]) - pixel[1]);
        if (away < nearest) [nearest, found] = [away, element(name, i)];
      }
    });
    return found;
  }

  async export(kind) {
    this.seen = true;
    this.show();
    const canvas = this.view.export(kind === "svg" ? "svg" : "png", true);
    return canvas.to_blob();
  }
}
