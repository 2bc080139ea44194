"""Every measurement of the book's server beside plain Panel's, in one run: `python -m tests.bench` (`make bench`).

Takes about ten minutes, prints the tables and writes them to RESULTS.md. Fails on errors and wrong numbers, never on times:
those are for reading. `--quick` takes shorter runs and writes nothing.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path
from typing import NamedTuple

from tests.bench import cohort, hostile, page, soak
from tests.bench.cohort import Result
from tests.bench.page import Seen
from tests.bench.report import Row, bullets, machine, table
from tests.bench.student import DRAGS, SETTLE, Load

RESULTS = Path(__file__).parent / "RESULTS.md"
NOTES = """\
Both sides are measured in this one run, on the same cores as clients and browser. A ratio is plain Panel's figure over this
book's, the other way round where more is better. Plain Panel is the app in `plain_panel/`: the same controls, three Bokeh
heatmaps, data sources updated in place. The numbers in every answer are compared with the section's own `compute`. Students
of this book send a step when the one before is answered and skip what was overtaken meanwhile, as the lab's script does; plain
Panel's front end sends every move. `python tests/bench/training.py` measures the trainer."""


class Both(NamedTuple):
    """A load on this book and on plain Panel."""

    ours: Result
    plain: Result


class Figures(NamedTuple):
    """Everything that was measured."""

    seen: Seen
    plain_seen: Seen
    alone: Both
    drag: Both
    mixed: Result
    lecture: Result
    rush: Both


