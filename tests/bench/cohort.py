"""A class of students at one server, through the real protocol: `python -m tests.bench.cohort --students 100 --hz 10`.

Each student does what the browser does for a page: gets the HTML, opens the socket with its token, sends the first
step on the greeting, then drags a slider: values move at `hz`, one step is in flight, the latest wins. Every answer is kept
and compared after the drag with the section's own `compute`. Students run in processes of their own, so the server's CPU
time and memory are the server's alone. `--plain` does the same to plain Panel, whose front end sends every move.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import time
from base64 import b64decode
from functools import lru_cache
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any, Callable, Mapping, NamedTuple

import numpy as np
import param

from content import toc
from content.section import control_parameters
from tests.bench.serving import FLAGS, Served
from tests.bench.wire import TOKEN, Line, Place, fetch_page

# The control each section's readers drag, and the array that is checked in every answer.
DRAGS = {
    "three_tokens": ("q00", "output"),
    "position": ("position", "similarity"),
    "tanh_chain": ("w_h", "product"),
    "masks": ("s0", "weights_masked"),
}
PATIENCE = 30.0  # seconds until an open or an answer counts as an error
CONFIG = re.compile(r'<script type="application/json" id="config">(.*?)</script>', re.S)


class Load(NamedTuple):
    """What a class does."""

    students: int = 100
    dragging: int | None = None  # None: all of them
    hz: float = 10.0  # moves of the slider a second
    seconds: float = 10.0
    ramp: float = 5.0  # seconds over which they come; 0: all at once
    mix: tuple[str, ...] = ("three_tokens",)  # dealt out in turn
    assets: bool = False  # fetch scripts, styles and fonts too, as a first visit does
    plain: bool = False
    processes: int = 1


class Result(NamedTuple):
    """What came of it. Times in milliseconds, memory in MB."""

    students: int
    open_p50: float
    open_p95: float
    open_last: float  # from the first student's arrival to the last one live
    cpu_per_open: float
    answer_p50: float
    answer_p95: float
    answer_p99: float
    steps: int  # answered while they dragged
    moves: int
    steps_per_s: float
    cpu_per_step: float
    cpu_share: float  # of one core while they dragged
    client_share: float
    settle: float  # from the last move to the last answer
    rss_start: float
    rss_per_student: float
    rss_left: float | None  # after all left and their sessions were dropped
    wrong: int
    unanswered: int
    errors: tuple[str, ...]


class Student:
    """A reader of the book."""

    def __init__(self, number: int, load: Load, place: Place) -> None:
        self.number, self.load, self.place = number, load, place
        self.section = load.mix[number % len(load.mix)]
        self.control, self.known = DRAGS[self.section]
        self.chance = random.Random(number)
        self.times: list[float] = []
        self.answers: list[tuple[Mapping[str, Any], bytes]] = []
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
        """On the greeting: the first step, at the defaults. Then sliders stand where this student left them, like nobody else's."""
        config = json.loads(CONFIG.search(html)[1].replace("<\\/", "</"))
        self.values = {name: control["value"] for name, control in config["controls"].items()}
        self.send(time.perf_counter())
        self.values = dict(self.values)
        parameters = control_parameters(toc.load(self.section).controls)
        for name, parameter in parameters.items():
            if isinstance(parameter, param.Number) and not isinstance(parameter, param.Integer):
                self.values[name] = round(self.chance.uniform(*parameter.bounds), 2)
        moving = parameters[self.control]
        low, high = moving.bounds
        grid = np.arange(low, high + 1e-9, moving.step or (high - low) / 100)
        self.path = [type(moving.default)(round(float(value), 10)) for value in (*grid, *grid[-2:0:-1])]

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
        if b"MessageSent" not in frames[2]:
            return
        event = json.loads(frames[2])["events"][0]
        if event["kind"] != "MessageSent" or event["msg_type"] != "lab" or self.flying is None:
            return
        head = json.loads(event["msg_data"][0])
        if head.get("id") != self.last_id:
            return
        moved, values = self.flying
        self.flying = None
        if "arrays" not in head:
            self.fail(f"answered {head}")
            return
        self.times.append(now - moved)
        body = event["msg_data"][1]  # base64 text when small
        self.answers.append((values, self.unpack(head, b64decode(body) if isinstance(body, str) else frames[4])))
        if not self.live.done():
            self.live.set_result(None)
        if self.moved is not None:
            self.send(self.moved)

    def unpack(self, head: Mapping[str, Any], body: bytes) -> bytes:
        """The bytes of the known array; large ones are kept by digest, as the page keeps them."""
        start, found = 0, b""
        for name, shape, digest, sent in head["arrays"]:
            if sent:
                size = 8
                for side in shape:
                    size *= side
                data = body[start : start + size]
                start += size
                if digest:
                    self.digests[name], self.held[name] = digest, data
            else:
                data = self.held[name]
            if name == self.known:
                found = data
        if start != len(body):
            self.fail(f"body of {len(body)} bytes, {start} announced")
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
        if self.flying is not None:
            await self.quiet(PATIENCE)
        self.times.clear()
        begin = loop.time() + self.chance.random() / self.load.hz
        for k in range(int(self.load.seconds * self.load.hz)):
            await asyncio.sleep(begin + k / self.load.hz - loop.time())
            if self.line.closed:
                return 0.0
            self.move(time.perf_counter())
        return await self.quiet(PATIENCE)

    def waiting(self) -> bool:
        return self.flying is not None or self.moved is not None

    async def quiet(self, patience: float) -> float:
        """Waits until everything is answered; how long it took."""
        start = time.perf_counter()
        while self.waiting() and not self.line.closed and time.perf_counter() - start < patience:
            await asyncio.sleep(0.002)
        return time.perf_counter() - start

    def unanswered(self) -> int:
        return int(self.waiting())

    def wrong(self) -> int:
        """How many answers were not the section's own numbers."""
        return sum(
            not np.allclose(np.frombuffer(data, "<f8"), expected(self.section, self.known, tuple(values.items())), rtol=1e-12, atol=0)
            for values, data in self.answers
        )

    def leave(self) -> None:
        self.lost = lambda code: None
        self.line.lost = lambda code: None
        self.line.close()


