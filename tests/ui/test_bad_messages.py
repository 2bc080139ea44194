"""A page that sends nonsense harms nobody: not the server, not other readers, not even itself."""

from __future__ import annotations

import json
from typing import Any, Callable

from content import toc
from tests.ui.reader import Reader
from tests.ui.serving import Server

# Opens a line of the page's own making, sends frames once greeted, and gives the lab's answers until nothing more comes.
SEND = """async ({frames, wait}) => {
  const url = new URL("app/ws", location.href);
  url.protocol = "ws:";
  const {token} = JSON.parse(document.getElementById("session").textContent);
  const socket = new WebSocket(url, ["bokeh", token]);
  socket.binaryType = "arraybuffer";
  const heard = [];
  let closed = false;
  socket.onmessage = ({data}) => heard.push(data);
  socket.onclose = () => (closed = true);
  const until = async (done) => { for (let k = 0; k < wait && !done(); k++) await new Promise((resolve) => setTimeout(resolve, 20)); };
  await until(() => heard.length >= 3 || closed);
  for (const frame of frames) socket.send(frame === "BINARY" ? new Uint8Array([1, 2, 3]) : frame === "LONG" ? "x".repeat(200000) : frame);
  const answers = () => heard.filter((frame) => typeof frame === "string" && frame.includes("MessageSent"));
  await until(() => closed || answers().length >= frames.length / 3);
  const said = answers().map((frame) => JSON.parse(JSON.parse(frame).events[0].msg_data[0]));
  socket.close();
  return {said, closed};
}"""


def message(data: Any, kind: str = "MessageSent", type_: str = "lab") -> list[str]:
    event = {"kind": kind, "msg_type": type_, "msg_data": data}
    return ['{"msgid":"9","msgtype":"PATCH-DOC"}', "{}", json.dumps({"events": [event]})]


def send(reader: Reader, frames: list[str], wait: int = 250) -> dict[str, Any]:
    return reader.page.evaluate(SEND, {"frames": frames, "wait": wait})


def test_a_message_the_lab_cannot_take_is_answered_in_one_line(readers: Callable[..., Reader], server: Server) -> None:
    good = toc.load("three_tokens").defaults()
    step = {"id": 1, "kind": "step", "page": "three_tokens", "values": good}
    bad: list[Any] = [
        "", "null", "[]", "{}", "{", "[" * 5000, json.dumps(step | {"kind": "launch"}), json.dumps(step | {"page": "nowhere"}),
        json.dumps(step | {"page": ["three_tokens"]}), json.dumps(step | {"values": {}}), json.dumps(step | {"values": good | {"zoom": 1}}),
        json.dumps(step | {"values": good | {"q00": "one"}}), json.dumps(step | {"values": good | {"q00": [1.0]}}),
        json.dumps(step | {"values": good | {"q00": None}}), json.dumps(step | {"values": good | {"q00": 1e308}}),
        json.dumps(step | {"values": good | {"q00": float("nan")}}), json.dumps(step | {"values": good | {"q00": float("-inf")}}),
        json.dumps(step | {"values": good | {"token": True}}), json.dumps(step | {"have": 3}),
        json.dumps(step | {"kind": "explain", "array": "weights", "index": [-1, 0]}), json.dumps(step | {"kind": "explain", "array": "weights", "index": [9, 9]}),
        json.dumps(step | {"kind": "explain", "array": "__class__", "index": []}), json.dumps(step | {"kind": "explain", "array": "weights", "index": [0, 0], "path": [99]}),
        json.dumps({"id": 1, "kind": "check", "page": "three_tokens", "exercise": "../x", "answer": "1"}),
        json.dumps({"id": 1, "kind": "check", "page": "three_tokens", "exercise": "milk_output", "answer": 1}),
    ]  # fmt: skip
    vandal, neighbour = readers(), readers()
    vandal.open("three_tokens")
    neighbour.open("three_tokens")
    answers = send(vandal, [frame for text in bad for frame in message(text)])
    assert len(answers["said"]) == len(bad)
    for text, head in zip(bad, answers["said"]):
        assert head.get("error"), text[:80]
        assert "\n" not in head["error"]
        assert len(head["error"]) < 400
    for reader in (vandal, neighbour):
        value = reader.press("q00", "ArrowRight")
        reader.shows("three_tokens", q00=value)


def test_frames_that_are_no_messages_end_the_line_and_nothing_else(readers: Callable[..., Reader], server: Server) -> None:
    vandal, neighbour = readers(), readers()
    vandal.open("three_tokens")
    neighbour.open("masks")
    text = json.dumps({"id": 1, "kind": "step", "page": "three_tokens", "values": {}})
    refused: list[list[str]] = [
        ["no", "json", "here"], ["BINARY"], ["LONG"], ['{"msgid":"1","msgtype":"PATCH-DOC"}', "{}", "{}"], ["null", "{}", "{}"], ["[]", "[]", "[]"],
        message(text, kind="ModelChanged"), message(text, type_="shell"), message({"not": "text"}),
        ['{"msgid":"1","msgtype":"PUSH-DOC"}', "{}", '{"doc": {}}'],
        ['{"msgid":"1","msgtype":"PATCH-DOC","num_buffers":99}', "{}", '{"events": [{"kind": "RootRemoved", "model": {"id": "p1"}}]}'],
    ]  # fmt: skip
    for frames in refused:
        assert send(vandal, frames) == {"said": [], "closed": True}, frames
    value = neighbour.press("s1", "ArrowRight")
    neighbour.shows("masks", s1=value)
    value = vandal.press("q00", "ArrowRight")
    vandal.shows("three_tokens", q00=value)
    assert server.tracebacks() == []
