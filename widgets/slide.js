// Sliders under a finger. The browser's own slider jumps as soon as it is touched, even by a swipe that scrolls the page; so where
// there is a touch screen the stylesheet keeps pointers from the input, and its track answers: a tap sets, a sideways drag
// drags, and a vertical swipe is the page's. The keyboard speaks to the input as ever.

const SLOP = 6; // px: a finger that went no further has tapped

export function slideUnderFinger(root) {
  let drag = null;
  const put = (event) => {
    const {input} = drag;
    const box = input.getBoundingClientRect();
    const thumb = 1.5 * parseFloat(getComputedStyle(input).fontSize); // its width in the stylesheet: the ends of its way lie half of it inside
    const share = Math.min(1, Math.max(0, (event.clientX - box.left - thumb / 2) / (box.width - thumb)));
    const before = input.value;
    input.value = +input.min + share * (input.max - input.min); // the input rounds to its step
    if (input.value === before) return;
    drag.moved = true;
    input.dispatchEvent(new Event("input", {bubbles: true}));
  };
  const begin = (event) => {
    drag.on = true;
    drag.track.setPointerCapture(event.pointerId);
    drag.input.focus({preventScroll: true});
    put(event);
  };
  root.addEventListener("pointerdown", (event) => {
    const track = event.target.closest(".track");
    if (!track || event.target.tagName === "INPUT" || event.button !== 0 || drag) return;
    drag = {track, input: track.querySelector("input"), pointer: event.pointerId, x: event.clientX, on: false, moved: false};
    if (event.pointerType === "touch") return; // not yet: it may be a swipe
    event.preventDefault(); // else the press would take the focus away again
    begin(event);
  });
  root.addEventListener("pointermove", (event) => {
    if (event.pointerId !== drag?.pointer) return;
    if (drag.on) put(event);
    else if (Math.abs(event.clientX - drag.x) >= SLOP) begin(event);
  });
  root.addEventListener("pointerup", (event) => {
    if (event.pointerId !== drag?.pointer) return;
    if (!drag.on) begin(event);
    if (drag.moved) drag.input.dispatchEvent(new Event("change", {bubbles: true}));
    drag = null;
  });
  root.addEventListener("pointercancel", (event) => {
    if (event.pointerId !== drag?.pointer) return;
    if (drag.moved) drag.input.dispatchEvent(new Event("change", {bubbles: true}));
    drag = null;
  });
}