class PlainStudent(Student):
    """A reader of the same lab in plain Panel. Its front end sends every move; an answer is known by its numbers."""

    def query(self) -> str:
        return ""

    def begin(self, html: str) -> None:
        self.values = toc.load("three_tokens").defaults()
        self.path = [round(float(value), 2) for value in (*np.arange(-3, 3.01, 0.05), *np.arange(2.95, -2.96, -0.05))]
        self.pending: dict[bytes, tuple[float, Mapping[str, Any]]] = {}
        self.line.send("PULL-DOC-REQ", "{}")

    def move(self, at: float) -> None:
        self.moves += 1
        self.values = {**self.values, "q00": self.path[self.moves % len(self.path)]}
        self.pending[expected("three_tokens", "output", tuple(self.values.items())).tobytes()] = (at, self.values)
        event = {"kind": "ModelChanged", "model": {"id": self.slider}, "attr": "value", "new": self.values["q00"]}
        self.line.send("PATCH-DOC", json.dumps({"events": [event]}), str(self.moves))

    def hear(self, frames: list[bytes]) -> None:
        now = time.perf_counter()
        if b'"PULL-DOC-REPLY"' in frames[0]:
            found = {model["attributes"].get("title", model["attributes"].get("name")): model["id"] for model in models(json.loads(frames[2]))}
            self.slider, self.output = found["q00"], found["output"].encode()
            self.live.set_result(None)
        elif b"ColumnDataChanged" in frames[2] and b'"' + self.output + b'"' in frames[2]:
            data = frames[-1]
            self.answers.append((self.values, data))
            if data not in self.pending:
                return
            # Moves that Panel's debounce has merged into this one are shown by it as well.
            moved, _ = self.pending[data]
            self.times.append(now - moved)
            for other in [other for other, (at, _) in self.pending.items() if at <= moved]:
                del self.pending[other]

    def waiting(self) -> bool:
        return bool(self.pending)

    def unanswered(self) -> int:
        return len(self.pending)

    def wrong(self) -> int:
        right = {expected("three_tokens", "output", (*self.values.items(),)[:1] + tuple({**self.values, "q00": q}.items())[1:]).tobytes() for q in self.path}
        return sum(data not in right for _, data in self.answers)


