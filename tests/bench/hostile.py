"""What a hostile reader can do to the others: `python -m tests.bench.hostile`. On loopback, bounded in count and time.

While ten students drag, each attack in turn sends what no page would: the students' p95 and their errors are measured
meanwhile. Afterwards the server must answer a new reader with right numbers, hold no session or socket of the attack, and
have written no traceback.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import socket
import struct
import time
from typing import Any, Awaitable, Callable, NamedTuple

from bokeh.util.token import generate_jwt_token, generate_session_id

from tests.bench.cohort import run
from tests.bench.serving import FLAGS, Served
from tests.bench.soak import counts
from tests.bench.student import Load, Student
from tests.bench.wire import BINARY, TOKEN, Line, Place, Refused, fetch_page, frame

OTHERS = Load(students=10, hz=10.0, seconds=6.0, ramp=0.5)
LIMIT = 5.0  # seconds an attack may take
TARGET = 200.0  # ms, others' p95
ELSEWHERE = Place(80, name="elsewhere.invalid").origin
DEEP = "[" * 20_000 + "]" * 20_000
STEP = {"id": 1, "kind": "step", "page": "three_tokens", "values": {}}


class Outcome(NamedTuple):
    """What an attack did."""

    name: str
    said: str  # what became of the attackers
    p95: float  # ms, of the others meanwhile
    errors: tuple[str, ...]  # of the others
    alive: bool
    rss: float  # MB, afterwards

    def failures(self) -> list[str]:
        """What is not as it must be; times are for reading."""
        said = [f"{self.name}: {e}" for e in self.errors[:3]]
        said += [f"{self.name}: {self.said}"] if "LET IN" in self.said or "failed" in self.said else []
        return said + ([] if self.alive else [f"{self.name}: the server is dead or does not answer"])


def lab(message: Any, kind: str = "MessageSent", msg_type: str = "lab") -> str:
    text = message if isinstance(message, str) else json.dumps(message)
    return json.dumps({"events": [{"kind": kind, "msg_type": msg_type, "msg_data": text}]})


async def token(place: Place, query: str = "?page=three_tokens") -> str:
    html, _ = await fetch_page(place, query, assets=False)
    return TOKEN.search(html)[1]


class Attacker:
    """Sockets with a good token that are used badly. `end` counts what became of each."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.closed, self.answered, self.silent = 0, 0, 0

    async def once(self, send: Callable[[Line], None], wait: float = 0.6) -> None:
        heard: asyncio.Queue[Any] = asyncio.Queue()
        line = await Line.open(self.place, self.given, heard.put_nowait, lambda code: heard.put_nowait(None))
        try:
            send(line)
            what = await asyncio.wait_for(heard.get(), wait)
            self.answered += what is not None
            self.closed += what is None
        except asyncio.TimeoutError:
            self.silent += 1
        finally:
            line.transport.abort()

    async def each(self, sends: list[Callable[[Line], None]], times: int) -> str:
        self.given = await token(self.place)
        end = time.perf_counter() + LIMIT - 1
        for _ in range(times):
            if time.perf_counter() > end:
                break
            await asyncio.gather(*map(self.once, sends))
        return f"{self.closed} closed, {self.answered} answered, {self.silent} ignored"


def raw(data: bytes) -> Callable[[Line], None]:
    return lambda line: line.transport.write(data)


def message(msgtype: str, content: str) -> Callable[[Line], None]:
    return lambda line: line.send(msgtype, content)


async def malformed_frames(place: Place) -> str:
    good = frame(b'{"msgid":"1","msgtype":"PATCH-DOC"}') + frame(b"{}")
    sends = [
        raw(frame(b"not json") * 3),
        raw(frame(b"\xff\xfe\xfd") * 3),  # no UTF-8
        raw(frame(b"{}") * 3),
        raw(frame(b"null") * 3),
        raw(good + frame(DEEP.encode())),
        raw(good + frame(b'{"events":[')),
        raw(good + frame(b'{"events":[{"kind":"MessageSent","msg_type":"lab","msg_data":NaN}]}')),
        raw(frame(b'{"msgid":"1","msgtype":"PATCH-DOC","num_buffers":1000000000}') + frame(b"{}") + frame(lab(STEP).encode())),
        raw(frame(b"\0" * 64, BINARY) * 3),
        raw(frame(b"", 0)),  # a continuation of nothing
        raw(frame(b"", 0xB)),  # a reserved opcode
        raw(b"\x81\x05hello"),  # not masked
        raw(b"\xf1\x80\0\0\0\0"),  # reserved bits
        raw(struct.pack("!BBQ", 0x81, 0xFF, 2**62) + b"\0" * 4),  # a length of 4 EB
        raw(frame(b"x" * 126, 9)),  # a ping longer than pings may be
        raw(frame(b"\x03", 8)),  # half a status code
        raw(b"GET / HTTP/1.1\r\n\r\n" * 50),
    ]
    return await Attacker(place).each(sends, 20)


