"""What a view needs to know to write itself in one language: labels, words and the way numbers are written."""

from __future__ import annotations

import re
from html import escape
from typing import Any, Callable, Mapping, NamedTuple, Sequence

import numpy as np

ELEMENT = re.compile(r"(\w+)\[([\d,\s]+)\]")


class Text(NamedTuple):
    """Words for one page. `labels` are the section's, `words` the frame's; `number` writes a number."""

    labels: Mapping[str, Any]
    words: Mapping[str, str]
    number: Callable[[float, str], str]

    def label(self, kind: str, name: str) -> str:
        """The section's label of this kind, or the bare name."""
        return str((self.labels.get(kind) or {}).get(name, name))

    def note(self, array: str) -> str:
        return str((self.labels.get("notes") or {}).get(array, ""))

    def headers(self, axis: str | None, length: int, trace: Any = None) -> Sequence[str]:
        """Words of a named axis, or numbers from zero.

        "ids:vocabulary" looks up each element of an array and counts them; "ids::vocabulary" does not count.
        """
        axes = self.labels.get("axes") or {}
        array, _, words = (axis or "").rpartition(":")
        if array and trace is not None:
            looked_up = [str(axes[words][int(word)]) for word in getattr(trace, array.rstrip(":"))][:length]
            return looked_up if array.endswith(":") else [f"{k}: {word}" for k, word in enumerate(looked_up)]
        named = axes.get(axis)
        if named and len(named) >= length:
            return [str(word) for word in named[:length]]
        return [str(k) for k in range(length)]


def quote(known: Mapping[str, Any], name: str) -> float:
    """The number called `name`: a fact, or an element such as `weights[0,2]`. Raises KeyError or IndexError."""
    element = ELEMENT.fullmatch(name)
    if element:
        index = tuple(int(i) for i in element[2].split(","))
        return float(np.asarray(known[element[1]])[index])
    return float(known[name])


def attributes(**given: Any) -> str:
    """HTML attributes; None and False are left out, True stands bare, underscores become hyphens."""
    parts = []
    for name, value in given.items():
        if value is None or value is False:
            continue
        name = name.rstrip("_").replace("_", "-")
        parts.append(name if value is True else f'{name}="{escape(str(value))}"')
    return " ".join(parts)
