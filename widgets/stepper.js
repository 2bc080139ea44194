// A state and its numbers: control values go up, arrays come down. One message a step, one step in flight, the latest wins.

export class Stepper extends EventTarget {
  // `page` is a section; `values` all its controls; `link`, set by whoever opens it, the line to the server.
  constructor(page, values) {
    super();
    Object.assign(this, {page, values, arrays: new Map(), digests: {}, facts: {}, flying: false, wanted: false, first: null, link: null});
  }

  ask(message) {
    return this.link.ask({page: this.page, ...message});
  }

  step() {
    this.wanted = true;
    if (!this.flying) this.fly();
  }

  send() {
    this.wanted = false;
    // The very first step may have been asked for while the page loaded.
    const answer = (this.first === this.values && this.link.first) || this.ask({kind: "step", values: this.values, have: this.digests});
    this.first = null;
    return answer;
  }

  async fly() {
    this.flying = true;
    let answer = null;
    while ((answer || this.wanted) && this.link.open) {
      this.say("busy");
      let heard;
      try {
        heard = await (answer ?? this.send());
      } catch {
        this.wanted = true; // the line broke: the newest values go up again when it is back
        break;
      }
      const there = this.unpack(heard.head, heard.body);
      // The next step is on its way while these numbers are written.
      answer = this.wanted && this.link.open ? this.send() : null;
      answer?.catch(() => {}); // heard above
      try {
        there ? this.show() : this.refused(heard.head);
      } catch (error) {
        reportError(error); // a view's mistake must not stop the lab
      }
    }
    this.flying = false;
    if (this.link.open && !this.wanted) this.say("ready");
  }

  // Takes an answer's arrays and facts; false where it has none.
  unpack(head, body) {
    if (head.error || head.undefined) return false;
    let start = 0;
    for (const [name, shape, digest, sent] of head.arrays) {
      if (digest) this.digests[name] = digest;
      if (!sent) continue;
      const size = shape.reduce((a, b) => a * b, 1);
      this.arrays.set(name, {shape, data: new Float64Array(body, start, size)});
      start += 8 * size;
    }
    this.facts = head.facts;
    return true;
  }

  // The numbers are new: whoever has views writes them.
  show() {
    this.dispatchEvent(new Event("numbers"));
  }

  // A state without numbers (`undefined`), or a step that the server would not take (`error`).
  refused() {}

  // "busy" or "ready".
  say() {}
}
