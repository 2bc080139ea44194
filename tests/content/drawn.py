"""Control values for the tests: strategies over the whole bounds, edges included, and a few fixed settings."""

from __future__ import annotations

import random
import re
from typing import Any, Iterator

import param
from hypothesis import strategies as st

from content import toc
from content.controls import take
from content.section import Section, Undefined, control_parameters

WRITTEN = toc.written()


def value_of(parameter: param.Parameter) -> st.SearchStrategy[Any]:
    """Legal values of one control; its edges and its default come up often."""
    if isinstance(parameter, param.Selector):
        return st.sampled_from(parameter.objects)
    if isinstance(parameter, param.String):
        words = st.lists(st.sampled_from(parameter.default.split()), max_size=7).map(" ".join)
        legal = words.filter(lambda text: re.fullmatch(parameter.regex, text))
        return st.one_of(st.just(parameter.default), st.from_regex(parameter.regex, fullmatch=True), legal)
    low, high = parameter.bounds
    edges = st.sampled_from([low, high, parameter.default, min(max(0, low), high)])
    inside = st.integers(low, high) if isinstance(parameter, param.Integer) else st.floats(low, high)
    return st.one_of(edges, inside).map(lambda number: take(parameter, number))


def values_of(section: Section) -> st.SearchStrategy[dict[str, Any]]:
    """Full sets of legal control values."""
    return st.fixed_dictionaries({name: value_of(p) for name, p in control_parameters(section.controls).items()})


def other_settings(section: Section, count: int) -> Iterator[dict[str, Any]]:
    """`count` settings away from the default at which the section has numbers, the same in every run.

    The first has whole numbers wherever a control takes them.
    """
    chance = random.Random(section.id)
    found = 0
    while found < count:
        values = {}
        for name, parameter in control_parameters(section.controls).items():
            if isinstance(parameter, param.Selector):
                values[name] = chance.choice(parameter.objects)
            elif isinstance(parameter, param.String):
                parts = re.findall(r"\w\w+|\w", parameter.default) if " " in parameter.default else list(parameter.default)
                values[name] = (" " if " " in parameter.default else "").join(chance.choices(parts, k=4))
            else:
                low, high = parameter.bounds
                number = chance.uniform(low, high)
                whole = isinstance(parameter, param.Integer) or not found
                values[name] = take(parameter, min(max(round(number, 0 if whole else 2), low), high))
        try:
            section.trace(values)
        except Undefined:
            continue
        found += 1
        yield values
