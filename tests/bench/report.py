"""Figures of this book beside plain Panel's, as a Markdown table, and the machine they were taken on."""

from __future__ import annotations

import math
import os
import platform
from datetime import date
from importlib.metadata import version
from typing import NamedTuple, Sequence

import psutil

HEAD = "| what | target | this book | plain Panel | ratio | |\n|---|---|---|---|---|---|"


class Row(NamedTuple):
    """A line of a table: figures of both sides, and what ours should not exceed (or reach, where `more` is better)."""

    what: str
    unit: str
    targets: Sequence[float | None]
    ours: Sequence[float]
    plain: Sequence[float] | None = None
    more: bool = False

    def met(self) -> bool | None:
        """Whether every target is met; None where there is none."""
        pairs = [(target, value) for target, value in zip(self.targets, self.ours) if target is not None]
        return all(value >= target if self.more else value <= target for target, value in pairs) if pairs else None

    def ratio(self) -> float | None:
        """How many times better than plain Panel the first figure is; None where one of them is missing."""
        if self.plain is None or not self.ours[0] > 0 or not self.plain[0] > 0:
            return None
        return self.ours[0] / self.plain[0] if self.more else self.plain[0] / self.ours[0]

    def text(self) -> str:
        sign, ratio = "≥" if self.more else "≤", self.ratio()
        limits = ["–" if limit is None else f"{sign} {number(limit)}" for limit in self.targets]
        cells = [
            self.what,
            f"{' / '.join(limits)} {self.unit}" if any(self.targets) else "–",
            figures(self.ours, self.unit),
            figures(self.plain, self.unit),
            "–" if ratio is None else f"{number(ratio)} ×",
            {True: "met", False: "**missed**", None: ""}[self.met()],
        ]
        return f"| {' | '.join(cells)} |"


def number(value: float) -> str:
    """Three significant digits, or all before the point.

    >>> number(0.1234), number(16.72), number(3034.1), number(math.nan)
    ('0.123', '16.7', '3034', '–')
    """
    if math.isnan(value):
        return "–"
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def figures(values: Sequence[float] | None, unit: str) -> str:
    if values is None or all(map(math.isnan, values)):
        return "–"
    return f"{' / '.join(map(number, values))} {unit}"


def table(title: str, *rows: Row) -> str:
    return "\n".join([f"## {title}\n", HEAD, *(row.text() for row in rows)])


def bullets(text: str) -> str:
    return "\n".join(f"- {line}" for line in text.splitlines())


def machine() -> str:
    """Where and when this runs."""
    try:
        model = next(line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name"))
    except (OSError, StopIteration):
        model = platform.processor()
    cores, memory = len(os.sched_getaffinity(0)), psutil.virtual_memory().total / 2**30
    packages = ", ".join(f"{name} {version(name.lower())}" for name in ("Panel", "Bokeh", "Tornado", "NumPy"))
    return f"{date.today()} · {cores} cores ({model}), {memory:.0f} GB · Python {platform.python_version()}, {packages}"
