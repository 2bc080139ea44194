"""A class of students at one server, through the real protocol: `python -m tests.bench.cohort --students 100 --hz 10`.

Each student does what the browser does for a page: gets the HTML, opens the socket with its token, sends the first
step on the greeting, then drags a slider: values move at `hz`, one step is in flight, the latest wins. Every answer is kept
and compared after the drag with the section's own `compute`. Students run in processes of their own, so that the server's
CPU time and memory are the server's alone. `--plain` does the same to plain Panel, whose front end sends every move.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from math import nan
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any, Callable, NamedTuple, Sequence

from content import toc
from tests.bench.serving import FLAGS, Served
from tests.bench.student import DRAGS, Load, PlainStudent, Student
from tests.bench.wire import Place

PATIENCE = 120.0  # seconds until an open counts as an error


class Result(NamedTuple):
    """What came of a load. Times in milliseconds, memory in MB."""

    students: int
    open_p50: float
    open_p95: float
    open_last: float  # from the first student's coming to the last one live
    cpu_per_open: float
    answer_p50: float
    answer_p95: float
    answer_p99: float
    steps: int  # answered
    moves: int
    steps_per_s: float
    cpu_per_step: float
    cpu_share: float  # of one core, while they dragged
    client_share: float
    settle: float  # from the last move to the last answer
    rss_start: float
    rss_per_student: float
    rss_left: float | None  # after all left and their sessions were dropped
    wrong: int
    unanswered: int
    errors: tuple[str, ...]


def attend(pipe: Connection, load: Load, place: Place, numbers: range) -> None:
    """A client process: some of the students, who come, drag and leave when told to."""
    asyncio.run(attend_some(pipe, load, place, numbers))


async def attend_some(pipe: Connection, load: Load, place: Place, numbers: range) -> None:
    loop = asyncio.get_running_loop()
    for section in load.mix:
        toc.load(section)
    students = [(PlainStudent if load.plain else Student)(number, load, place) for number in numbers]
    errors = []

    async def come(student: Student) -> float | None:
        await asyncio.sleep(load.ramp * student.number / load.students)
        try:
            return await asyncio.wait_for(student.open(), PATIENCE)
        except (OSError, EOFError, asyncio.TimeoutError) as error:
            errors.append(f"student {student.number} could not open: {error!r}")
            return None

    pipe.send("here")
    pipe.recv()
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
        "times": [1000 * seconds for student in movers for seconds in student.times],
        "moves": sum(student.moves for student in movers),
        "settle": 1000 * max(settles, default=0.0),
        "wrong": sum(student.wrong() for student in students),
        "unanswered": sum(student.unanswered() for student in students),
        "errors": errors + [student.error for student in students if student.error],
    })  # fmt: skip
    await loop.run_in_executor(None, pipe.recv)
    for student in students:
        student.leave()
    await asyncio.sleep(0.2)


def run(
    served: Served, load: Load, *, wait_for_leaving: float = 0.0, meanwhile: Callable[[], Any] = lambda: None
) -> Result:
    """Sends a class to a running server. With `wait_for_leaving` it waits that many seconds to see what is given back.

    `meanwhile` is called here, in the process that watches, once they drag.
    """
    context = get_context("spawn")
    pipes, processes = [], []
    for k in range(load.processes):
        ours, theirs = context.Pipe()
        numbers = range(k, load.students, load.processes)
        pipes.append(ours)
        processes.append(context.Process(target=attend, args=(theirs, load, served.place, numbers), daemon=True))
        processes[-1].start()
    try:
        return follow(served, load, pipes, wait_for_leaving, meanwhile)
    finally:
        for process in processes:
            process.join(5)
            process.terminate()


def follow(
    served: Served, load: Load, pipes: list[Connection], wait_for_leaving: float, meanwhile: Callable[[], Any]
) -> Result:
    """Leads the clients from stage to stage and reads the server's meters between them."""

    def say(word: str) -> float:
        for pipe in pipes:
            pipe.send(word)
        return time.perf_counter()

    for pipe in pipes:
        pipe.recv()
    before, start = served.reading(), say("come")
    opens = [1000 * seconds for pipe in pipes for seconds in pipe.recv()]
    last = 1000 * (time.perf_counter() - start)
    opened, start = served.reading(), say("drag")
    meanwhile()
    client_cpu = sum(pipe.recv() for pipe in pipes)
    elapsed = time.perf_counter() - start
    dragged = served.reading()
    stories = [pipe.recv() for pipe in pipes]
    say("leave")
    left = None
    if wait_for_leaving:
        time.sleep(wait_for_leaving)
        left = served.reading().rss / 1e6
    times = [t for story in stories for t in story["times"]]
    cpu = dragged.cpu - opened.cpu
    return Result(
        students=load.students,
        open_p50=percentile(opens, 0.5),
        open_p95=percentile(opens, 0.95),
        open_last=last,
        cpu_per_open=1000 * (opened.cpu - before.cpu) / (len(opens) or nan),
        answer_p50=percentile(times, 0.5),
        answer_p95=percentile(times, 0.95),
        answer_p99=percentile(times, 0.99),
        steps=len(times),
        moves=sum(story["moves"] for story in stories),
        steps_per_s=len(times) / elapsed,
        cpu_per_step=1000 * cpu / (len(times) or nan),
        cpu_share=cpu / elapsed,
        client_share=client_cpu / elapsed,
        settle=max(story["settle"] for story in stories),
        rss_start=before.rss / 1e6,
        rss_per_student=(opened.rss - before.rss) / 1e6 / (len(opens) or nan),
        rss_left=left,
        wrong=sum(story["wrong"] for story in stories),
        unanswered=sum(story["unanswered"] for story in stories),
        errors=tuple(error for story in stories for error in story["errors"]),
    )


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which `share` of them lie; NaN where there are none.

    >>> percentile([3.0, 1.0, 2.0], 0.5)
    2.0
    """
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else nan


def told(r: Result) -> str:
    """The result as lines of text."""
    left = "" if r.rss_left is None else f", {r.rss_left:.1f} after all left"
    return "\n".join([
        f"open     p50 {r.open_p50:.0f} ms, p95 {r.open_p95:.0f} ms, last one live {r.open_last / 1000:.2f} s; "
        f"server CPU {r.cpu_per_open:.1f} ms each",
        f"answer   p50 {r.answer_p50:.1f} ms, p95 {r.answer_p95:.1f} ms, p99 {r.answer_p99:.1f} ms; "
        f"settled {r.settle:.0f} ms after the last move",
        f"steps    {r.steps} of {r.moves} moves, {r.steps_per_s:.0f}/s; server CPU {r.cpu_per_step:.2f} ms each, "
        f"{100 * r.cpu_share:.0f} % of a core (clients {100 * r.client_share:.0f} %)",
        f"memory   {r.rss_start:.1f} MB at the start, {r.rss_per_student:.3f} MB a student{left}",
        f"errors   {len(r.errors)} errors, {r.wrong} wrong numbers, {r.unanswered} unanswered",
        *(f"         {error}" for error in r.errors[:5]),
    ])  # fmt: skip


def server(*, plain: bool = False, flags: Sequence[str] = (), names: Sequence[int] = ()) -> Served:
    """The book's server, or plain Panel's; `names` are more ports that readers may come by."""
    return Served("tests/bench/plain_panel" if plain else "app", (*FLAGS, *flags), names=names, panel="panel" if plain else "tests.bench.inside")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--students", type=int, default=100)
    parser.add_argument("--dragging", type=int, help="how many of them drag (default: all)")
    parser.add_argument("--hz", type=float, default=10.0, help="moves of the slider a second")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--ramp", type=float, default=5.0, help="seconds over which they come; 0: all at once")
    parser.add_argument("--mix", default="three_tokens", help=f"sections, separated by commas, of {', '.join(DRAGS)}")
    parser.add_argument("--assets", action="store_true", help="fetch scripts, styles and fonts too")
    parser.add_argument("--processes", type=int, default=1, help="client processes")
    parser.add_argument("--num-procs", type=int, default=1, help="server processes")
    parser.add_argument("--wait", type=float, default=0.0, help="seconds to wait for what is given back after leaving")
    parser.add_argument("--plain", action="store_true", help="plain Panel instead of the book")
    a = parser.parse_args()
    load = Load(a.students, a.dragging, a.hz, a.seconds, a.ramp, tuple(a.mix.split(",")), a.assets, a.plain, a.processes)
    with server(plain=a.plain, flags=("--num-procs", str(a.num_procs))) as served:
        print(told(run(served, load, wait_for_leaving=a.wait)))
        if tracebacks := served.tracebacks():
            print(f"{len(tracebacks)} tracebacks in the log, the first:\n{tracebacks[0]}")


if __name__ == "__main__":
    main()
