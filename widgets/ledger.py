"""A calculation and its way back, side by side: operations downwards, what each sends back upwards, every product shown."""

from __future__ import annotations

from html import escape
from typing import Any, Mapping, NamedTuple, Sequence

from widgets.cell import Result, arithmetic_html, array_of, cell_html
from widgets.matrix import PLAIN, Matrix
from widgets.text import Text


class Ledger(NamedTuple):
    """Rows of results, one for each column; a column is headed by a key of the section's `words`.

    `title` is the key of the label and note. Numbers are coloured around zero up to ±`most`.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Result]]
    most: float = 2.0

    def arrays(self) -> Sequence[str]:
        return list(dict.fromkeys(array_of(result.cell) for column in zip(*self.rows) for result in column))

    def html(self, trace: Any, values: Mapping[str, Any], text: Text) -> str:
        title, note = escape(text.label("arrays", self.title)), escape(text.note(self.title))
        head = "".join(f'<th scope="col" colspan="2">{escape(text.label("words", word))}</th>' for word in self.columns)
        rows = "".join(f"<tr>{''.join(self._result(result, trace, values, text) for result in row)}</tr>" for row in self.rows)
        columns = "<col><col>" * len(self.columns)
        table = f'<table class="ledger drawn" data-columns="{len(self.columns)}"><caption class="aside">{title}</caption>{columns}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'
        twins = twins_html(self.arrays(), trace, text)
        return f'<figure class="view" data-save="{self.title}"><figcaption><b>{title}</b> <span>{note}</span></figcaption>{table}{twins}</figure>'

    def _result(self, result: Result, trace: Any, values: Mapping[str, Any], text: Text) -> str:
        arithmetic = arithmetic_html(result, trace, values, text)
        return f'<td class="formula">{arithmetic}</td>{cell_html(result.cell, trace, values, text, self.most)}'


def twins_html(arrays: Sequence[str], trace: Any, text: Text, after: str = "") -> str:
    """The arrays as plain tables, collapsed, to be read in full and taken away; the page fills them when they are opened."""
    tables = "".join(Matrix(name, colours=PLAIN, form="4g").table(trace, text, filled=False) for name in arrays)
    return (
        f'<details class="twin"><summary>{escape(text.words["numbers"])}</summary>'
        f'<div class="scroll" tabindex="0">{tables}{after}</div></details>'
    )
