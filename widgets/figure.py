"""What all Bokeh pictures share: a quiet frame, a table twin, and a description by which the page feeds them arrays.

A picture is sent as a stand-alone Bokeh document (`json_item`) and drawn by BokehJS in the page. The server keeps no
model of it: new arrays reach its ColumnDataSource in the browser, and its colours follow the page's look there.
"""

from __future__ import annotations

from html import escape
from typing import Any, Mapping, Sequence

from bokeh.embed import json_item
from bokeh.models import FixedTicker, Range1d
from bokeh.plotting import figure

from widgets.matrix import PLAIN, Matrix
from widgets.text import Text

HEIGHT = 250
Axes = Mapping[str, tuple[str | None, str | None]]


def frame(text: Text, x_label: str, y_label: str, *, log: bool = False, log_x: bool = False, height: int = HEIGHT, flipped: bool = False) -> figure:
    """An empty picture without toolbar whose ranges the page sets; the labels are keys of the section's `words`.

    Colours come from the page's look.
    """
    start, end = (1e-3, 1.0) if log else (0.0, 1.0)
    y_range = Range1d(end, start) if flipped else Range1d(start, end)
    picture = figure(
        height=height, sizing_mode="stretch_width", toolbar_location=None, tools="", y_axis_type="log" if log else "linear",
        x_axis_type="log" if log_x else "linear", x_range=Range1d(1, 2) if log_x else Range1d(0, 1), y_range=y_range,
        x_axis_label=text.label("words", x_label), y_axis_label=text.label("words", y_label),
        background_fill_color=None, border_fill_color=None, outline_line_color=None, min_border=2, min_border_right=12,
    )  # fmt: skip
    for axis, logarithmic in ((picture.xaxis, log_x), (picture.yaxis, log)):
        if not logarithmic:
            axis.ticker = FixedTicker(ticks=[])  # the page sets the ticks and words them in its language
    picture.axis.axis_line_color = picture.axis.major_tick_line_color = None
    picture.axis.minor_tick_line_color = None
    picture.axis.axis_label_text_font_style = "normal"
    picture.axis.axis_label_standoff = picture.axis.major_label_standoff = 4
    picture.grid.grid_line_alpha = 0.6
    return picture


def figure_item(picture: figure) -> dict[str, Any]:
    """The picture as BokehJS embeds it."""
    return json_item(picture)


def figure_html(
    number: int, key: str, arrays: Sequence[str], trace: Any, text: Text, height: int, legend: str = "", axes: Axes = {}, kind: str = ""
) -> str:  # fmt: skip
    """Caption, an empty box of the picture's height (so that nothing jumps), and the table twins, collapsed.

    `axes` names the rows and columns of the twins by array; `kind` is a class for the stylesheet.
    """
    title, note = escape(text.label("arrays", key)), escape(text.note(key))
    twins = (Matrix(name, *axes.get(name, ()), colours=PLAIN, form="4g") for name in arrays)
    tables = "".join(twin.table(trace, text, filled=False) for twin in twins)
    return (
        f'<figure class="view picture {kind}" data-figure="{number}" data-save="{key}">'
        f"<figcaption><b>{title}</b> <span>{note}</span></figcaption>{legend}"
        f'<div class="plot" style="min-height:{height}px" role="img" aria-label="{title}. {note}"></div>'
        f'<details class="twin"><summary>{escape(text.words["numbers"])}</summary><div class="scroll" tabindex="0">{tables}</div></details></figure>'
    )


def arrays_of(series: Sequence[str]) -> list[str]:
    """Names of the arrays that series are taken from, each once.

    >>> arrays_of(["weights[0]", "weights[1]", "entropy"])
    ['weights', 'entropy']
    """
    return list(dict.fromkeys(name.partition("[")[0] for name in series))


def axes_of(series: Sequence[str], rows: str | None, places: str | None = None) -> Axes:
    """Axes of the arrays that series are taken from: `rows` names the rows of those with several, `places` what they run over.

    >>> axes_of(["weights[0]", "weights[1]", "entropy"], "cases", "keys")
    {'weights': ('cases', 'keys'), 'entropy': ('keys', None)}
    """
    return {name.partition("[")[0]: (rows, places) if "[" in name else (places, None) for name in series}


def legend_html(series: Sequence[str], text: Text, rows: str | None) -> str:
    """Names of the series with the colour, dash and marker they are drawn in."""
    if len(series) < 2:
        return ""
    keys = []
    for k, name in enumerate(series):
        array, row, number = name.partition("[")
        word = text.headers(rows, int(number[:-1]) + 1)[int(number[:-1])] if row else text.label("arrays", array)
        keys.append(f'<span class="key"><i class="swatch s{k}"></i>{escape(word)}</span>')
    return f'<div class="legend">{"".join(keys)}</div>'