def models(part: Any) -> Any:
    """Every slider and data source of a document."""
    if isinstance(part, dict):
        if part.get("type") == "object" and part.get("name") in ("Slider", "ColumnDataSource"):
            yield part
        part = list(part.values())
    if isinstance(part, list):
        for inner in part:
            yield from models(inner)


@lru_cache(maxsize=65536)
def expected(section: str, array: str, values: tuple[tuple[str, Any], ...]) -> np.ndarray:
    """The array at these values, computed here."""
    return np.ravel(getattr(toc.load(section).trace(dict(values)), array)).astype("<f8")


def attend(pipe: Connection, load: Load, place: Place, numbers: range) -> None:
    """A client process: some of the students, who open, drag and leave when told to."""
    asyncio.run(attend_some(pipe, load, place, numbers))


async def attend_some(pipe: Connection, load: Load, place: Place, numbers: range) -> None:
    loop = asyncio.get_running_loop()
    kind = PlainStudent if load.plain else Student
    for section in load.mix:
        toc.load(section)
    pipe.send("here")
    pipe.recv()
    students = [kind(number, load, place) for number in numbers]
    errors = []

    async def come(student: Student) -> float | None:
        await asyncio.sleep(load.ramp * student.number / load.students)
        try:
            return await asyncio.wait_for(student.open(), PATIENCE)
        except (OSError, asyncio.TimeoutError, asyncio.IncompleteReadError) as error:
            errors.append(f"student {student.number} could not open: {error!r}")
            return None

    opens = await asyncio.gather(*map(come, students))
    pipe.send([seconds for seconds in opens if seconds is not None])
    students = [student for student, seconds in zip(students, opens) if seconds is not None]
    await loop.run_in_executor(None, pipe.recv)
    dragging = load.students if load.dragging is None else load.dragging
    movers = [student for student in students if student.number < dragging]
    cpu = time.process_time()
    settles = await asyncio.gather(*(student.drag() for student in movers))
    pipe.send(time.process_time() - cpu)
    pipe.send({
        "times": [t for student in movers for t in student.times], "moves": sum(student.moves for student in movers),
        "settle": max(settles, default=0.0), "wrong": sum(student.wrong() for student in students),
        "unanswered": sum(student.unanswered() for student in students),
        "errors": errors + [student.error for student in students if student.error],
    })  # fmt: skip
    await loop.run_in_executor(None, pipe.recv)
    for student in students:
        student.leave()
    await asyncio.sleep(0.2)


