// How a number is written for a reader. The same rules as content/numbers.py; a browser test compares the two.

const UP = {"-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹"};
const raise = (power) => String(power).replace(/./g, (digit) => UP[digit]);

function local(text, language) {
  const digits = text.replace(/^-/, "");
  const sign = text.startsWith("-") && /[1-9]/.test(digits) ? "−" : "";
  let [whole, fraction] = digits.split(".");
  if (whole.length > 4) whole = whole.replace(/\B(?=(\d{3})+$)/g, language === "en" ? "," : "\u202f");
  return sign + whole + (fraction === undefined ? "" : (language === "en" ? "." : ",") + fraction);
}

function scientific(value, decimals, language) {
  const [mantissa, power] = value.toExponential(decimals).split("e");
  return `${local(mantissa, language)}·10${raise(+power)}`;
}

const HUGE = 1e21; // from here on decimals mean nothing, and toFixed would not write them

// toFixed rounds the decimal digits of the exact binary value; a tie goes away from zero.
const fixed = (value, decimals, language) =>
  Math.abs(value) < HUGE ? local(value.toFixed(decimals), language) : scientific(value, decimals, language);

export function writeNumber(value, form = "2", language = "en") {
  if (Number.isNaN(value)) return "?";
  if (!Number.isFinite(value)) return value < 0 ? "−∞" : "∞";
  if (form === "e" && value !== 0) return scientific(value, 1, language);
  if (form === "full") {
    const size = Math.abs(value);
    const [mantissa, power] = (value === 0 || (size >= 1e-4 && size < 1e16) ? String(value) : value.toExponential()).split("e");
    return local(mantissa, language) + (power ? `·10${raise(+power)}` : "");
  }
  if (form.endsWith("g")) {
    const digits = Math.max(1, parseInt(form, 10));
    const size = Math.abs(value);
    if (value !== 0 && !(size >= 1e-4 && size < 1e6)) return scientific(value, digits - 1, language);
    const exponent = value ? +value.toExponential(digits - 1).split("e")[1] : 0;
    return fixed(value, Math.max(0, digits - 1 - exponent), language);
  }
  return fixed(value, form === "e" ? 0 : +form, language);
}

const PLAIN = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

// What a reader typed: decimal point or comma, minus sign of any kind, a fraction such as 1/3. NaN when it is not a number.
export function readNumber(text) {
  const plain = text.trim().replaceAll("−", "-").replaceAll(",", ".").replace(/[\u202f\u00a0]/g, "");
  const parts = plain.split("/").map((part) => part.trim());
  if (plain.length > 32 || parts.length > 2 || !parts.every((part) => PLAIN.test(part))) return NaN;
  const number = parts.length === 2 ? parts[0] / parts[1] : Number(parts[0]);
  return Number.isFinite(number) ? number : NaN;
}
