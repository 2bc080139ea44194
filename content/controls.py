"""The one check of control values, wherever they come from: address, message or command line."""

from __future__ import annotations

import math
import re
from typing import Any, Mapping, NamedTuple

import param

from content.section import Section, control_parameters

LONGEST = 64  # characters of a value; every legal one is far shorter


class Problem(NamedTuple):
    """One part of the input that was not taken: why, which control, what was given, what is allowed."""

    kind: str  # "unknown", "type", "range", "choice", "missing"
    name: str
    given: str
    allowed: str

    def __str__(self) -> str:
        said = {
            "unknown": f"there is no control {self.name!r}; this section has {self.allowed}",
            "type": f"{self.name}={self.given} is not of the right kind; allowed: {self.allowed}",
            "range": f"{self.name}={self.given} is out of range; allowed: {self.allowed}",
            "choice": f"{self.name}={self.given} is not a choice; allowed: {self.allowed}",
            "missing": f"{self.name} is missing; allowed: {self.allowed}",
        }
        return said[self.kind]


def allowed(parameter: param.Parameter) -> str:
    """What a control takes, in words that need no translation."""
    if isinstance(parameter, param.Selector):
        return ", ".join(str(choice) for choice in parameter.objects)
    if isinstance(parameter, param.String):
        return f"/{parameter.regex}/"
    low, high = parameter.bounds
    return f"{low:g} … {high:g}"


def take(parameter: param.Parameter, given: Any) -> Any:
    """`given` (text or a JSON value) as a legal value of the control.

    Raises ValueError with the kind of problem ("type", "range" or "choice") otherwise.
    """
    text = shown(given)
    if isinstance(given, (dict, list)) or given is None or len(text) > LONGEST:
        raise ValueError("type")
    if isinstance(parameter, param.Selector):
        for choice in parameter.objects:
            if text == str(choice):
                return choice
        raise ValueError("choice")
    if isinstance(parameter, param.String):
        if isinstance(given, str) and re.fullmatch(parameter.regex, given):
            return given
        raise ValueError("choice")
    if isinstance(given, bool):
        raise ValueError("type")
    try:
        number = float(given if "_" not in text else "")  # Python would read 1_0 as 10
    except (TypeError, ValueError):
        raise ValueError("type") from None
    low, high = parameter.bounds
    if not math.isfinite(number) or not low <= number <= high:
        raise ValueError("range")
    if isinstance(parameter, param.Integer):
        if number != int(number):
            raise ValueError("type")
        return int(number)
    return number + 0.0  # -0.0 becomes 0.0: one state, one address


def shown(given: Any) -> str:
    """What was given, short enough to be said back in one line."""
    text = given[: LONGEST + 1] if isinstance(given, str) else repr(given)
    text = text if text.isprintable() else repr(text)[1:-1]
    return text if len(text) <= LONGEST else text[:LONGEST] + "…"


def check(section: Section, given: Mapping[str, Any], *, complete: bool = False) -> tuple[dict[str, Any], list[Problem]]:
    """The full set of control values that `given` asks for, and what of it could not be taken.

    What is missing or refused keeps its default; with `complete` a missing
    control is a problem as well (a step's message carries them all).
    """
    parameters = control_parameters(section.controls)
    values = section.defaults()
    problems = []
    for name, value in given.items():
        if name not in parameters:
            problems.append(Problem("unknown", shown(str(name)), shown(value), ", ".join(parameters)))
            continue
        try:
            values[name] = take(parameters[name], value)
        except ValueError as problem:
            problems.append(Problem(str(problem), name, shown(value), allowed(parameters[name])))
    if complete:
        problems += [Problem("missing", name, "", allowed(p)) for name, p in parameters.items() if name not in given]
    return values, problems
