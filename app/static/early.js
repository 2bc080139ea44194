// Runs while the page is still loading: opens the line to the server and sends the first step, so that the lab is
// live by the time its modules have arrived. widgets/link.js takes the socket over.
(() => {
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const config = read("config");
  const url = new URL(`${location.pathname.replace(/\/$/, "")}/ws`, location.href);
  url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  const early = {url: url.href, frames: [], socket: new WebSocket(url, ["bokeh", read("session").token])};
  early.socket.binaryType = "arraybuffer";
  early.socket.onmessage = ({data}) => {
    early.frames.push(data);
    if (early.frames.length !== 3) return; // the server's greeting: the line is open
    const values = Object.fromEntries(Object.entries(config.controls).map(([name, control]) => [name, control.value]));
    const step = JSON.stringify({id: 0, kind: "step", page: config.page, values});
    const event = {kind: "MessageSent", msg_type: "lab", msg_data: step};
    for (const frame of ['{"msgid":"0","msgtype":"PATCH-DOC"}', "{}", JSON.stringify({events: [event]})]) early.socket.send(frame);
  };
  window.earlyLine = early;
})();
