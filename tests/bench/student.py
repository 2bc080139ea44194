"""One student at a page, of the book and of plain Panel, without a browser: what a page's script sends and what it hears."""

from __future__ import annotations

import asyncio
import json
import random
import re
import time
from base64 import b64decode
from functools import lru_cache
from math import prod
from typing import Any, Iterator, Mapping, NamedTuple

import numpy as np
import param

from content import toc
from content.section import control_parameters
from tests.bench.wire import TOKEN, Line, Place, fetch_page

# The control each section's readers drag, and the array that is checked in every answer.
DRAGS = {
    "three_tokens": ("q00", "output"),
    "position": ("position", "similarity"),
    "tanh_chain": ("w_h", "product"),
    "masks": ("s0", "weights_masked"),
}
SETTLE = 30.0  # seconds for what is unanswered after the last move
CONFIG = re.compile(r'<script type="application/json" id="config">(.*?)</script>', re.S)


class Load(NamedTuple):
    """What a class does."""

    students: int = 100
    dragging: int | None = None  # None: all of them
    hz: float = 10.0  # moves of the slider a second
    seconds: float = 10.0
    ramp: float = 5.0  # seconds over which they come; 0: all at once
    mix: tuple[str, ...] = ("three_tokens",)  # sections, dealt out in turn
    assets: bool = False  # fetch scripts, styles and fonts too, as a first visit does
    plain: bool = False  # plain Panel instead of the book
    processes: int = 1  # of clients


class Student:
    """A reader of the book, who drags one slider: one step in flight, the latest wins."""

    def __init__(self, number: int, load: Load, place: Place) -> None:
        self.number, self.load, self.place = number, load, place
        self.section = load.mix[number % len(load.mix)]
        self.control, self.known = DRAGS[self.section]
        self.chance = random.Random(number)
        self.times: list[float] = []  # seconds from each move to the answer that shows it
        self.answers: list[tuple[Mapping[str, Any], bytes]] = []  # values sent, and the known array that came back
        self.moves = 0
        self.last_id = 0
        self.moved: float | None = None  # when the value was set that no step has carried yet
        self.flying: tuple[float, Mapping[str, Any]] | None = None  # move's time and values of the step under way
        self.digests: dict[str, str] = {}
        self.held: dict[str, bytes] = {}
        self.error = ""

    def query(self) -> str:
        return f"?page={self.section}&lang=en"

    async def open(self) -> float:
        """Comes to the page; seconds until its first numbers were there."""
        start = time.perf_counter()
        html, rest = await fetch_page(self.place, self.query(), assets=self.load.assets)
        fetched = asyncio.ensure_future(rest())
        self.live: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.line = await Line.open(self.place, TOKEN.search(html)[1], self.hear, self.lost)
        self.begin(html)
        await self.live
        await fetched
        return time.perf_counter() - start

    def begin(self, html: str) -> None:
        """On the greeting: the first step, at the defaults. Then every slider stands where no one else's does."""
        config = json.loads(CONFIG.search(html)[1].replace("<\\/", "</"))
        self.values = {name: control["value"] for name, control in config["controls"].items()}
        self.send(time.perf_counter())
        parameters = control_parameters(toc.load(self.section).controls)
        own = {
            name: round(self.chance.uniform(*parameter.bounds), 2)
            for name, parameter in parameters.items()
            if isinstance(parameter, param.Number) and not isinstance(parameter, param.Integer)
        }
        self.values = {**self.values, **own}
        self.path = there_and_back(parameters[self.control])

    def send(self, moved: float) -> None:
        self.last_id += 1
        self.flying, self.moved = (moved, self.values), None
        message = {"id": self.last_id, "kind": "step", "page": self.section, "values": self.values, "have": self.digests}
        event = {"kind": "MessageSent", "msg_type": "lab", "msg_data": json.dumps(message)}
        self.line.send("PATCH-DOC", json.dumps({"events": [event]}), str(self.last_id))

    def move(self, at: float) -> None:
        """The slider moved on by one: the newest values go up now, or when the answer under way has come."""
        self.moves += 1
        self.values = {**self.values, self.control: self.path[self.moves % len(self.path)]}
        self.moved = at
        if self.flying is None:
            self.send(at)

    def hear(self, frames: list[bytes]) -> None:
        now = time.perf_counter()
        if b"MessageSent" not in frames[2] or self.flying is None:
            return
        event = json.loads(frames[2])["events"][0]
        head = json.loads(event["msg_data"][0])
        if head.get("id") != self.last_id:
            return
        moved, values = self.flying
        self.flying = None
        if "arrays" not in head:
            self.fail(f"answered {head}")
            return
        body = event["msg_data"][1]  # text when it is small
        self.times.append(now - moved)
        self.answers.append((values, self.unpack(head, b64decode(body) if isinstance(body, str) else frames[4])))
        if not self.live.done():
            self.live.set_result(None)
        if self.moved is not None:
            self.send(self.moved)

    def unpack(self, head: Mapping[str, Any], body: bytes) -> bytes:
        """The bytes of the known array; large ones are kept by digest, as the page keeps them."""
        start, found = 0, b""
        for name, shape, digest, sent in head["arrays"]:
            size = 8 * prod(shape)
            data = body[start : start + size] if sent else self.held[name]
            start += size if sent else 0
            if digest:
                self.digests[name], self.held[name] = digest, data
            if name == self.known:
                found = data
        if start != len(body):
            self.fail(f"a body of {len(body)} bytes, {start} announced")
        return found

    def lost(self, code: int | None) -> None:
        self.fail(f"the server closed the socket, code {code}")

    def fail(self, what: str) -> None:
        self.error = self.error or f"student {self.number}: {what}"
        if not self.live.done():
            self.live.set_exception(ConnectionError(what))

    async def drag(self) -> float:
        """Drags for the load's time; seconds from the last move to the answer that shows it."""
        loop = asyncio.get_running_loop()
        await self.quiet()
        self.times.clear()
        begin = loop.time() + self.chance.random() / self.load.hz
        for k in range(int(self.load.seconds * self.load.hz)):
            await asyncio.sleep(begin + k / self.load.hz - loop.time())
            if self.line.closed:
                return 0.0
            self.move(time.perf_counter())
        return await self.quiet()

    async def quiet(self, patience: float = SETTLE) -> float:
        """Waits until everything is answered; how long that took."""
        start = time.perf_counter()
        while self.unanswered() and not self.line.closed and time.perf_counter() - start < patience:
            await asyncio.sleep(0.002)
        return time.perf_counter() - start

    def unanswered(self) -> int:
        return int(self.flying is not None or self.moved is not None)

    def wrong(self) -> int:
        """How many answers were not the section's own numbers."""
        return sum(
            not np.allclose(np.frombuffer(data, "<f8"), expected(self.section, self.known, values), rtol=1e-12, atol=0)
            for values, data in self.answers
        )

    def leave(self) -> None:
        self.line.lost = lambda code: None
        self.line.close()


