"""What a training worker does: one slice of a run, about a quarter of a second. Only NumPy; the web process never calls it."""

from __future__ import annotations

import os
import time
from typing import Any, NamedTuple

import numpy as np

from content.experiments.cue_recall import results
from content.experiments.cue_recall.checkpoint import Checkpoint, from_bytes, start, to_bytes
from content.experiments.cue_recall.configuration import Configuration
from content.experiments.cue_recall.train import Diverged, advance

NICENESS = 10  # readers' steps come first
SECONDS = 0.25  # a slice's length
FIRST = 4  # updates, to find out how long one takes
PACE: dict[tuple, float] = {}  # seconds an update took in this process, by kind of run


class Progress(NamedTuple):
    """How far a run has come: its checkpoint, and what a page shows of it."""

    checkpoint: bytes
    step: int
    curves: np.ndarray  # (4, epochs done), in the order of CURVES
    test: tuple[float, float] | None  # recall accuracy and cross-entropy, once the run is finished
    seconds: float  # of computing so far
    versions: dict[str, str]
    diverged: str | None = None  # why the run cannot go on


def dask_setup(worker: Any) -> None:
    """Called in each worker process that is started with `--preload app.training.slices`."""
    os.setpriority(os.PRIO_PROCESS, 0, NICENESS)


def advance_slice(configuration: dict[str, Any], checkpoint: bytes | None, seconds: float = SECONDS) -> Progress:
    """Go on with a run for about `seconds`, at least one update. None as `checkpoint` starts it.

    The same run always goes the same way, however it is cut: a slice lost with its worker is simply done again.
    """
    end = time.perf_counter() + seconds
    state = from_bytes(checkpoint) if checkpoint else start(Configuration.from_dict(configuration))
    first = state.configurations[0]
    kind = (first.model, first.delay, first.batch)
    while not state.finished:
        steps = max(1, int((end - time.perf_counter()) / PACE[kind])) if kind in PACE else FIRST
        began = time.perf_counter()
        try:
            after, _ = advance(state, steps)
        except Diverged as problem:
            return progress(*last_good(state, steps, str(problem)))
        PACE[kind] = (time.perf_counter() - began) / max(after.step - state.step, 1)
        state = after
        if end - time.perf_counter() < seconds / 4:
            break
    return progress(state)


def last_good(state: Checkpoint, steps: int, problem: str) -> tuple[Checkpoint, str]:
    """The state right before the update at which the run diverges within `steps`, and what is said of it."""
    while steps > 1:
        half = steps // 2
        try:
            state, _ = advance(state, half)
            steps -= half
        except Diverged as again:
            problem, steps = str(again), half
    return state, problem


def progress(state: Checkpoint, diverged: str | None = None, versions: dict[str, str] | None = None) -> Progress:
    """What there is to tell of a checkpoint of one run."""
    test = (float(state.test[0, 0]), float(state.test[1, 0])) if state.finished else None
    return Progress(
        to_bytes(state), state.step, state.curves[:, :, 0], test, state.seconds, versions or results.versions(), diverged
    )
