// The page's line to the server: Bokeh's websocket protocol, as far as a lab needs it.
//
// A message is a header, metadata and content frame, each JSON, and two frames for each binary buffer
// (https://docs.bokeh.org/en/latest/docs/dev_guide/server.html#protocol). Nothing is kept on the server, so
// after any break the line is opened again, if need be with a fresh token, and the page sends its state anew.

const PATIENCE = 6000; // ms without an answer before the line counts as broken
const WAITS = [250, 500, 1000, 2000, 4000, 8000];

// Base64 text as the buffer it stands for.
const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer;

export class Link {
  // `early` is a line that was opened while the page loaded: its url, socket and the frames it brought so far. Once it
  // was greeted (three frames), message 0 has asked for the first step, and `first` is its answer. `freshToken()` fetches a new session token;
  // `onStatus` hears "open" and "lost".
  constructor(early, token, freshToken, onStatus) {
    Object.assign(this, {url: early.url, token, freshToken, onStatus, pending: new Map(), lastId: 0, tries: 0, open: false});
    if (early.frames.length >= 3) {
      this.first = new Promise((resolve, reject) => this.pending.set(0, {resolve, reject}));
      this.first.catch(() => {}); // nobody may be waiting for it when the line breaks
    }
    this.early = early;
    addEventListener("online", () => this.retryNow());
    document.addEventListener("visibilitychange", () => document.hidden || this.retryNow());
    addEventListener("pagehide", () => this.leave());
    addEventListener("pageshow", (event) => event.persisted && this.connect());
  }

  connect() {
    clearTimeout(this.timer);
    this.left = false;
    const early = this.early;
    this.early = null;
    const socket = early?.socket ?? new WebSocket(this.url, ["bokeh", this.token]);
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    let frames = [];
    let wanted = 3;
    const hear = ({data}) => {
      frames.push(data);
      if (frames.length === 1) wanted = 3 + 2 * (JSON.parse(data).num_buffers ?? 0);
      if (frames.length < wanted) return;
      const message = frames;
      frames = [];
      this.take(JSON.parse(message[0]), message);
    };
    socket.onmessage = hear;
    socket.onclose = () => this.socket === socket && this.lost();
    for (const data of early?.frames ?? []) hear({data});
    if (socket.readyState > WebSocket.OPEN) this.lost();
  }

  take(header, frames) {
    if (header.msgtype === "ACK") {
      this.open = true;
      this.tries = 0;
      this.onStatus("open");
    } else if (header.msgtype === "PATCH-DOC") {
      for (const event of JSON.parse(frames[2]).events) {
        if (event.kind !== "MessageSent" || event.msg_type !== "lab") continue;
        const head = JSON.parse(event.msg_data[0]);
        const waiting = this.pending.get(head.id);
        this.pending.delete(head.id);
        if (!waiting) continue;
        clearTimeout(waiting.timer);
        waiting.resolve({head, body: typeof event.msg_data[1] === "string" ? bytes(event.msg_data[1]) : frames[4]});
      }
    }
  }

  // Sends a message and gives its answer; rejects when the line breaks first.
  ask(message) {
    return new Promise((resolve, reject) => {
      if (!this.open) return reject(new Error("offline"));
      const id = ++this.lastId;
      const timer = setTimeout(() => this.drop(), PATIENCE);
      this.pending.set(id, {resolve, reject, timer});
      const content = {events: [{kind: "MessageSent", msg_type: "lab", msg_data: JSON.stringify({id, ...message})}]};
      this.socket.send(`{"msgid":"${id}","msgtype":"PATCH-DOC"}`);
      this.socket.send("{}");
      this.socket.send(JSON.stringify(content));
    });
  }

  drop() {
    const socket = this.socket;
    this.socket = null;
    socket?.close();
    this.lost();
  }

  lost() {
    this.open = false;
    for (const {reject, timer} of this.pending.values()) {
      clearTimeout(timer);
      reject(new Error("offline"));
    }
    this.pending.clear();
    if (this.left) return;
    this.onStatus("lost");
    const wait = WAITS[Math.min(this.tries, WAITS.length - 1)] * (0.75 + Math.random() / 2);
    this.timer = setTimeout(() => this.again(), wait);
  }

  async again() {
    // The old token still works on any server for a while; when it did not open a line, ask for a new one.
    if (this.tries++ > 0) {
      try {
        this.token = await this.freshToken();
      } catch {
        if (!this.left && !this.open) this.lost();
        return;
      }
    }
    if (!this.open) this.connect();
  }

  retryNow() {
    if (this.open || this.left) return;
    clearTimeout(this.timer);
    this.tries = Math.max(this.tries, 1);
    this.socket = null;
    this.again();
  }

  leave() {
    this.left = true;
    this.open = false;
    this.socket?.close();
  }
}