class PlainStudent(Student):
    """A reader of the same lab in plain Panel. Its front end sends every move; an answer is known by its numbers."""

    def query(self) -> str:
        return ""

    def begin(self, html: str) -> None:
        self.values = toc.load("three_tokens").defaults()
        self.path = there_and_back(control_parameters(toc.load("three_tokens").controls)["q00"])
        self.pending: dict[bytes, float] = {}  # the numbers each move leads to, and when it was made
        self.line.send("PULL-DOC-REQ", "{}")

    def move(self, at: float) -> None:
        self.moves += 1
        self.values = {**self.values, "q00": self.path[self.moves % len(self.path)]}
        self.pending[expected("three_tokens", "output", self.values).tobytes()] = at
        event = {"kind": "ModelChanged", "model": {"id": self.slider}, "attr": "value", "new": self.values["q00"]}
        self.line.send("PATCH-DOC", json.dumps({"events": [event]}), str(self.moves))

    def hear(self, frames: list[bytes]) -> None:
        now = time.perf_counter()
        if b'"PULL-DOC-REPLY"' in frames[0]:
            found = {named(model): model["id"] for model in models(json.loads(frames[2]))}
            self.slider, self.output = found["q00"], f'"{found["output"]}"'.encode()
            self.live.set_result(None)
        elif b"ColumnDataChanged" in frames[2] and self.output in frames[2]:
            data = frames[-1]
            self.answers.append((self.values, data))
            moved = self.pending.get(data)
            if moved is None:
                return
            self.times.append(now - moved)
            # Earlier moves that Panel's debounce has merged into this one are shown by it as well.
            self.pending = {other: at for other, at in self.pending.items() if at > moved}

    def unanswered(self) -> int:
        return len(self.pending)

    def wrong(self) -> int:
        right = {expected("three_tokens", "output", {**self.values, "q00": q}).tobytes() for q in self.path}
        return sum(data not in right for _, data in self.answers)


def there_and_back(parameter: param.Number) -> list[float | int]:
    """Every value of a slider, up and down."""
    low, high = parameter.bounds
    grid = np.arange(low, high + 1e-9, parameter.step or (high - low) / 100)
    return [type(parameter.default)(round(float(value), 10)) for value in (*grid, *grid[-2:0:-1])]


def models(part: Any) -> Iterator[Mapping[str, Any]]:
    """Every slider and data source of a Bokeh document."""
    if isinstance(part, dict):
        if part.get("type") == "object" and part.get("name") in ("Slider", "ColumnDataSource"):
            yield part
        part = list(part.values())
    if isinstance(part, list):
        for inner in part:
            yield from models(inner)


def named(model: Mapping[str, Any]) -> str:
    return model["attributes"].get("title") or model["attributes"].get("name")


def expected(section: str, array: str, values: Mapping[str, Any]) -> np.ndarray:
    """The array at these values, computed here."""
    return computed(section, array, tuple(values.items()))


@lru_cache(maxsize=65536)
def computed(section: str, array: str, values: tuple[tuple[str, Any], ...]) -> np.ndarray:
    return np.ravel(getattr(toc.load(section).trace(dict(values)), array)).astype("<f8")
