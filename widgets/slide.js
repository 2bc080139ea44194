// Sliders under pointer, finger and keys. The browser's own slider jumps as soon as it is touched, even by a swipe that scrolls the
// page, hears of a drag only once a frame, and moves its thumb in a frame of its own, for which the numbers then have to wait. So
// the stylesheet keeps pointers from the input and its track answers: a press or a tap sets, a drag drags, a finger's
// vertical swipe is the page's. Where the thumb goes is told to the lab, which moves it together with its numbers.

const SLOP = 6; // px: a finger that went no further has tapped
const REST = 10; // ms between two values of a drag, so that a fast mouse asks for no more than a frame can show

// `value(input)` is where a slider stands, `slide(input, value)` moves it, `rest(input)` says that it was let go.
export function slideUnderPointer(root, {value, slide, rest}) {
  let drag = null;

  function put() {
    const {input, box, thumb, low, high} = drag;
    clearTimeout(drag.later);
    drag.later = null;
    drag.at = performance.now();
    const share = Math.min(1, Math.max(0, (drag.x - box.left - thumb / 2) / (box.width - thumb)));
    if (slide(input, onStep(input, low + share * (high - low)))) drag.moved = true;
  }

  function begin(event) {
    const {track, input} = drag;
    const box = input.getBoundingClientRect(); // once: the track stays where it is while it is dragged
    const thumb = parseFloat(getComputedStyle(track).getPropertyValue("--thumb")) * parseFloat(getComputedStyle(input).fontSize);
    Object.assign(drag, {on: true, box, thumb, low: +input.min, high: +input.max, x: event.clientX});
    track.setPointerCapture(event.pointerId);
    input.focus({preventScroll: true});
    put();
  }

  function follow(event) {
    if (event.pointerId !== drag?.pointer) return;
    if (!drag.on) {
      if (Math.abs(event.clientX - drag.from) >= SLOP) begin(event);
      return;
    }
    drag.x = event.clientX;
    const rested = performance.now() - drag.at;
    if (rested >= REST) put();
    else drag.later ??= setTimeout(put, REST - rested);
  }

  function end(event) {
    if (event.pointerId !== drag?.pointer) return;
    if (drag.later) put();
    if (drag.moved) rest(drag.input);
    drag = null;
  }

  root.addEventListener("pointerdown", (event) => {
    const track = event.target.closest(".track");
    if (!track || event.button !== 0 || drag) return;
    drag = {track, input: track.querySelector("input"), pointer: event.pointerId, from: event.clientX, on: false, moved: false, later: null};
    if (event.pointerType === "touch") return; // not yet: it may be a swipe
    event.preventDefault(); // else the press would take the focus away again
    begin(event);
  });
  // Where the browser tells of a move at once, the numbers are asked for before the frame and stand in it.
  root.addEventListener("onpointerrawupdate" in window ? "pointerrawupdate" : "pointermove", follow);
  root.addEventListener("pointerup", (event) => {
    if (event.pointerId !== drag?.pointer) return;
    if (!drag.on) begin(event); // a tap
    end(event);
  });
  root.addEventListener("pointercancel", end);

  root.addEventListener("keydown", (event) => {
    const input = event.target;
    if (input.type !== "range" || event.ctrlKey || event.metaKey || event.altKey) return;
    const [low, high, step] = [+input.min, +input.max, +input.step];
    const page = Math.max(step, (high - low) / 10);
    const by = {ArrowRight: step, ArrowUp: step, ArrowLeft: -step, ArrowDown: -step, PageUp: page, PageDown: -page, Home: -Infinity, End: Infinity}[event.key];
    if (by === undefined) return;
    event.preventDefault();
    if (slide(input, onStep(input, Math.min(high, Math.max(low, value(input) + by))))) rest(input);
  });
}

// The nearest place the slider can stand at.
function onStep(input, wanted) {
  const [low, high, step] = [+input.min, +input.max, +input.step];
  const most = Math.floor((high - low) / step + 1e-9);
  return Number((low + Math.min(most, Math.round((wanted - low) / step)) * step).toPrecision(12));
}
