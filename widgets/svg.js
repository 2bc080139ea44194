// Pictures drawn by the page itself: elements of an SVG, and the picture as a file with its colours written into it.

const MADE = "http://www.w3.org/2000/svg";
const PAINT = ["fill", "stroke", "stroke-width", "stroke-opacity", "stroke-linecap", "paint-order", "font-family", "font-weight"];

export function svg(name, given = {}, text = "") {
  const element = document.createElementNS(MADE, name);
  for (const [key, value] of Object.entries(given)) element.setAttribute(key, value);
  element.textContent = text;
  return element;
}

export function svgText(picture) {
  const copy = picture.cloneNode(true);
  const [from, to] = [picture.querySelectorAll("*"), copy.querySelectorAll("*")];
  from.forEach((element, i) => {
    const style = getComputedStyle(element);
    for (const name of PAINT) to[i].setAttribute(name, style.getPropertyValue(name));
  });
  copy.setAttribute("xmlns", MADE);
  return new XMLSerializer().serializeToString(copy);
}