async def oversized_frames(place: Place) -> str:
    sends = [
        raw(frame(b"x" * (64 * 1024 + 1))),
        raw(frame(b"x" * 10_000_000)),
        message("PATCH-DOC", lab("9" * 10_000_000)),
        message("PATCH-DOC", lab({**STEP, "values": {"q00": "9" * 60_000}})),
        message("PATCH-DOC", lab({**STEP, "values": {f"x{k}": k for k in range(4000)}})),
    ]
    return await Attacker(place).each(sends, 20)


async def unknown_messages(place: Place) -> str:
    values = [float("nan"), float("inf"), 1e308, -1e308, None, True, [], {}, "1" * 5000, 10**400 // 7]
    sends = [
        message("NOTHING", "{}"),
        message("ACK", "{}"),
        message("ERROR", '{"text": "", "traceback": ""}'),
        message("PUSH-DOC", '{"doc": {"roots": [], "title": "", "version": "3.9.2"}}'),
        message("PATCH-DOC", '{"events": []}'),
        message("PATCH-DOC", lab(STEP, kind="RootAdded")),
        message("PATCH-DOC", '{"events": [{"kind": "ModelChanged", "model": {"id": "p1"}, "attr": "value", "new": 1}]}'),
        message("PATCH-DOC", '{"events": [{"kind": "TitleChanged", "title": "mine"}]}'),
        message("PATCH-DOC", lab(STEP, msg_type="bokeh_event")),
        *(message("PATCH-DOC", lab(text)) for text in ("", "null", "[]", "{}", '"', DEEP[:30000], '{"kind": "step"}')),
        message("PATCH-DOC", lab({**STEP, "page": "../../secret"})),
        message("PATCH-DOC", lab({**STEP, "kind": "explain", "array": "__class__", "index": [0], "path": [10**30]})),
        message("PATCH-DOC", lab({"id": 1, "kind": "check", "page": "three_tokens", "exercise": "x", "answer": "1" * 5000})),
        *(message("PATCH-DOC", lab({**STEP, "values": {"q00": value}})) for value in values),
    ]
    return await Attacker(place).each(sends, 20)


async def burst(place: Place) -> str:
    """10,000 steps at once on each of two lines."""
    student = Student(0, OTHERS, place)
    await student.open()
    await student.quiet(5)
    good = {**STEP, "values": student.values}
    answers, ended = [0], asyncio.Event()
    student.leave()

    def hear(frames: list[bytes]) -> None:
        answers[0] += 1

    given, codes = await token(place), []

    def lost(code: int | None) -> None:
        codes.append(code)
        if len(codes) == 2:
            ended.set()

    for _ in range(2):
        line = await Line.open(place, given, hear, lost)
        head, content = frame(b'{"msgid":"1","msgtype":"PATCH-DOC"}') + frame(b"{}"), frame(lab(good).encode())
        line.transport.write((head + content) * 10_000)
    try:
        await asyncio.wait_for(ended.wait(), LIMIT)
        return f"20,000 sent, {answers[0]} answered, then closed with {codes}"
    except asyncio.TimeoutError:
        return f"20,000 sent, {answers[0]} answered in {LIMIT:g} s"


async def slow_readers(place: Place) -> str:
    """Fifty lines that ask for large answers as fast as they may and never read one."""
    student = Student(0, OTHERS._replace(mix=("position",)), place)
    await student.open()
    await student.quiet(5)
    good = lab({**STEP, "page": "position", "values": student.values})
    student.leave()
    given, lines, sent = await token(place, "?page=position"), [], 0
    for _ in range(50):
        line = await Line.open(place, given, lambda frames: None)
        line.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        line.transport.pause_reading()
        lines.append(line)
    end = time.perf_counter() + LIMIT - 1.5
    while time.perf_counter() < end:
        for line in lines:
            if not line.closed and line.transport.get_write_buffer_size() < 100_000:
                line.send("PATCH-DOC", good)
                sent += 1
        await asyncio.sleep(0.02)
    for line in lines:
        line.transport.abort()
    return f"{sent} steps asked for on 50 lines, none read"


async def half_open(place: Place) -> str:
    """2,000 connections: a third says nothing, a third stops within its request, a third within the socket's handshake."""
    handshake = f"GET {place.app}/ws HTTP/1.1\r\nHost: {place.host}\r\nUpgrade: web".encode()
    starts = (b"", b"GET /app?page=three_tokens HTTP/1.1\r\nHost: ", handshake)
    writers = []

    async def one(k: int) -> None:
        try:
            _, writer = await asyncio.wait_for(asyncio.open_connection("127.0.0.1", place.port), LIMIT)
            writer.write(starts[k % 3])
            writers.append(writer)
        except (OSError, asyncio.TimeoutError):
            pass

    for k in range(0, 2000, 100):
        await asyncio.gather(*map(one, range(k, k + 100)))
    await asyncio.sleep(2.0)
    for writer in writers:
        writer.transport.abort()
    return f"{len(writers)} of 2,000 connections were held for 2 s"


async def refusals(place: Place, given: list[str], origin: str | None = None) -> str:
    """Knocks with each token; a line that is greeted counts as let in."""
    inside, refused, closed = 0, 0, 0
    for one in given:
        try:
            line = await asyncio.wait_for(Line.open(place, one, lambda frames: None, origin=origin), 2.0)
            inside += 1
            line.transport.abort()
        except Refused:
            refused += 1
        except (OSError, asyncio.TimeoutError):
            closed += 1
    said = f"{len(given)} tried, {refused} refused, {closed} closed"
    return f"{said}, {inside} LET IN" if inside else said


async def forged_origin(place: Place) -> str:
    given = [await token(place)] * 100
    return await refusals(place, given, ELSEWHERE)


async def bad_tokens(place: Place) -> str:
    """Expired ones, and ones that this server never wrote."""
    good = await token(place)
    head = good.split(".")[0]
    foreign = [
        *(generate_jwt_token(generate_session_id(signed=False), signed=False, expiration=-60) for _ in range(40)),
        *(generate_jwt_token(generate_session_id(b"other", signed=True), b"other", signed=True) for _ in range(40)),
        "e30", "eyJ9", "x", "%00", "." * 50, head[: len(head) // 2], "A" * 8000, "eyJzZXNzaW9uX2lkIjoxfQ", "bnVsbA", "W10",
    ]  # fmt: skip
    return await refusals(place, foreign)


ATTACKS = (malformed_frames, oversized_frames, unknown_messages, burst, slow_readers, half_open, forged_origin, bad_tokens)


async def answers(place: Place) -> bool:
    """Whether a new reader gets right numbers."""
    student = Student(1000, OTHERS, place)
    try:
        await asyncio.wait_for(student.open(), 10)
        student.move(time.perf_counter())
        await student.quiet(10)
        student.leave()
    except (OSError, EOFError, asyncio.TimeoutError):
        return False
    return not (student.wrong() or student.unanswered() or student.error)


def under(attack: Callable[[Place], Awaitable[str]], served: Served) -> Outcome:
    """One attack, and the others meanwhile."""
    said = []

    def act() -> None:
        try:
            said.append(asyncio.run(asyncio.wait_for(attack(served.place), 3 * LIMIT)))
        except (OSError, EOFError, asyncio.TimeoutError) as error:
            said.append(f"the attack itself failed: {error!r}")

    result = run(served, OTHERS, meanwhile=act)
    errors = list(result.errors)
    errors += [f"{result.wrong} wrong numbers"] if result.wrong else []
    errors += [f"{result.unanswered} unanswered"] if result.unanswered else []
    alive = served.alive() and asyncio.run(answers(served.place))
    name, rss = attack.__name__.replace("_", " "), served.reading().rss / 1e6
    return Outcome(name, said[0], result.answer_p95, tuple(errors), alive, rss)


class Siege(NamedTuple):
    """All attacks on one server."""

    outcomes: tuple[Outcome, ...]
    rss_start: float
    rss_end: float
    inside: dict[str, int]
    tracebacks: tuple[str, ...]
    log_lines: int

    def failures(self) -> list[str]:
        said = [line for outcome in self.outcomes for line in outcome.failures()]
        said += [f"{self.inside[kind]} {kind} left" for kind in ("sessions", "sockets") if self.inside[kind]]
        if self.tracebacks:
            said.append(f"{len(self.tracebacks)} tracebacks in the log, the first:\n{self.tracebacks[0]}")
        return said


def besiege(attacks: tuple[Callable[[Place], Awaitable[str]], ...] = ATTACKS) -> Siege:
    """Runs the attacks on a server that signs its tokens."""
    flags = (*FLAGS, "--unused-session-lifetime", "3000", "--check-unused-sessions", "500")
    signed = {"BOKEH_SECRET_KEY": "of this benchmark", "BOKEH_SIGN_SESSIONS": "yes"}
    with Served("app", flags, panel="tests.bench.inside", env=signed) as served:
        before = served.reading().rss / 1e6
        outcomes = tuple(under(attack, served) for attack in attacks)
        time.sleep(5)
        log = served.log()
        return Siege(outcomes, before, served.reading().rss / 1e6, served.inside(), tuple(served.tracebacks()), log.count("\n"))


def told(siege: Siege) -> str:
    lines = [
        f"{o.name}: others' p95 {o.p95:.1f} ms{'' if o.p95 <= TARGET else ' (**missed**)'}, {len(o.errors)} errors; "
        f"server {'alive' if o.alive else 'DEAD'}, {o.rss:.0f} MB; {o.said}"
        for o in siege.outcomes
    ]
    lines.append(
        f"memory {siege.rss_start:.1f} MB before, {siege.rss_end:.1f} MB after; left: {counts(siege.inside)}; "
        f"{len(siege.tracebacks)} tracebacks, {siege.log_lines} lines in the log"
    )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("attacks", nargs="*", help=f"of {', '.join(attack.__name__ for attack in ATTACKS)} (default: all)")
    args = parser.parse_args()
    siege = besiege(tuple(attack for attack in ATTACKS if not args.attacks or attack.__name__ in args.attacks))
    print(told(siege))
    if failures := siege.failures():
        raise SystemExit("\n".join(failures))


if __name__ == "__main__":
    main()
