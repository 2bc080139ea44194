"""Live numbers outside tables of arrays: a result in its cell, and the numbers of the arithmetic that gave it.

`cell.js` keeps them up to date and lets each tell where it comes from, as the cells of a table do.
"""

from __future__ import annotations

import re
from html import escape
from typing import Any, Mapping, NamedTuple

import numpy as np

from widgets.text import Text, attributes

ELEMENT = re.compile(r"(\w+)(?:\[([\d,]+)\])?")
NUMBER = re.compile(r"\{([^}]+)\}")
INDEX = re.compile(r"([_^])(−?[^\W_]+)")


class Result(NamedTuple):
    """One number with its symbol and the arithmetic that gives it.

    `cell`: an array of one number, or an element such as "state[0]". `symbol` and `formula` are written with `_` for an index
    and `^` for a mark above: "g^z_0". `numbers` is the formula with numbers in it, each the name of an element or control in
    braces: "{w_h} · {state[0]}". Each of the three may be empty.
    """

    cell: str
    symbol: str
    formula: str
    numbers: str


def array_of(cell: str) -> str:
    """Name of the array that a cell belongs to.

    >>> array_of("state[0]"), array_of("loss")
    ('state', 'loss')
    """
    return ELEMENT.fullmatch(cell)[1]


def value_of(name: str, trace: Any, values: Mapping[str, Any]) -> float | None:
    """The number called `name`: a control, an array of one number, or an element; None where the state has no numbers."""
    if name in values:
        return float(values[name])
    array, index = ELEMENT.fullmatch(name).groups()
    if trace is None:
        return None
    return float(np.asarray(getattr(trace, array))[tuple(map(int, index.split(","))) if index else ()])


def symbols(text: str) -> str:
    """A formula as HTML, with its indices below and its marks above the line.

    >>> symbols("g^z_0")
    'g<sup>z</sup><sub>0</sub>'
    """
    return INDEX.sub(lambda m: f"<sub>{m[2]}</sub>" if m[1] == "_" else f"<sup>{m[2]}</sup>", escape(text))


def numbers_html(template: str, trace: Any, values: Mapping[str, Any], text: Text) -> str:
    """A formula with its numbers, each followed by the page's module."""

    def number(match: re.Match[str]) -> str:
        return f'<span data-cell="{match[1]}">{_written(value_of(match[1], trace, values), text)}</span>'

    return NUMBER.sub(number, escape(template))


def arithmetic_html(result: Result, trace: Any, values: Mapping[str, Any], text: Text) -> str:
    """Symbol and formula of a result, and the formula in numbers."""
    said = symbols(" = ".join(filter(None, (result.symbol, result.formula))))
    numbers = f"<span>{numbers_html(result.numbers, trace, values, text)} =</span>" if result.numbers else ""
    return f"<span>{said}</span>{numbers}"


def cell_html(name: str, trace: Any, values: Mapping[str, Any], text: Text, most: float | None = None, form: str | None = None) -> str:
    """A table cell that shows a number, coloured around zero up to ±`most` (None: not coloured)."""
    value = value_of(name, trace, values)
    share = 0.0 if value is None or most is None else max(-1.0, min(1.0, value / most))
    data = attributes(
        data_cell=name, data_value=None if value is None else repr(value), data_most=most, data_form=form,
        data_sign=None if most is None else "negative" if share < 0 else "positive", style=f"--t:{abs(share):.3f}", tabindex=-1,
    )  # fmt: skip
    return f"<td {data}>{_written(value, text, form)}</td>"


def _written(value: float | None, text: Text, form: str | None = None) -> str:
    return "–" if value is None else text.number(value, form or "2")
