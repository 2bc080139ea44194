"""Curves over an index, on a linear or a logarithmic axis, told apart by colour, dash and marker."""

from __future__ import annotations

from typing import Any, NamedTuple, Sequence

from bokeh.models import ColumnDataSource, FixedTicker, Span

from widgets.figure import HEIGHT, arrays_of, axes_of, figure_html, figure_item, frame, legend_html
from widgets.text import Text

DASHES = ("solid", "dashed", "dotdash", "dotted", "solid")
MARKERS = ("circle", "square", "triangle", "diamond", "x")


class Lines(NamedTuple):
    """One curve for each array in `series` ("weights[0]" is a row of one, named by axis `rows`).

    `x`: an array of the same length that they are drawn over (None: 0, 1, 2 …).
    On a log axis (`log`) values that are not positive are left out: say in the section what that means.
    `at`: a control or array that holds a place on the x axis; it is marked. `low`, `high` fix the y axis.
    `first`: the place of the first element, without `x`. `band`: an array; from minus to plus its numbers the ground is shaded.
    `legend`: whether it has its own. `ticks`: each number of `x` is a tick of a logarithmic x axis.
    `thin`: many curves of one kind, in one colour and without a legend; rows that an array lacks are left out.
    `title`: key of the label and note (None: the first series).
    """

    series: Sequence[str]
    x_label: str
    y_label: str
    x: str | None = None
    log: bool = False
    log_x: bool = False
    at: str | None = None
    low: float | None = None
    high: float | None = None
    title: str | None = None
    rows: str | None = None
    first: int = 0
    band: str | None = None
    thin: bool = False
    legend: bool = True
    ticks: bool = False
    height: int = HEIGHT

    def arrays(self) -> Sequence[str]:
        return arrays_of([*filter(None, (self.x, self.band)), *self.series])

    def html(self, trace: Any, text: Text, number: int) -> str:
        legend = legend_html(self.series, text, self.rows) if self.legend and not self.thin else ""
        axes, title = axes_of(self.series, self.rows, self.x), self.title or arrays_of(self.series)[0]
        return figure_html(number, title, self.arrays(), trace, text, self.height, legend, axes)

    def item(self, text: Text) -> dict[str, Any]:
        """The picture and how the page feeds it."""
        picture = frame(text, self.x_label, self.y_label, log=self.log, log_x=self.log_x, height=self.height)
        if self.ticks:
            picture.xaxis.ticker = FixedTicker(ticks=[], minor_ticks=[])
        if self.band:
            source = ColumnDataSource({"x": [], "low": [], "high": []}, name="band")
            picture.varea("x", "low", "high", source=source, fill_alpha=0.14, name="s0")
        for k, name in enumerate(self.series):
            source = ColumnDataSource({"x": [], "y": []}, name=f"series{k}")
            if self.thin:
                picture.line("x", "y", source=source, line_width=1.5, line_alpha=0.8, line_join="round", name="s0")
                continue
            picture.line("x", "y", source=source, line_width=2, line_dash=DASHES[k], name=f"s{k}")
            marks = ColumnDataSource({"x": [], "y": []}, name=f"marks{k}")
            picture.scatter("x", "y", source=marks, size=6, marker=MARKERS[k], name=f"s{k}")
        if self.at:
            picture.add_layout(Span(dimension="height", line_dash="dotted", line_width=2, name="at"))
        feed = {
            "kind": "lines", "series": list(self.series), "x": self.x, "log": self.log, "log_x": self.log_x, "at": self.at,
            "low": self.low, "high": self.high, "first": self.first, "band": self.band, "thin": self.thin, "ticks": self.ticks,
        }  # fmt: skip
        return {"item": figure_item(picture), "feed": feed}
