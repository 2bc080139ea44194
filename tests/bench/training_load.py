"""Step latency while the server trains: `python -m tests.bench.training_load --students 10 --seconds 20`.

Students drag `three_tokens` through the real protocol, first with nothing else going on, then while two long runs train and
their readers poll, on the same cores. Prints both rows; fails on errors and wrong numbers, never on times.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from typing import Any

import numpy as np

from content import toc
from tests.bench.serving import FLAGS, Served
from tests.bench.student import Load, Student
from tests.bench.wire import TOKEN, Line, Place, fetch_page

PAGE = "cue_recall"
POLL = 0.5  # seconds
READY = 60.0  # seconds for both runs to be at work
RUNS = (
    {"model": "gru", "delay": 32, "epochs": 120, "seed": 6210},
    {"model": "transformer", "delay": 32, "epochs": 120, "seed": 6211},
)


class Trainer:
    """A reader who trains a run and watches it."""

    def __init__(self, number: int, controls: dict[str, Any], place: Place) -> None:
        self.reader, self.place = f"trainer-{number}", place
        self.values = toc.load(PAGE).defaults() | controls
        self.answered: asyncio.Future[dict[str, Any]] | None = None
        self.snapshot: dict[str, Any] = {}

    async def open(self) -> None:
        html, _ = await fetch_page(self.place, f"?page={PAGE}&lang=en", assets=False)
        self.line = await Line.open(self.place, TOKEN.search(html)[1], self.hear)
        await self.ask(kind="train", values=self.values)

    async def ask(self, **message: Any) -> None:
        self.answered = asyncio.get_running_loop().create_future()
        text = json.dumps({"id": 1, "page": PAGE, "reader": self.reader, **message})
        event = {"kind": "MessageSent", "msg_type": "lab", "msg_data": text}
        self.line.send("PATCH-DOC", json.dumps({"events": [event]}))
        head = await self.answered
        for snapshot in head.get("runs", [head]):
            self.snapshot = snapshot

    def hear(self, frames: list[bytes]) -> None:
        if b"MessageSent" in frames[2] and self.answered and not self.answered.done():
            self.answered.set_result(json.loads(json.loads(frames[2])["events"][0]["msg_data"][0]))

    async def watch(self) -> None:
        while True:
            await asyncio.sleep(POLL)
            await self.ask(kind="watch", runs={self.snapshot["run"]: self.snapshot["version"]})

    @property
    def at_work(self) -> bool:
        return self.snapshot.get("state") == "running" and self.snapshot["epoch"] > 0


async def measure(served: Served, load: Load) -> bool:
    """Prints the two rows; whether all went well."""
    students = [Student(number, load, served.place) for number in range(load.students)]
    await asyncio.gather(*(student.open() for student in students))
    print(f"{load.students} students at three_tokens, {load.hz:g} steps/s each, {load.seconds:g} s; answer times in ms")
    await drag("nothing trains", students)
    trainers = [Trainer(number, controls, served.place) for number, controls in enumerate(RUNS)]
    await asyncio.gather(*(trainer.open() for trainer in trainers))
    watching = [asyncio.create_task(trainer.watch()) for trainer in trainers]
    async with asyncio.timeout(READY):
        while not all(trainer.at_work for trainer in trainers):
            await asyncio.sleep(0.1)
    before = [trainer.snapshot["epoch"] for trainer in trainers]
    await drag("two runs train", students)
    done = [trainer.snapshot["epoch"] - start for trainer, start in zip(trainers, before)]
    print(f"epochs trained meanwhile: {' and '.join(map(str, done))}; still at work: {all(t.at_work for t in trainers)}")
    for task in watching:
        task.cancel()
    errors = [student.error for student in students if student.error]
    wrong = sum(student.wrong() for student in students)
    print(f"wrong answers: {wrong}; errors: {errors or 'none'}; tracebacks in the log: {len(served.tracebacks())}")
    for student in students:
        student.leave()
    return not errors and not wrong and all(done)


async def drag(what: str, students: list[Student]) -> None:
    await asyncio.gather(*(student.drag() for student in students))
    times = 1000 * np.concatenate([student.times for student in students])
    p50, p95, p99 = np.percentile(times, [50, 95, 99])
    row = f"p50 {p50:6.1f}  p95 {p95:6.1f}  p99 {p99:6.1f}  longest {times.max():6.1f}"
    print(f"{what:16} {row}  ({times.size} steps)", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--students", type=int, default=10)
    parser.add_argument("--hz", type=float, default=10.0)
    parser.add_argument("--seconds", type=float, default=20.0)
    options = parser.parse_args()
    load = Load(students=options.students, hz=options.hz, seconds=options.seconds)
    with tempfile.TemporaryDirectory() as data, Served(flags=FLAGS, env={"BOOK_DATA": data}) as served:
        return 0 if asyncio.run(measure(served, load)) else 1


if __name__ == "__main__":
    sys.exit(main())
