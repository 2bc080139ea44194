"""Signed bars that add up: each contribution begins where the one before it ended, and the last bar is their sum."""

from __future__ import annotations

from html import escape
from typing import Any, Mapping, NamedTuple, Sequence

from widgets.cell import Result, arithmetic_html, array_of, cell_html, value_of
from widgets.ledger import twins_html
from widgets.text import Text


class Sum(NamedTuple):
    """Contributions in their order, and the number that they add up to."""

    parts: Sequence[Result]
    total: Result


class Waterfall(NamedTuple):
    """Several sums on one scale. `title` is the key of the label and note.

    `waterfall.js` moves the bars.
    """

    title: str
    sums: Sequence[Sum]

    def arrays(self) -> Sequence[str]:
        return list(dict.fromkeys(array_of(r.cell) for one in self.sums for r in (*one.parts, one.total)))

    def html(self, trace: Any, values: Mapping[str, Any], text: Text) -> str:
        title, note = escape(text.label("arrays", self.title)), escape(text.note(self.title))
        scale = self.scale(trace, values)
        groups = "".join(f"<tbody>{self._rows(one, scale, trace, values, text)}</tbody>" for one in self.sums)
        return (
            f'<figure class="view" data-save="{self.title}"><figcaption><b>{title}</b> <span>{note}</span></figcaption>'
            f'<table class="waterfall drawn" data-columns="1"><caption class="aside">{title}</caption><col><col><col>{groups}</table>'
            f"{twins_html(self.arrays(), trace, text)}</figure>"
        )

    def scale(self, trace: Any, values: Mapping[str, Any]) -> float:
        """How much one half of the track stands for: 1, 2 or 5 times a power of ten, so that it does not twitch."""
        if trace is None:
            return 1.0
        reached = [abs(place) for one in self.sums for bar in bars(one, trace, values) for place in bar]
        return round_up(max(reached))

    def _rows(self, one: Sum, scale: float, trace: Any, values: Mapping[str, Any], text: Text) -> str:
        ends = bars(one, trace, values) if trace is not None else [(0.0, 0.0)] * (len(one.parts) + 1)
        rows = []
        for result, (start, end) in zip((*one.parts, one.total), ends):
            arithmetic = arithmetic_html(result, trace, values, text)
            bar = f'<i class="extent" data-sign="{"negative" if end < start else "positive"}" style="--from:{start / scale:.4f};--to:{end / scale:.4f}"></i>'
            kind = ' class="total"' if result is one.total else ""
            rows.append(f'<tr{kind}><th scope="row" class="formula">{arithmetic}</th>{cell_html(result.cell, trace, values, text)}<td class="way">{bar}</td></tr>')
        return "".join(rows)


def bars(one: Sum, trace: Any, values: Mapping[str, Any]) -> list[tuple[float, float]]:
    """Where each bar of a sum begins and ends, the total last."""
    place, ends = 0.0, []
    for part in one.parts:
        contribution = value_of(part.cell, trace, values)
        ends.append((place, place + contribution))
        place += contribution
    return [*ends, (0.0, value_of(one.total.cell, trace, values))]


def round_up(size: float) -> float:
    """The next of 1, 2, 5, 10, 20 … and of 0.5, 0.2, 0.1 …; 1 for nothing.

    >>> round_up(0.7), round_up(13.0), round_up(0.0)
    (1.0, 20.0, 1.0)
    """
    if not size > 1e-12:
        return 1.0
    return next(step for power in range(-12, 100) for step in (1.0 * 10.0**power, 2.0 * 10.0**power, 5.0 * 10.0**power) if step >= size * 0.9999)
