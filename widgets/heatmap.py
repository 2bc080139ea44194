"""A large array as a Bokeh picture: rows downwards, columns to the right, colours as in the tables."""

from __future__ import annotations

from typing import Any, NamedTuple, Sequence

import numpy as np
from bokeh.models import ColumnDataSource, LinearColorMapper

from widgets.figure import figure_html, figure_item, frame
from widgets.palette import diverging, sequential
from widgets.text import Text


class Heatmap(NamedTuple):
    """`array` (rows, columns) as colours; `x_label` and `y_label` are keys of the section's `words`.

    `signed`: colours diverge around zero up to ±`most` (None: the largest magnitude), else run from 0 to `most`.
    `row`: a control that holds a row number; that row is outlined. `row_names`, `column_names`: axes whose words stand at the
    rows and columns, as in a table ("ids:vocabulary" takes the words of an array's elements); None: numbers from zero.
    """

    array: str
    x_label: str
    y_label: str
    signed: bool = True
    most: float | None = None
    row: str | None = None
    row_names: str | None = None
    column_names: str | None = None
    height: int = 300

    def arrays(self) -> Sequence[str]:
        return [self.array]

    def html(self, trace: Any, text: Text, number: int) -> str:
        axes = {self.array: (self.row_names, self.column_names)}
        return figure_html(number, self.array, self.arrays(), trace, text, self.height, axes=axes)

    def item(self, text: Text) -> dict[str, Any]:
        """The picture and how the page feeds it."""
        picture = frame(text, self.x_label, self.y_label, height=self.height, flipped=True)
        source = ColumnDataSource({"image": [np.zeros((1, 1))], "dw": [1], "dh": [1]}, name="data")
        palette = diverging("light") if self.signed else sequential("light")
        mapper = LinearColorMapper(palette=palette, low=-1.0 if self.signed else 0.0, high=1.0, name="mapper")
        picture.image(image="image", x=-0.5, y=-0.5, dw="dw", dh="dh", source=source, color_mapper=mapper)
        outline = ColumnDataSource({"left": [], "right": [], "top": [], "bottom": []}, name="outline")
        picture.quad("left", "right", "top", "bottom", source=outline, fill_alpha=0.0, line_width=2, name="outlined")
        picture.grid.visible = False
        feed = {
            "kind": "heatmap", "array": self.array, "signed": self.signed, "most": self.most, "row": self.row,
            "row_names": self.row_names, "column_names": self.column_names,
        }  # fmt: skip
        return {"item": figure_item(picture), "feed": feed}
