"""Points of the plane that a reader drags, the hull around them, and the mixture they make."""

from __future__ import annotations

from typing import Any, NamedTuple, Sequence

from bokeh.models import ColumnDataSource, Range1d, Span

from widgets.figure import figure_html, figure_item, frame
from widgets.text import Text


class Plane(NamedTuple):
    """`points` (n, 2) as disks that can be dragged within ±`limit`; `move` are the patterns of the controls of x and y.

    `sizes` (n,): shares that the disks' areas follow. `hull` (n, 2): corners of the shaded region.
    `path` (n, 2): steps laid end to end from the origin. `marks`: arrays (2,) shown as a cross, then as a diamond.
    `names`: axis of the points' words. `title`: key of label and note.
    """

    points: str
    move: tuple[str, str]
    sizes: str
    hull: str
    path: str
    marks: tuple[str, str]
    names: str
    title: str
    limit: float = 4.0
    height: int = 320

    def arrays(self) -> Sequence[str]:
        return [self.points, self.hull, *self.marks]

    def html(self, trace: Any, text: Text, number: int) -> str:
        axes = {self.points: (self.names, None)}
        return figure_html(number, self.title, self.arrays(), trace, text, self.height, axes=axes, kind="plane")

    def item(self, text: Text) -> dict[str, Any]:
        """The picture and how the page feeds it."""
        picture = frame(text, "", "", height=self.height)
        picture.update(sizing_mode="scale_width", aspect_ratio=1.0, min_border_right=2)
        far = self.limit * 1.12
        picture.x_range, picture.y_range = Range1d(-far, far), Range1d(-far, far)
        for dimension in ("width", "height"):
            picture.add_layout(Span(dimension=dimension, location=0, line_width=1, name="zero"))

        def source(name: str, *columns: str) -> ColumnDataSource:
            return ColumnDataSource({column: [] for column in columns}, name=name)

        picture.patch("x", "y", source=source("hull", "x", "y"), fill_alpha=0.1, line_width=1.5, name="s0")
        path = source("path", "x", "y")
        picture.line("x", "y", source=path, line_width=1.5, line_dash="dotted", name="warm")
        picture.scatter("x", "y", source=path, size=4, name="warm")
        centre, points = source("centre", "x", "y"), source("points", "x", "y", "size")
        picture.scatter("x", "y", source=centre, marker="diamond", size=11, fill_alpha=0, line_width=2, name="soft")
        picture.scatter("x", "y", size="size", source=points, fill_alpha=0.75, line_width=2, name="s0")
        picture.scatter("x", "y", source=source("output", "x", "y"), marker="x", size=13, line_width=3.5, name="warm")
        words = source("words", "x", "y", "text", "align", "baseline", "down")
        picture.text("x", "y", "text", text_align="align", text_baseline="baseline", y_offset="down", source=words, name="ink")
        feed = {
            "kind": "plane", "points": self.points, "move": self.move, "sizes": self.sizes, "hull": self.hull, "path": self.path,
            "marks": self.marks, "names": self.names, "limit": self.limit,
        }  # fmt: skip
        return {"item": figure_item(picture), "feed": feed}
