"""A lab: controls, views and the line of arithmetic under them, written as HTML and described to the page's module.

`lab.js` drives it: control values go up, arrays come down, one message a step.
"""

from __future__ import annotations

from html import escape
from typing import Any, Mapping, NamedTuple, Sequence

import param

from widgets.bars import Bars
from widgets.control import Buttons, Together, When, control_html
from widgets.figure import legend_html
from widgets.heatmap import Heatmap
from widgets.ledger import Ledger
from widgets.line import Lines
from widgets.matrix import Matrix
from widgets.measurement import Measurement
from widgets.miniature import Miniature
from widgets.plane import Plane
from widgets.steps import Steps
from widgets.switches import Switches
from widgets.text import Text, attributes, quote
from widgets.training import Training
from widgets.waterfall import Waterfall

Picture = Heatmap | Lines | Bars | Plane | Measurement
Gesture = Ledger | Waterfall | Steps | Switches  # written from the controls as well
View = Matrix | Training | Gesture | Picture


class Fact(NamedTuple):
    """A named number beside the views, introduced by `word` (a key of the section's `words`).

    `name` is a fact or an element such as `weights[2,2]`; where a state has no such number, a dash stands.
    """

    name: str
    word: str
    form: str = "2"

    def html(self, facts: Mapping[str, Any], text: Text) -> str:
        try:
            number = text.number(quote(facts, self.name), self.form)
        except (KeyError, IndexError):
            number = "–"
        return f'<p class="fact">{escape(text.label("words", self.word))} <output data-fact="{self.name}" data-format="{self.form}">{number}</output></p>'


class Legend(NamedTuple):
    """The legend of several pictures that show the same `series`, whose rows axis `rows` names."""

    series: Sequence[str]
    rows: str | None = None

    def html(self, text: Text) -> str:
        return legend_html(self.series, text, self.rows)


class Controls(NamedTuple):
    """Controls that stand among the views they belong to."""

    items: Sequence[str | When | Together | Buttons]


class Group(NamedTuple):
    """Views under a heading (a key of the section's `words`), with what is drawn in them said in `note` (another key).

    `folded`: the reader opens it to see the views. `even`: columns of its tables stand under each other.
    """

    heading: str
    views: Sequence["View | Row | Tab"]
    note: str | None = None
    folded: bool = False
    even: bool = False


class Row(NamedTuple):
    """Views side by side, as wide as they need.

    `aligned`: tables of the same rows; the words of the rows stand once, at the left of each line.
    `least`: width in em that a picture must have before it goes to the next line (None: 22).
    """

    views: Sequence["View | Tab | Stack"]
    aligned: bool = False
    least: float | None = None


class Stack(NamedTuple):
    """Views below each other, beside others in a row."""

    views: Sequence["View | Row | Tab"]


class Tab(NamedTuple):
    """Views that are on show only while `control` has one of `values`."""

    control: str
    values: Sequence[Any]
    views: Sequence[View | Row]


class Lab(NamedTuple):
    """Which controls stand where, and which view shows which array.

    `pulse`: what matters most, for a place as small as a strip of the screen: one miniature, then one to three facts.
    """

    controls: Sequence[str | When | Together | Buttons]
    views: Sequence[View | Row | Tab | Group]
    pulse: Sequence[Miniature | Fact] = ()

    def control_names(self) -> list[str]:
        """Controls that have an input of their own, as declared."""
        among = [name for view in _flat(self.views) if isinstance(view, Controls) for name in _names(view.items)]
        return [*_names(self.controls), *among]

    def pictures(self) -> list[Picture]:
        return [view for view in _flat(self.views) if isinstance(view, Picture)]

    def shown_arrays(self) -> set[str]:
        return {name for view in _flat(self.views) if isinstance(view, View) for name in view.arrays()}

    def places(self) -> set[str]:
        """Names by which a text can point at a part of the lab: a group's heading, an array of a table or picture, a gesture's title."""
        groups = {view.heading for view in _groups(self.views)}
        named = {name for view in _flat(self.views) if isinstance(view, Matrix | Picture) for name in view.arrays()}
        return groups | named | {view.title for view in _flat(self.views) if isinstance(view, Gesture)}

    def miniature(self) -> Miniature:
        """The picture that stands for the section."""
        return next(part for part in self.pulse if isinstance(part, Miniature))

    def pulse_html(self, trace: Any, facts: Mapping[str, Any], text: Text) -> str:
        """The pulse with the numbers of `trace` and `facts`, which hold arrays as well."""
        picture = "".join(part.html(trace, text) for part in self.pulse if isinstance(part, Miniature))
        numbers = "".join(part.html(facts, text) for part in self.pulse if isinstance(part, Fact))
        return f'<div class="pulse">{picture}<div class="facts">{numbers}</div></div>'

    def html(
        self, trace: Any, facts: Mapping[str, Any], parameters: Mapping[str, param.Parameter], values: Mapping[str, Any], text: Text,
        hidden: Sequence[str],
    ) -> str:  # fmt: skip
        """Controls and views with the numbers of `trace` and `facts` in them (None and nothing where the state has none)."""
        writer = _Writer(trace, facts, parameters, values, text, hidden, {id(view): k for k, view in enumerate(self.pictures())})
        controls, views = "".join(map(writer.control, self.controls)), "".join(map(writer.view, self.views))
        return f'<div class="controls">{controls}</div><div class="views">{views}</div>'


