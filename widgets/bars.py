"""Bars side by side for each place of one or several arrays of the same length."""

from __future__ import annotations

from typing import Any, NamedTuple, Sequence

from bokeh.models import ColumnDataSource

from widgets.figure import HEIGHT, arrays_of, axes_of, figure_html, figure_item, frame, legend_html
from widgets.text import Text


class Bars(NamedTuple):
    """One bar for each element of each array in `series`; `names` is an axis whose words stand under the bars.

    A series such as "weights[0]" is a row of an array, named by axis `rows`. `low`, `high` fix the y axis (None: from the numbers). `title`: key of the label and note.
    """

    series: Sequence[str]
    x_label: str
    y_label: str
    names: str | None = None
    low: float | None = 0.0
    high: float | None = None
    title: str | None = None
    rows: str | None = None
    height: int = HEIGHT

    def arrays(self) -> Sequence[str]:
        return arrays_of(self.series)

    def html(self, trace: Any, text: Text, number: int) -> str:
        legend = legend_html(self.series, text, self.rows)
        axes = axes_of(self.series, self.rows, self.names)
        return figure_html(number, self.title or self.arrays()[0], self.arrays(), trace, text, self.height, legend, axes)

    def item(self, text: Text) -> dict[str, Any]:
        """The picture and how the page feeds it."""
        picture = frame(text, self.x_label, self.y_label, height=self.height)
        picture.xgrid.visible = False
        wide = 0.8 / len(self.series)
        for k in range(len(self.series)):
            source = ColumnDataSource({"x": [], "y": []}, name=f"series{k}")
            picture.vbar(x="x", top="y", width=wide * 0.92, source=source, name=f"s{k}")
        feed = {"kind": "bars", "series": list(self.series), "low": self.low, "high": self.high, "wide": wide, "names": self.names}
        return {"item": figure_item(picture), "feed": feed}
