"""An engine and a clock for tests of the desk: slices are done when the test says so."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import numpy as np

from app.training.cluster import Unavailable
from app.training.slices import Progress
from content.experiments.cue_recall.checkpoint import start, to_bytes
from content.experiments.cue_recall.configuration import Configuration

EPOCHS = 3


def run(number: int, **other) -> Configuration:
    """A short run of its own for each number; one slice of the fake engine is one epoch."""
    return Configuration("rnn", 1, number, **{"epochs": EPOCHS, "train_size": 128, **other})


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Engine:
    """Does nothing but count: `order` lists the slices in the order they were given, `finish` lets one through."""

    def __init__(self, slots: int = 2, unavailable: str | None = None) -> None:
        self.slots, self.unavailable, self.trouble, self.alive = slots, unavailable, None, True
        self.order: list[str] = []
        self.waiting: list[tuple[str, asyncio.Future]] = []
        self.answers: dict[str, Exception | str] = {}  # by key of the run: an exception, or why it diverged
        self.opened = self.closed = 0

    async def open(self) -> None:
        self.opened += 1
        if self.unavailable:
            raise Unavailable(self.unavailable)

    async def look(self) -> None:
        pass

    async def forget(self, configuration) -> None:
        pass

    async def close(self) -> None:
        self.closed += 1

    def end(self) -> None:
        self.closed += 1

    async def advance(self, configuration: Configuration, progress: Progress | None) -> Progress:
        key = configuration.key()
        self.order.append(key)
        gate = asyncio.get_running_loop().create_future()
        self.waiting.append((key, gate))
        await gate
        answer = self.answers.get(key)
        if isinstance(answer, Exception):
            raise answer
        epochs = (progress.curves.shape[1] if progress else 0) + 1
        done = epochs == configuration.epochs
        return Progress(
            to_bytes(start(replace(configuration))), epochs * configuration.steps_per_epoch, np.full((4, epochs), 0.5),
            (1.0, 0.0) if done and not answer else None, float(epochs), {"numpy": "any"}, answer,
        )  # fmt: skip

    async def finish(self, count: int = 1) -> None:
        """Lets that many slices through, the oldest first, and the desk do what follows."""
        for _ in range(count):
            _, gate = self.waiting.pop(0)
            gate.set_result(None)
            await settle(self.desk)


async def settle(desk) -> None:
    """Waits until nothing of the desk's is left to do but the slices that `finish` has not let through."""
    still = 0
    while still < 5:
        await asyncio.sleep(0.001)
        still = still + 1 if len(desk.tasks) == len(desk.engine.waiting) else 0
