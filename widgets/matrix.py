"""An array as a table of coloured numbers: real rows and columns that can be read aloud, pointed at and copied."""

from __future__ import annotations

import json
from html import escape
from typing import Any, NamedTuple, Sequence

import numpy as np

from widgets.text import Text, attributes

DIVERGING, SHARES, PLAIN = "diverging", "shares", "plain"


class Toggle(NamedTuple):
    """Cells as switches: a click flips one bit of the text control `bits`.

    The row's index goes to the control `row` and `sets` (control, value) is set as well; but while `by_column`
    (control, value) holds, the bits belong to columns and nothing else changes.
    """

    bits: str
    row: str
    sets: tuple[str, str]
    by_column: tuple[str, str]


class Matrix(NamedTuple):
    """A table of one array of up to two axes.

    `rows` and `columns` name axes whose words stand in the section's labels (None: numbers from zero); "ids:vocabulary"
    takes the word of axis `vocabulary` that the array `ids` points at, "ids::vocabulary" without counting them.
    `colours`: DIVERGING around zero up to ±`most`, SHARES from 0 to `most`, or PLAIN.
    `across`: an array of one axis stands as one row instead of one column, its title as the row's header.
    `edit`: a pattern such as "e{row}{column}", or one for each column, makes the cells entry fields of those controls.
    `seen`: name of an array of 0 and 1 of the same shape; cells at 0 are crossed out.
    `pick`: a control or an array that holds the row that is being looked at.
    `also`: an array of the same shape; the readout tells the arithmetic of its element as well.
    `form`: how numbers are written, or one form for each column; None follows the reader's choice of digits.
    """

    array: str
    rows: str | None = None
    columns: str | None = None
    colours: str = DIVERGING
    most: float | None = None
    edit: str | Sequence[str] | None = None
    toggle: Toggle | None = None
    seen: str | None = None
    pick: str | None = None
    form: str | Sequence[str] | None = None
    across: bool = False
    also: str | None = None

    def arrays(self) -> Sequence[str]:
        return [self.array]

    def html(self, trace: Any, text: Text) -> str:
        if self.across:
            named = " named" if self.columns else ""
            return f'<figure class="view matrix across{named}" data-save="{self.array}"><div class="scroll">{self.table(trace, text)}</div></figure>'
        title, note = escape(text.label("arrays", self.array)), escape(text.note(self.array))
        caption = f"<figcaption><b>{title}</b> <span>{note}</span>{self._reset(title, text)}</figcaption>"
        return f'<figure class="view matrix" data-save="{self.array}">{caption}<div class="scroll">{self.table(trace, text)}</div></figure>'

    def _reset(self, title: str, text: Text) -> str:
        """A button that brings the entries of an editable table back, on show once one of them was moved."""
        if not self.edit:
            return ""
        back = escape(text.words["reset_one"])
        return f' <button type="button" class="reset-one" data-reset aria-label="{back}: {title}" title="{back}">↺</button>'

    def table(self, trace: Any, text: Text, filled: bool = True) -> str:
        """The table itself; unfilled it holds one cell, and the page fills it when it is opened."""
        numbers = np.atleast_1d(np.asarray(getattr(trace, self.array), float)) if trace is not None else np.zeros((1, 1))
        seen = np.atleast_1d(getattr(trace, self.seen)) if self.seen and trace is not None else None
        grid = numbers.reshape(1, -1) if self.across else numbers.reshape(len(numbers), -1)
        if not filled:
            grid = grid[:1, :1]
        most = self.most or float(np.abs(grid).max()) or 1.0
        line = numbers.ndim == 1
        line = line and not self.across
        columns = [""] if line else text.headers(self.columns, grid.shape[1], trace)
        head = "".join(f'<th scope="col">{escape(word)}</th>' for word in columns)
        rows = []
        label = text.label("arrays", self.array)
        for i, word in enumerate([label] if self.across else text.headers(self.rows, len(grid), trace)):
            cells = "".join(self._cell(i, j, v, most, seen, text) for j, v in enumerate(grid[i]))
            rows.append(f'<tr><th scope="row">{escape(word)}</th>{cells}</tr>')
        data = attributes(
            data_array=self.array, data_colours=self.colours, data_most=self.most, data_form=" ".join(_each(self.form)) or None,
            data_rows=self.rows, data_columns=self.columns, data_edit=" ".join(_each(self.edit)) or None,
            data_toggle=json.dumps(self.toggle._asdict()) if self.toggle else None, data_across=self.across, data_seen=self.seen,
            data_pick=self.pick, data_also=self.also,
            class_="line" if line else None, data_unfilled=not filled or trace is None,
        )  # fmt: skip
        head = f"<thead><tr><td></td>{head}</tr></thead>" if not line else ""
        return f'<table {data}><caption class="aside">{escape(label)}</caption>{head}<tbody>{"".join(rows)}</tbody></table>'

    def _cell(self, i: int, j: int, value: float, most: float, seen: Any, text: Text) -> str:
        share = max(-1.0, min(1.0, value / most))
        hidden = seen is not None and not np.reshape(seen, -1)[j if self.across else i * (seen.size // len(seen)) + j]
        sign = None if self.colours == PLAIN else ("negative" if share < 0 else "share" if self.colours == SHARES else "positive")
        cell = attributes(data_value=repr(float(value)), class_="unseen" if hidden else None, style=f"--t:{abs(share):.3f}", data_sign=sign, tabindex=-1)
        forms = _each(self.form) or ("2",)
        shown = text.number(value, forms[j % len(forms)])
        if self.edit:
            patterns = _each(self.edit)
            name = patterns[j % len(patterns)].format(row=i, column=j)
            field = attributes(
                type="text", inputmode="decimal", data_control=name, value=shown, maxlength=24, autocomplete="off", size=4,
                aria_label=text.label("controls", name),
            )  # fmt: skip
            return f"<td {cell}><input {field}></td>"
        return f"<td {cell}>{shown}</td>"


def _each(given: str | Sequence[str] | None) -> Sequence[str]:
    """One text for all columns, or one for each, as a sequence."""
    return (given,) if isinstance(given, str) else given or ()
