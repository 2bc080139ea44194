"""What a section is: a value that ties its controls to the numbers they give."""

from __future__ import annotations

from functools import cache
from types import MappingProxyType
from typing import Any, Callable, Mapping, NamedTuple

import numpy as np
import param


class Undefined(ValueError):
    """The controls ask for something that has no value, such as the softmax of nothing.

    `reason` is a key into the section's `undefined` labels, where the page
    explains to the reader what happened and how to leave it.
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class Section(NamedTuple):
    """A section of the book.

    `controls` declares names, bounds, steps and defaults; `compute` takes them
    all by name and returns a NamedTuple of arrays, the trace; `facts` names the
    numbers that the prose quotes from a trace.
    """

    id: str
    controls: type[param.Parameterized]
    compute: Callable[..., Any]
    facts: Callable[[Any], Mapping[str, float]]

    def trace(self, values: Mapping[str, Any]) -> Any:
        """The trace at `values` (a full set of controls). Raises `Undefined` where there is none."""
        return self.compute(**values)

    def defaults(self) -> dict[str, Any]:
        """The textbook setting: every control at its default."""
        return {name: parameter.default for name, parameter in control_parameters(self.controls).items()}


@cache
def control_parameters(controls: type[param.Parameterized]) -> Mapping[str, param.Parameter]:
    """The declared controls by name, in the order they were written."""
    own = [name for name in vars(controls) if name in controls.param and name != "name"]
    return MappingProxyType({name: controls.param[name] for name in own})


def arrays(trace: Any) -> dict[str, np.ndarray]:
    """Every array of a trace by name, scalars as 0-d arrays."""
    return {name: np.asarray(value) for name, value in trace._asdict().items()}
