"""A measurement made on the server: a button, how far it is, milliseconds against length with error bars, and their table.

`measurement.js` drives it over the lab's line, with messages "measure" that never disturb a step. It only looks when the page is
opened; what has been measured once is shown at once.
"""

from __future__ import annotations

import json
from html import escape
from typing import Any, NamedTuple, Sequence

from bokeh.models import ColumnDataSource, FixedTicker, Range1d

from widgets.figure import HEIGHT, figure_item, frame, legend_html
from widgets.line import DASHES, MARKERS
from widgets.text import Text, attributes

SAID = ("measure_done", "measured_on", "not_measured")  # words that the page's module fills
CAP = 7  # pixels from end to end of an error bar's cap


class Measurement(NamedTuple):
    """Times of several kinds of layer, drawn on two logarithmic axes.

    `kinds`: their names in the server's answer, worded by the axis `rows`; `lengths`: the sequences they are measured at.
    `cited`: milliseconds that others published at the length `cited_at`, for each kind (None: nothing is known); hollow marks.
    """

    kinds: Sequence[str]
    rows: str
    lengths: Sequence[int]
    cited_at: float
    cited: Sequence[float | None]
    height: int = HEIGHT

    def arrays(self) -> Sequence[str]:
        """None of the section's: these numbers are measured, not computed."""
        return []

    def html(self, trace: Any, text: Text, number: int) -> str:
        word = lambda key: escape(text.label("words", key))  # noqa: E731
        settings = json.dumps({"kinds": self.kinds, "words": {key: text.label("words", key) for key in SAID}}, ensure_ascii=False)
        hollow = "".join(f'<i class="hollow s{k}"></i>' for k, cited in enumerate(self.cited) if cited is not None)
        legend = legend_html([f"milliseconds[{k}]" for k in range(len(self.kinds))], text, self.rows)
        return (
            f"<div {attributes(class_='measurement', data_measurement=settings)}>"
            f'<div class="buttons"><button type="button" class="start" hidden>{word("measure")}</button>'
            f'<progress max="1" value="0" aria-label="{word("measure")}" hidden></progress><span class="count"></span>'
            f'<p class="outcome" role="status"></p></div>'
            f'<figure class="view picture" data-figure="{number}" data-save="milliseconds">'
            f"<figcaption><b>{word('milliseconds')}</b> <span>{word('milliseconds_note')}</span></figcaption>"
            f'{legend}<div class="legend"><span class="key">{hollow}{word("cited")}</span></div>'
            f'<div class="plot" style="min-height:{self.height}px" role="img"'
            f' aria-label="{word("milliseconds")}. {word("milliseconds_note")}"></div></figure>'
            f'<details class="twin"><summary>{escape(text.words["numbers"])}</summary>'
            f'<div class="scroll" tabindex="0">{self.table(text)}</div></details></div>'
        )

    def table(self, text: Text) -> str:
        """A row for each length, for the module to fill, and what is cited below."""
        head = "".join(f'<th scope="col">{escape(kind)}</th>' for kind in text.headers(self.rows, len(self.kinds)))
        empty = "".join(f'<td data-kind="{kind}">–</td>' for kind in self.kinds)
        rows = "".join(
            f'<tr data-length="{length}"><th scope="row">{text.number(length, "0")}</th>{empty}</tr>' for length in self.lengths
        )
        cited = "".join(f"<td>{'–' if value is None else text.number(value, '1')}</td>" for value in self.cited)
        at = f"{text.number(self.cited_at, '0')}, {text.label('words', 'cited')}"
        return (
            f"<table><caption>{escape(text.label('words', 'milliseconds_range'))}</caption>"
            f'<thead><tr><th scope="col">{escape(text.label("words", "length"))}</th>{head}</tr></thead>'
            f'<tbody>{rows}</tbody><tfoot><tr><th scope="row">{escape(at)}</th>{cited}</tr></tfoot></table>'
        )

    def item(self, text: Text) -> dict[str, Any]:
        """The picture with the cited marks in it; the module brings the rest."""
        picture = frame(text, "length", "in_milliseconds", log=True, log_x=True, height=self.height)
        picture.x_range = Range1d(self.lengths[0] / 1.3, self.lengths[-1] * 1.3)
        picture.y_range = Range1d(0.01, 100.0)
        picture.xaxis.ticker = FixedTicker(ticks=list(self.lengths), minor_ticks=[])
        written = {length: text.number(length, "0") if k % 2 else "" for k, length in enumerate(self.lengths)}
        picture.xaxis.major_label_overrides = written
        for k, cited in enumerate(self.cited):
            source = ColumnDataSource({"x": [], "low": [], "median": [], "high": []}, name=f"measured{k}")
            drawn = {"source": source, "name": f"s{k}"}
            picture.segment("x", "low", "x", "high", line_width=1.5, **drawn)
            for end in ("low", "high"):
                picture.scatter("x", end, marker="dash", size=CAP, line_width=1.5, **drawn)
            picture.line("x", "median", line_width=2, line_dash=DASHES[k], **drawn)
            picture.scatter("x", "median", marker=MARKERS[k], size=6, **drawn)
            if cited is not None:
                picture.scatter([self.cited_at], [cited], marker=MARKERS[k], size=12, line_width=2, fill_alpha=0.0, name=f"s{k}")
        known = [value for value in self.cited if value is not None]
        return {"item": figure_item(picture), "feed": {"kind": "measurement", "known": known}}
