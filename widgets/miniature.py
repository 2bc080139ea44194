"""A tiny picture of one array, drawn as inline SVG that follows the page's look: cells, curves or bars without axes and numbers.

`miniature.js` holds the same drawing for arrays that change while the page is open; a browser test compares the two.
"""

from __future__ import annotations

from html import escape
from typing import Any, NamedTuple

import numpy as np

from widgets.matrix import DIVERGING, SHARES
from widgets.text import Text, attributes

CELLS, LINES, BARS = "cells", "lines", "bars"
MOST_ROWS = {CELLS: 16, LINES: 5, BARS: 4}
MOST_COLUMNS = {CELLS: 24, LINES: 120, BARS: 32}
WIDTH, HEIGHT = 100, 60  # of curves and bars, in units of the drawing
EDGE = 4  # between a curve and the frame, so that its stroke is whole

Mark = tuple[str, dict[str, Any]]


class Miniature(NamedTuple):
    """`array` (at most rows × columns) as `kind`: CELLS, LINES (a curve for each row) or BARS (a band for each row).

    Cells and bars have the colours of the tables: DIVERGING around zero up to ±`most`, or SHARES from 0 to `most` (None: the
    largest magnitude). Curves run from `low` to `high` (None: of the numbers); with `log`, numbers that are not positive are
    left out. Where an axis is longer than `MOST_ROWS` or `MOST_COLUMNS`, every k-th element is drawn, counted from the first.
    """

    array: str
    kind: str = CELLS
    colours: str = DIVERGING
    most: float | None = None
    low: float | None = None
    high: float | None = None
    log: bool = False

    def html(self, trace: Any, text: Text | None = None) -> str:
        """The drawing at `trace` (None: empty), named as the array is, or without `text` hidden from screen readers."""
        rows = None if trace is None else self.rows(getattr(trace, self.array))
        box = f"0 0 {rows.shape[1]} {rows.shape[0]}" if rows is not None and self.kind == CELLS else f"0 0 {WIDTH} {HEIGHT}"
        said = {"role": "img", "aria_label": text.label("arrays", self.array)} if text else {"aria_hidden": "true"}
        data = attributes(
            class_=f"miniature {self.colours}", data_miniature=self.array, data_kind=self.kind, data_most=self.most, data_low=self.low,
            data_high=self.high, data_log=self.log, viewBox=box, preserveAspectRatio="none", **said,
        )  # fmt: skip
        marks = [] if rows is None else {CELLS: self._cells, LINES: self._lines, BARS: self._bars}[self.kind](rows)
        drawn = "".join(f"<{name} {_attributes(given)}></{name}>" for name, given in marks)
        return f"<svg {data}>{drawn}</svg>"

    def rows(self, array: Any) -> np.ndarray:
        """What is drawn of an array of any shape, (rows, columns)."""
        numbers = np.asarray(array, float)
        numbers = numbers.reshape(1, -1) if numbers.ndim < 2 else numbers.reshape(len(numbers), -1)
        return thin(thin(numbers, MOST_ROWS[self.kind]).T, MOST_COLUMNS[self.kind]).T

    def _share(self, rows: np.ndarray) -> np.ndarray:
        most = self.most or float(np.abs(rows).max(initial=0.0)) or 1.0
        return np.clip(rows / most, -1.0, 1.0)

    def _cells(self, rows: np.ndarray) -> list[Mark]:
        gap = 0.06 if rows.size <= 100 else -0.02  # many small cells touch, and hide the seams between them
        size = 1 - 2 * gap
        return [
            ("rect", {"class": sign(share), "x": j + gap, "y": i + gap, "width": size, "height": size, "style": f"--t:{abs(share):.2f}"})
            for (i, j), share in np.ndenumerate(self._share(rows))
        ]

    def _bars(self, rows: np.ndarray) -> list[Mark]:
        band, step = HEIGHT / rows.shape[0], WIDTH / rows.shape[1]
        room = band - EDGE if self.colours == SHARES else (band - EDGE) / 2  # what the largest bar takes
        marks: list[Mark] = []
        for (i, j), share in np.ndenumerate(self._share(rows)):
            base, long = (i + 1) * band - EDGE / 2 - (0 if self.colours == SHARES else room), abs(share) * room
            place = {"x": j * step + 0.1 * step, "y": base - (long if share >= 0 else 0), "width": 0.8 * step, "height": long}
            marks.append(("rect", {"class": sign(share), **place}))
        return marks

    def _lines(self, rows: np.ndarray) -> list[Mark]:
        if self.log:
            rows = np.log10(rows, where=rows > 0, out=np.full(rows.shape, np.nan))
        seen = rows[np.isfinite(rows)]
        low, high = (float(np.log10(end)) if self.log and end else end for end in (self.low, self.high))
        low = low if low is not None else seen.min() if seen.size else 0.0
        high = high if high is not None else seen.max() if seen.size else 0.0
        scale = max(abs(low), abs(high)) or 1.0  # huge numbers have a difference as well
        rows, low, high = np.clip(rows, low, high) / scale, low / scale, high / scale
        share = (rows - low) / (high - low) if high > low else np.where(np.isfinite(rows), 0.5, np.nan)
        height = EDGE + (HEIGHT - 2 * EDGE) * (1 - share)
        across = WIDTH * np.arange(rows.shape[1]) / max(1, rows.shape[1] - 1)
        return [("path", {"class": f"curve v{i}", "d": _way(across, line)}) for i, line in enumerate(height)]


def thin(numbers: np.ndarray, most: int) -> np.ndarray:
    """Every k-th row, so that there are at most `most`.

    >>> thin(np.arange(7), 3).tolist()
    [0, 3, 6]
    """
    return numbers[:: max(1, -(-len(numbers) // most))]


def sign(share: float) -> str:
    """Class of a mark: the stylesheet colours it."""
    return "negative" if share < 0 else "positive"


def _way(across: np.ndarray, line: np.ndarray) -> str:
    """A path through the points that exist."""
    points, pen = [], "M"
    for x, y in zip(across, line):
        points.append(f"{pen}{x:.1f} {y:.1f}" if np.isfinite(y) else "")
        pen = "L" if np.isfinite(y) else "M"
    return "".join(points)


def _attributes(given: dict[str, Any]) -> str:
    written = ((name, f"{value:.2f}" if isinstance(value, float) else value) for name, value in given.items())
    return " ".join(f'{name}="{escape(str(value))}"' for name, value in written)
