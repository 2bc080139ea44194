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

// JavaScript's toFixed rounds the decimal digits of the exact binary value, as Python does, up to 1e21.
const fixed = (value, decimals) => (Math.abs(value) < 1e21 ? value.toFixed(decimals) : String(value));

export function writeNumber(value, form = "2", language = "en") {
  if (Number.isNaN(value)) return "?";
  if (!Number.isFinite(value)) return value < 0 ? "−∞" : "∞";
  if (form === "e" && value !== 0) return scientific(value, 1, language);
  if (form === "full") {
    const [mantissa, power] = String(value).split("e");
    return local(mantissa, language) + (power ? `·10${raise(+power)}` : "");
  }
  if (form.endsWith("g")) {
    const digits = Math.max(1, parseInt(form, 10));
    const size = Math.abs(value);
    if (value !== 0 && !(size >= 1e-4 && size < 1e6)) return scientific(value, digits - 1, language);
    const exponent = value ? +value.toExponential(digits - 1).split("e")[1] : 0;
    return local(fixed(value, Math.max(0, digits - 1 - exponent)), language);
  }
  return local(fixed(value, form === "e" ? 0 : +form), language);
}

// What a reader typed: decimal point or comma, minus sign of any kind. NaN when it is not a number.
export function readNumber(text) {
  const plain = text.trim().replace("−", "-").replace(",", ".").replace(/[\u202f\u00a0]/g, "");
  return plain === "" || plain.length > 32 ? NaN : Number(plain);
}
