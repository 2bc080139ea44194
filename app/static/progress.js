// Where the reader was and what they answered, kept in their browser as one record. It is checked like anything from outside:
// a record that is broken or not ours counts as none. A link can carry it to another device.

const KEY = "progress";
const VERSION = 1;
const LONGEST = 64; // characters of an answer
const MOST = 100_000; // characters of a record

const name = (text) => typeof text === "string" && /^\w{1,40}$/.test(text);
const plain = (thing) => thing !== null && typeof thing === "object" && !Array.isArray(thing);

// A record as it should be, or null.
function checked(text) {
  let record;
  try {
    record = text.length <= MOST ? JSON.parse(text) : null;
  } catch {
    return null;
  }
  if (!plain(record) || record.version !== VERSION || !plain(record.answers)) return null;
  if (record.page !== null && !name(record.page)) return null;
  if (record.place !== null && !/^[hq]\d{1,3}$/.test(record.place)) return null;
  const fine = ([question, answer]) => name(question) && ((typeof answer === "string" && answer.length <= LONGEST) || (Number.isInteger(answer) && answer >= 0 && answer < 100));
  for (const [page, answers] of Object.entries(record.answers)) {
    if (!name(page) || !plain(answers) || !Object.entries(answers).every(fine)) return null;
  }
  return {version: VERSION, page: record.page, place: record.place, answers: record.answers};
}

export class Progress {
  constructor() {
    this.record = {version: VERSION, page: null, place: null, answers: {}};
    this.read();
  }

  // What is kept now: another tab may have added to it. Without storage it lasts as long as the page.
  read() {
    try {
      const text = localStorage.getItem(KEY);
      if (text === null) return;
      const record = checked(text);
      record ? (this.record = record) : localStorage.removeItem(KEY);
    } catch {}
  }

  keep() {
    try {
      localStorage.setItem(KEY, JSON.stringify(this.record));
    } catch {}
  }

  get begun() {
    return this.record.page !== null;
  }

  // The reader is at a heading ("h2") or question ("q3") of a section, or at its beginning (null).
  at(page, place) {
    this.read();
    if (this.record.page === page && this.record.place === place) return;
    Object.assign(this.record, {page, place});
    this.keep();
  }

  answer(page, question) {
    return this.record.answers[page]?.[question] ?? null;
  }

  answered(page) {
    return Object.keys(this.record.answers[page] ?? {}).length;
  }

  // A chosen option's number, or what was typed.
  note(page, question, answer) {
    this.read();
    this.record.answers[page] = {...this.record.answers[page], [question]: typeof answer === "string" ? answer.slice(0, LONGEST) : answer};
    this.keep();
  }

  forget() {
    this.record = {version: VERSION, page: null, place: null, answers: {}};
    try {
      localStorage.removeItem(KEY);
    } catch {}
  }

  // The record as the end of an address, which no server gets to see.
  fragment() {
    const bytes = new TextEncoder().encode(JSON.stringify(this.record));
    return `#progress=${btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
  }

  // Takes such an end of an address; what was answered here already stays. False for one that is cut short or made up.
  take(fragment) {
    const packed = /^#progress=([\w-]+)$/.exec(fragment)?.[1];
    if (!packed) return false;
    let brought;
    try {
      const bytes = Uint8Array.from(atob(packed.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
      brought = checked(new TextDecoder("utf-8", {fatal: true}).decode(bytes));
    } catch {
      return false;
    }
    if (!brought) return false;
    for (const [page, answers] of Object.entries(this.record.answers)) brought.answers[page] = {...brought.answers[page], ...answers};
    this.record = brought;
    this.keep();
    return true;
  }
}