def say(what: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {what}", file=sys.stderr, flush=True)


def attend(what: str, load: Load, **how: float) -> Result:
    """Sends a class to a fresh server, after a few readers who come before the lecture."""
    say(f"{what}, {'plain Panel' if load.plain else 'this book'}")
    with cohort.server(plain=load.plain) as served:
        few = Load(students=4 * len(load.mix), hz=5, seconds=1, ramp=1, mix=load.mix, plain=load.plain)
        cohort.run(served, few)
        result = cohort.run(served, load, **how)
        tracebacks = tuple(f"in the log: {text.splitlines()[-1]}" for text in served.tracebacks())
    return result._replace(errors=result.errors + tracebacks)


def both(what: str, load: Load, **how: float) -> Both:
    return Both(attend(what, load, **how), attend(what, load._replace(plain=True), **how))


def measure(quick: bool) -> Figures:
    seconds, steps, wait = (4.0, 20, 0.0) if quick else (10.0, 60, 20.0)
    hundred = Load(students=100, hz=10, seconds=seconds)
    say("one page in a browser, this book")
    seen = page.look(plain=False, steps=steps)
    say("one page in a browser, plain Panel")
    plain_seen = page.look(plain=True, steps=steps)
    return Figures(
        seen,
        plain_seen,
        alone=both("one student drags at 60 moves a second", Load(students=1, hz=60, seconds=seconds, ramp=0)),
        drag=both("100 students drag", hundred, wait_for_leaving=wait),
        mixed=attend("100 students drag on four pages", hundred._replace(mix=tuple(DRAGS))),
        lecture=attend("300 students, 60 of them drag", hundred._replace(students=300, dragging=60, ramp=8)),
        rush=both("100 students open a page at once", hundred._replace(hz=1, seconds=1, ramp=0, assets=True)),
    )


def student_table(f: Figures) -> str:
    a, b = f.seen, f.plain_seen
    left = [] if f.drag.ours.rss_left is None else [Row("… of it kept after leaving", "MB", (None,), *map(kept, f.drag))]
    return table(
        "One student, three tokens",
        Row("key step to painted number, p50 / p95", "ms", (13, 18), (a.step_p50, a.step_p95), (b.step_p50, b.step_p95)),
        Row(
            "the same at 10 Mbit/s, 40 ms round trip", "ms", (65, None),
            (a.slow_step_p50, a.slow_step_p95), (b.slow_step_p50, b.slow_step_p95),
        ),
        Row("updates shown a second of a 60 Hz drag", "/s", (57,), (a.updates_per_s,), (b.updates_per_s,), more=True),
        Row("longest freeze in a drag / settle after it", "ms", (55, 10), (a.freeze, a.settle), (b.freeze, b.settle)),
        Row("server CPU per step", "ms", (1,), (f.alone.ours.cpu_per_step,), (f.alone.plain.cpu_per_step,)),
        Row(
            "page on the wire, first visit / second", "kB", (900, 60),
            (a.first_visit, a.second_visit), (b.first_visit, b.second_visit),
        ),
        Row(
            "first live number, local / slow line", "s", (0.5, 1.5),
            (a.live / 1000, a.slow_live / 1000), (b.live / 1000, b.slow_live / 1000),
        ),
        Row("memory per further page", "MB", (0.2,), (f.drag.ours.rss_per_student,), (f.drag.plain.rss_per_student,)),
        *left,
    )  # fmt: skip


def step_table(seen: Seen) -> str:
    """One step from the key to the painted number, and the same page without server or socket."""
    assert seen.line is not None
    names = ("sent", "server begins", "server ends", "answer received", "numbers written", "painted")
    cells = " → ".join(f"{name} {at:.1f}" for name, at in zip(names, seen.line))
    ratio = [ours / floor for ours, floor in ((seen.step_p50, seen.floor_p50), (seen.step_p95, seen.floor_p95))]
    return "\n".join([
        "## Where a step's time goes\n",
        "Median ms after the key, by the clocks of browser and server; the key itself waits for the next frame of a 60 Hz screen, half a",
        "frame (8.3 ms) on average. The floor is the same page with its numbers computed in the page, in the same run.\n",
        f"- key → {cells}",
        f"- key step p50 / p95: {seen.step_p50:.1f} / {seen.step_p95:.1f} ms; floor {seen.floor_p50:.1f} / {seen.floor_p95:.1f} ms; "
        f"ratio {ratio[0]:.2f} / {ratio[1]:.2f} (target ≤ 1.3)",
        f"- settle after a 60 Hz drag: {seen.settle:.1f} ms; floor {seen.floor_settle:.1f} ms",
    ])  # fmt: skip


def kept(r: Result) -> tuple[float]:
    """Memory per student that the server has not given back."""
    return ((r.rss_left - r.rss_start) / r.students,)


def class_table(f: Figures) -> str:
    (ours, plain), (rush, plain_rush) = f.drag, f.rush
    return table(
        "A class, clients on the same cores",
        Row("100 students drag, 10 steps/s each: answer p50 / p95 / p99", "ms", (None, 150, None), answers(ours), answers(plain)),
        Row("… settled after the last move", "ms", (None,), (ours.settle,), (plain.settle,)),
        Row("… steps answered until all is settled", "/s", (None,), (ours.steps_per_s,), (plain.steps_per_s,), more=True),
        Row("… server CPU per step", "ms", (1,), (ours.cpu_per_step,), (plain.cpu_per_step,)),
        Row("the same on four different pages: answer p50 / p95 / p99", "ms", (None, 150, None), answers(f.mixed)),
        Row("… server CPU per step", "ms", (1,), (f.mixed.cpu_per_step,)),
        Row("300 students connected, 60 drag: answer p50 / p95 / p99", "ms", (None, 100, None), answers(f.lecture)),
        Row(
            "100 students open one page at once, with all its files: last one live", "s", (5,),
            (rush.open_last / 1000,), (plain_rush.open_last / 1000,),
        ),
        Row("server CPU per page opened", "ms", (25,), (ours.cpu_per_open,), (plain.cpu_per_open,)),
        Row("opening a page, 20 a second come: p50 / p95", "ms", (None,), opening(ours), opening(plain)),
    )  # fmt: skip


def answers(r: Result) -> tuple[float, float, float]:
    return r.answer_p50, r.answer_p95, r.answer_p99


def opening(r: Result) -> tuple[float, float]:
    return r.open_p50, r.open_p95


def aside(r: Result) -> str:
    """What stands behind the table's figures of 100 students who drag."""
    return (
        f"{r.steps} answers to {r.moves} moves, {r.unanswered} moves unanswered {SETTLE:g} s after the last, {r.wrong} wrong "
        f"numbers, {len(r.errors)} errors; {100 * r.cpu_share:.0f} % of a core for the server, "
        f"{100 * r.client_share:.0f} % for the clients"
    )


def failures(f: Figures) -> list[str]:
    """Errors, wrong numbers and unanswered steps of this book."""
    said = []
    runs = {"alone": f.alone.ours, "drag": f.drag.ours, "mixed": f.mixed, "lecture": f.lecture, "rush": f.rush.ours}
    for name, r in runs.items():
        said += [f"{name}: {error}" for error in r.errors[:3]]
        said += [f"{name}: {r.wrong} wrong numbers, {r.unanswered} unanswered"] if r.wrong or r.unanswered else []
    return said


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="shorter runs, nothing is written")
    quick = parser.parse_args().quick
    where, load, start = machine(), os.getloadavg()[0], time.perf_counter()
    if load > 1:
        say(f"the load average is {load:.1f}: other work is running, and times will be too long")
    f = measure(quick)
    say("pages opened and closed")
    soaked = soak.soak(200 if quick else 1000)
    say("hostile readers")
    siege = hostile.besiege()
    report = "\n\n".join([
        "# What `make bench` measured",
        f"{where}, Chromium {f.seen.chromium} · load average at the start {load:.1f} · "
        f"took {(time.perf_counter() - start) / 60:.0f} minutes",
        NOTES,
        student_table(f),
        step_table(f.seen),
        class_table(f),
        f"- 100 students who drag, this book: {aside(f.drag.ours)}\n- plain Panel: {aside(f.drag.plain)}",
        f"## Soak\n\n{bullets(soak.told(soaked))}",
        f"## Hostile readers\n\nTen other students drag meanwhile (target: p95 ≤ 200 ms).\n\n{bullets(hostile.told(siege))}",
    ])  # fmt: skip
    print(report)
    if not quick:
        RESULTS.write_text(report + "\n", encoding="utf-8")
    bad = failures(f) + soaked.failures() + siege.failures()
    for line in bad:
        print(f"FAILED {line}", file=sys.stderr)
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())
