"""A panel for jobs that run on the server: start, pause, cancel, repeat, and their curves as they grow.

`training.js` drives it over the lab's line, with messages of its own ("train", "watch", "pause", "cancel") that never disturb a
step. What a job is, is said by the values of controls.
"""

from __future__ import annotations

import json
from html import escape
from typing import Any, NamedTuple, Sequence

from widgets.matrix import PLAIN, Matrix
from widgets.text import Text, attributes

BUTTONS = ("train", "train_all", "train_table")


class Curve(NamedTuple):
    """One curve of every job: its `name` in a job's curves, and an `array` with rows to compare with.

    `word`: key of its title in the section's `words`. `mark`: a height to mark, worded by `mark_word`.
    `low`, `high` fix the axis as far as the numbers allow.
    """

    name: str
    array: str
    word: str
    mark: float | None = None
    mark_word: str = ""
    low: float = 0.0
    high: float | None = None


class Training(NamedTuple):
    """Jobs of one kind and two pictures of their curves; the second shows one of all curves but the first.

    `defines`: the controls that make a job what it is; `about`: those its name always says, the others only when they are
    moved; `shared`: those that also hold for a whole table of jobs. `variant`: the control (a choice) whose options are told
    apart by colour and dash, are the rows of the curves to compare with, and can be trained all at once. `compare`: key of
    the words that introduce these rows.
    `x`: array of places on the horizontal axis, worded `x_label`.
    `own`: a fact; while it is 0, the words `not_own` are shown. `result`: what of a finished job's test is told in the list.
    Words may hold {fact}.
    """

    curves: Sequence[Curve]
    defines: Sequence[str]
    about: Sequence[str]
    shared: Sequence[str]
    variant: str
    compare: str
    x: str
    x_label: str
    own: str
    not_own: str
    result: str

    def arrays(self) -> Sequence[str]:
        return [self.x, *(curve.array for curve in self.curves)]

    def html(self, trace: Any, text: Text) -> str:
        word = lambda key: escape(text.label("words", key))  # noqa: E731
        buttons = "".join(
            f'<button type="button" data-act="{key}" title="{word(key + "_hint")}">{word(key)}</button>' for key in BUTTONS
        )
        first, *others = self.curves
        choices = "".join(f'<option value="{k}">{word(curve.word)}</option>' for k, curve in enumerate(others, 1))
        chosen = f'<select class="which" aria-label="{word("which_curve")}">{choices}</select>'
        titles = (f"<b>{word(first.word)}</b>", chosen if len(others) > 1 else f"<b>{word(others[0].word)}</b>")
        charts = "".join(
            f'<figure class="view picture chart"><figcaption>{title}</figcaption><div class="plot"></div></figure>'
            for title in titles
        )
        tables = (Matrix(name, None if name == self.x else self.variant, colours=PLAIN, form="4g") for name in self.arrays())
        compared = "".join(table.table(trace, text, filled=False) for table in tables)
        settings = json.dumps({**self._asdict(), "curves": [curve._asdict() for curve in self.curves]})
        return (
            f"<div {attributes(class_='training', data_training=settings)}>"
            f'<div class="buttons">{buttons}</div><p class="unavailable" hidden></p><p class="not-own" hidden></p>'
            f'<p class="said" role="status"></p><ol class="jobs"></ol>'
            f'<div class="row" style="--least:14em">{charts}</div><div class="legend compare"></div>'
            f'<details class="twin live"><summary>{word("live_numbers")}</summary>'
            f'<div class="scroll" tabindex="0"></div></details>'
            f'<details class="twin"><summary>{word("compared_numbers")}</summary>'
            f'<div class="scroll" tabindex="0">{compared}</div></details></div>'
        )
