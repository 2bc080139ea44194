"""The measurement of section `connections`: how long layers take on this server, made once and kept.

Pieces of half a second are done on a training worker, one after the other and never two at a time, whoever asks.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import time
from datetime import date
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from app.training.cluster import Failed, Lost, Unavailable, one_line
from app.training.desk import RETRY, Desk
from content.experiments import layer_times
from content.experiments.cue_recall import runs

log = logging.getLogger(__name__)

PIECES = list(product(layer_times.KINDS, layer_times.LENGTHS))
ATTEMPTS = 3  # at a piece whose worker is lost


class Meter:
    """`ask` answers readers from memory."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.state, self.message = "absent", None
        self.times: dict[tuple[str, int], list[float]] = {}
        self.made: dict[str, Any] = {}
        self.task: asyncio.Task | None = None
        self.tried_at = float("-inf")
        self._load()

    def ask(self, start: bool) -> dict[str, Any]:
        """How far the measurement is; with `start` it is made, unless there is one."""
        if start and self.state in ("absent", "failed") and time.monotonic() - self.tried_at > RETRY:
            self.state, self.message, self.tried_at = "running", None, time.monotonic()
            self.times = {}
            self.task = asyncio.create_task(self._measure())
        return self.snapshot()

    def snapshot(self) -> dict[str, Any]:
        """What a page shows: milliseconds by kind, for each length done the smallest, the median and the 90th percentile."""
        rows = {kind: [] for kind in layer_times.KINDS}
        for (kind, length), seconds in self.times.items():
            rows[kind].append([length, *spread(seconds)])
        return {
            "state": self.state, "message": self.message, "done": len(self.times), "total": len(PIECES),
            "width": layer_times.WIDTH, "taps": layer_times.TAPS, "milliseconds": rows, "made": self.made,
        }  # fmt: skip

    async def _measure(self) -> None:
        try:
            self.made = await self._piece(layer_times.computed_with) | {"date": date.today().isoformat()}
            for kind, length in PIECES:
                self.times[kind, length] = await self._piece(layer_times.measure, kind, length)
        except (Unavailable, Failed, Lost) as problem:
            self.state, self.message = "failed", "the training cluster is lost" if isinstance(problem, Lost) else str(problem)
        except Exception as problem:
            log.error("the measurement failed: %s", one_line(problem))
            self.state, self.message = "failed", "the measurement failed on the server"
        else:
            await asyncio.to_thread(self._keep)  # kept first: what is said to be finished outlives a restart
            self.state = "finished"

    async def _piece(self, function: Any, *arguments: Any) -> Any:
        for attempt in range(ATTEMPTS):
            engine = await self.desk.opened()
            try:
                return await engine.compute(function, *arguments)
            except Lost as problem:
                self.desk.lose(problem)
                if attempt == ATTEMPTS - 1:
                    raise

    def _load(self) -> None:
        try:
            kept = json.loads(path().read_text(encoding="utf-8"))
            times = {(kind, length): kept["seconds"][kind][str(length)] for kind, length in PIECES}
            if not all(value > 0 for values in times.values() for value in values):
                raise ValueError("a time is not above zero")
            self.times, self.made, self.state = times, dict(kept["made"]), "finished"
        except FileNotFoundError:
            pass
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as problem:
            log.warning("%s is left alone and made anew when asked for: %s", path().name, one_line(problem))

    def _keep(self) -> None:
        seconds = {kind: {str(length): self.times[kind, length] for length in layer_times.LENGTHS} for kind in layer_times.KINDS}
        try:
            runs.write_whole(path(), json.dumps({"made": self.made, "seconds": seconds}).encode())
        except OSError as problem:
            log.warning("the measurement cannot be kept in %s: %s", path(), problem.strerror)


def path() -> Path:
    """Where the measurement is kept."""
    return Path(os.environ.get("BOOK_DATA") or "data") / "layer_times.json"


def spread(seconds: list[float]) -> list[float]:
    """Smallest, median and 90th percentile in milliseconds, to four digits."""
    return [float(f"{1000 * value:.4g}") for value in np.percentile(seconds, [0, 50, 90])]
