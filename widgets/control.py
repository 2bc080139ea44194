"""Controls as native inputs: slider with entry field, choice, switch, row of bits. Declared once, by a param.Parameter."""

from __future__ import annotations

from html import escape
from typing import Any, NamedTuple, Sequence

import param

from widgets.text import Text, attributes


class When(NamedTuple):
    """Controls that are on show only while `control` has `value`, or one of them when it is a tuple."""

    control: str
    value: Any
    names: Sequence[str | "When"]

    def values(self) -> tuple[Any, ...]:
        return self.value if isinstance(self.value, tuple) else (self.value,)


class Together(NamedTuple):
    """Controls side by side under one heading (a key of the section's `words`).

    `columns`: two short sliders in a line.
    """

    heading: str | None
    names: Sequence[str | "When"]
    columns: bool = False


class Buttons(NamedTuple):
    """Buttons that set several controls at once: a key of the section's `words`, and a setting as in an address."""

    items: Sequence[tuple[str, str]]


def control_html(name: str, parameter: param.Parameter, value: Any, text: Text, hidden: bool = False) -> str:
    """One control, labelled, with its textbook value marked."""
    if isinstance(parameter, param.Selector):
        inner = _switch if list(parameter.objects) == [0, 1] else _choice
    elif isinstance(parameter, param.String):
        inner = _bits if parameter.regex and parameter.regex.startswith("[01]") else _field
    else:
        inner = _slider
    label = escape(text.label("controls", name))
    classes = f"control {inner.__name__.strip('_')}"
    return f'<div {attributes(class_=classes, data_for=name, hidden=hidden)}>{inner(name, parameter, value, label, text)}</div>'


def _slider(name: str, parameter: param.Number, value: float, label: str, text: Text) -> str:
    low, high = parameter.bounds
    step = parameter.step or (1 if isinstance(parameter, param.Integer) else (high - low) / 100)
    share = (parameter.default - low) / (high - low)
    range_ = attributes(
        type="range", id=f"control-{name}", data_control=name, min=low, max=high, step=step, value=value,
    )  # fmt: skip
    entry = attributes(
        type="text", inputmode="decimal", class_="entry", data_entry=name, value=text.number(value, _digits(step)),
        maxlength=24, autocomplete="off", aria_label=text.label("controls", name),
    )  # fmt: skip
    mark = text.words["textbook_value"].format(value=text.number(parameter.default, _digits(step)))
    return (
        f'<label for="control-{name}">{label}</label>'
        f'<span class="track"><input {range_}><i class="mark" style="--at:{share:.4f}" title="{escape(mark)}"></i></span>'
        f"<input {entry}>{_reset(name, text)}"
    )


def _digits(step: float) -> str:
    return "0" if float(step).is_integer() else str(max(2, len(f"{step:g}".partition(".")[2])))


def _reset(name: str, text: Text) -> str:
    label = f"{text.words['reset_one']}: {text.label('controls', name)}"
    return f'<button type="button" class="reset-one" data-reset="{name}" aria-label="{escape(label)}" title="{escape(text.words["reset_one"])}">↺</button>'


def _choice(name: str, parameter: param.Selector, value: Any, label: str, text: Text) -> str:
    options = (text.labels.get("options") or {}).get(name) or parameter.objects
    items = []
    for choice, word in zip(parameter.objects, options):
        radio = attributes(
            type="radio", name=f"control-{name}", data_control=name, value=choice, checked=choice == value,
        )  # fmt: skip
        items.append(f"<label><input {radio}><span>{escape(str(word))}</span></label>")
    return f'<fieldset><legend>{label}</legend>{"".join(items)}</fieldset>'


def _switch(name: str, parameter: param.Selector, value: int, label: str, text: Text) -> str:
    box = attributes(type="checkbox", role="switch", data_control=name, checked=value == 1)
    return f"<label><input {box}><span>{label}</span></label>"


def _bits(name: str, parameter: param.String, value: str, label: str, text: Text, longest: int = 32) -> str:
    field = attributes(
        type="text", data_control=name, value=value, pattern=parameter.regex, id=f"control-{name}", maxlength=longest,
        autocomplete="off", spellcheck="false",
    )  # fmt: skip
    return f'<label for="control-{name}">{label}</label><input {field}>{_reset(name, text)}'


def _field(name: str, parameter: param.String, value: str, label: str, text: Text) -> str:
    """A line of words, with the section's note on what may stand in it."""
    said = f"<small>{escape(text.note(name))}</small>" if text.note(name) else ""
    return _bits(name, parameter, value, label, text, longest=64) + said