def percentile(values: list[float], share: float) -> float:
    """The value below which `share` of them lie; NaN where there are none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")


def run(served: Served, load: Load, *, wait_for_leaving: float = 0.0, meanwhile: Callable[[], Any] = lambda: None) -> Result:
    """Sends a class to a running server. With `wait_for_leaving` it waits that many seconds to see what is given back.

    `meanwhile` is called here, in the process that watches, once they drag.
    """
    context = get_context("spawn")
    clients = []
    for k in range(load.processes):
        ours, theirs = context.Pipe()
        numbers = range(k, load.students, load.processes)
        clients.append((ours, context.Process(target=attend, args=(theirs, load, served.place, numbers), daemon=True)))
    for _, process in clients:
        process.start()
    try:
        return follow(served, load, [pipe for pipe, _ in clients], wait_for_leaving, meanwhile)
    finally:
        for _, process in clients:
            process.join(5)
            process.terminate()


def follow(served: Served, load: Load, pipes: list[Connection], wait_for_leaving: float, meanwhile: Callable[[], Any]) -> Result:
    for pipe in pipes:
        pipe.recv()
    before = served.reading()
    start = time.perf_counter()
    for pipe in pipes:
        pipe.send("come")
    opens = [seconds for pipe in pipes for seconds in pipe.recv()]
    last = time.perf_counter() - start
    opened = served.reading()
    for pipe in pipes:
        pipe.send("drag")
    start = time.perf_counter()
    meanwhile()
    client_cpu = sum(pipe.recv() for pipe in pipes)
    elapsed = time.perf_counter() - start
    dragged = served.reading()
    told = [pipe.recv() for pipe in pipes]
    for pipe in pipes:
        pipe.send("leave")
    left = None
    if wait_for_leaving:
        time.sleep(wait_for_leaving)
        left = served.reading().rss / 1e6
    times = [1000 * t for one in told for t in one["times"]]
    cpu = dragged.cpu - opened.cpu
    return Result(
        load.students,
        1000 * percentile(opens, 0.5), 1000 * percentile(opens, 0.95), 1000 * last, 1000 * (opened.cpu - before.cpu) / max(1, len(opens)),
        percentile(times, 0.5), percentile(times, 0.95), percentile(times, 0.99),
        len(times), sum(one["moves"] for one in told), len(times) / elapsed, 1000 * cpu / max(1, len(times)), cpu / elapsed, client_cpu / elapsed,
        1000 * max(one["settle"] for one in told),
        before.rss / 1e6, (opened.rss - before.rss) / 1e6 / max(1, len(opens)), left,
        sum(one["wrong"] for one in told), sum(one["unanswered"] for one in told), tuple(e for one in told for e in one["errors"]),
    )  # fmt: skip


def told(result: Result) -> str:
    """The result as lines of text."""
    r = result
    left = "" if r.rss_left is None else f", {r.rss_left:.1f} after all left"
    return (
        f"open     p50 {r.open_p50:.0f} ms, p95 {r.open_p95:.0f} ms, last one live {r.open_last / 1000:.2f} s; server CPU {r.cpu_per_open:.1f} ms each\n"
        f"answer   p50 {r.answer_p50:.1f} ms, p95 {r.answer_p95:.1f} ms, p99 {r.answer_p99:.1f} ms; settled {r.settle:.0f} ms after the last move\n"
        f"steps    {r.steps} of {r.moves} moves, {r.steps_per_s:.0f}/s; server CPU {r.cpu_per_step:.2f} ms each, "
        f"{100 * r.cpu_share:.0f} % of a core (clients {100 * r.client_share:.0f} %)\n"
        f"memory   {r.rss_start:.1f} MB at the start, {r.rss_per_student:.3f} MB a student{left}\n"
        f"errors   {len(r.errors)} errors, {r.wrong} wrong numbers, {r.unanswered} unanswered" + "".join(f"\n         {e}" for e in r.errors[:5])
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--students", type=int, default=100)
    parser.add_argument("--dragging", type=int, help="how many of them drag (default: all)")
    parser.add_argument("--hz", type=float, default=10.0)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--ramp", type=float, default=5.0, help="seconds over which they come; 0: all at once")
    parser.add_argument("--mix", default="three_tokens", help=f"sections, separated by commas, of {', '.join(DRAGS)}")
    parser.add_argument("--assets", action="store_true", help="fetch scripts, styles and fonts too")
    parser.add_argument("--processes", type=int, default=1, help="client processes")
    parser.add_argument("--num-procs", type=int, default=1, help="server processes")
    parser.add_argument("--wait", type=float, default=0.0, help="seconds to wait for what is given back after leaving")
    parser.add_argument("--plain", action="store_true", help="plain Panel instead of the book")
    args = parser.parse_args()
    load = Load(
        args.students, args.dragging, args.hz, args.seconds, args.ramp, tuple(args.mix.split(",")), args.assets, args.plain, args.processes
    )  # fmt: skip
    with server(plain=args.plain, flags=("--num-procs", str(args.num_procs)) if args.num_procs > 1 else ()) as served:
        print(told(run(served, load, wait_for_leaving=args.wait)))
        if tracebacks := served.tracebacks():
            print(f"{len(tracebacks)} tracebacks in the log, the first:\n{tracebacks[0]}")


def server(*, plain: bool = False, flags: tuple[str, ...] = (), names: tuple[int, ...] = ()) -> Served:
    """The book's server, or plain Panel's."""
    return Served("tests/bench/plain_panel" if plain else "app", (*FLAGS, *flags), names=names)


if __name__ == "__main__":
    main()