class _Writer(NamedTuple):
    """Writes controls and views of one state as HTML."""

    trace: Any
    facts: Mapping[str, Any]
    parameters: Mapping[str, param.Parameter]
    values: Mapping[str, Any]
    text: Text
    hidden: Sequence[str]
    pictures: Mapping[int, int]

    def control(self, item: Any) -> str:
        text = self.text
        if isinstance(item, str):
            return control_html(item, self.parameters[item], self.values[item], text, hidden=item in self.hidden)
        if isinstance(item, Buttons):
            made = (
                f'<a class="set button" role="button" href="?{escape(setting)}" data-set="{escape(setting)}">{escape(text.label("words", word))}</a>'
                for word, setting in item.items
            )
            return f'<div class="buttons">{"".join(made)}</div>'
        inner = "".join(map(self.control, item.names))
        if isinstance(item, Together):
            heading = f"<legend>{escape(text.label('words', item.heading))}</legend>" if item.heading else ""
            kind = "together columns" if item.columns else "together"
            return f'<fieldset class="{kind}">{heading}{inner}</fieldset>'
        return self.when(item.control, item.values(), inner)

    def view(self, view: Any) -> str:
        if isinstance(view, Matrix | Training):
            return view.html(self.trace, self.text)
        if isinstance(view, Gesture):
            return view.html(self.trace, self.values, self.text)
        if isinstance(view, Fact):
            return view.html(self.facts, self.text)
        if isinstance(view, Legend):
            return view.html(self.text)
        if isinstance(view, Controls):
            return f'<div class="controls">{"".join(map(self.control, view.items))}</div>'
        if not isinstance(view, Row | Stack | Tab | Group):
            return view.html(self.trace, self.text, self.pictures[id(view)])
        inner = "".join(map(self.view, view.views))
        if isinstance(view, Row):
            kind = "row aligned" if view.aligned else "row pictures" if view.least else "row"
            return f"<div {attributes(class_=kind, style=view.least and f'--least:{view.least}em')}>{inner}</div>"
        if isinstance(view, Stack):
            return f'<div class="stack">{inner}</div>'
        if isinstance(view, Tab):
            return self.when(view.control, view.values, inner)
        note = f" <span>{escape(self.text.label('words', view.note))}</span>" if view.note else ""
        heading = f"<h2>{escape(self.text.label('words', view.heading))}{note}</h2>"
        named = attributes(class_="group even" if view.even else "group", data_group=view.heading)
        if view.folded:
            return f"<details {named}><summary>{heading}</summary>{inner}</details>"
        return f"<section {named}>{heading}{inner}</section>"

    def when(self, control: str, values: Sequence[Any], inner: str) -> str:
        """A part that is on show only while the control has one of these values."""
        shown = attributes(class_="when", data_when=control, data_is=" ".join(map(str, values)), hidden=self.values[control] not in values)
        return f"<div {shown}>{inner}</div>"


def _names(items: Sequence[Any]) -> Any:
    for item in items:
        if isinstance(item, str):
            yield item
        elif not isinstance(item, Buttons):
            yield from _names(item.names)


def _groups(views: Sequence[Any]) -> Any:
    for view in views:
        if isinstance(view, Group):
            yield view
        if isinstance(view, Row | Stack | Tab | Group):
            yield from _groups(view.views)


def _flat(views: Sequence[Any]) -> Any:
    for view in views:
        if isinstance(view, Row | Stack | Tab | Group):
            yield from _flat(view.views)
        else:
            yield view


def describe(parameters: Mapping[str, param.Parameter], values: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The controls as the page's module needs them: kind, default, value and what is allowed."""
    return {name: {**_limits(p), "default": p.default, "value": values[name]} for name, p in parameters.items()}


def _limits(parameter: param.Parameter) -> dict[str, Any]:
    if isinstance(parameter, param.Selector):
        return {"kind": "choice", "choices": list(parameter.objects)}
    if isinstance(parameter, param.String):
        return {"kind": "text", "pattern": parameter.regex}
    low, high = parameter.bounds
    whole = isinstance(parameter, param.Integer)
    return {"kind": "whole" if whole else "number", "low": low, "high": high, "step": parameter.step or (1 if whole else (high - low) / 100)}
