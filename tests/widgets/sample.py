"""A small world for the widgets' tests: controls, a trace and labels that belong to no section."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import param

from content.numbers import write_number
from content.section import control_parameters
from content.strings import STRINGS
from widgets.text import Text


class Controls(param.Parameterized):
    share = param.Number(0.5, bounds=(-1.0, 3.0), step=0.05)
    whole = param.Number(10.0, bounds=(0.0, 20.0), step=1.0)
    count = param.Integer(4, bounds=(2, 6))
    kind = param.Selector(default="b", objects=["a", "b"])
    switch = param.Selector(default=1, objects=[0, 1])
    bits = param.String("110", regex="[01]{3}")
    line = param.String("a word", regex=r"[\w ]{0,64}")
    e00 = param.Number(1.0, bounds=(-9.0, 9.0))
    e01 = param.Number(2.0, bounds=(-9.0, 9.0))
    e10 = param.Number(3.0, bounds=(-9.0, 9.0))
    e11 = param.Number(-4.0, bounds=(-9.0, 9.0))


PARAMETERS = control_parameters(Controls)
VALUES = {name: parameter.default for name, parameter in PARAMETERS.items()}
TRACE = SimpleNamespace(
    row=np.array([0.25, 0.5, 1 / 3]),
    square=np.array([[1.0, 2.0], [3.0, -4.0]]),
    seen=np.array([[1, 0], [1, 1]]),
    ids=np.array([1, 0, 1]),
    single=np.array(7.0),
    curve=np.arange(12.0).reshape(3, 4),
)
LABELS = {
    "controls": {"share": "share <of>", "kind": "kind", "bits": 'bits "on"'},
    "options": {"kind": ["first & best", "second"]},
    "arrays": {"row": "A row", "square": "A <square>", "curve": "Curves"},
    "notes": {"square": "four & more", "line": "words only"},
    "axes": {"words": ["cat", "milk"], "sides": ["left", "right"], "ways": ["up", "down", "over"]},
    "words": {"x": "place", "y": "size", "head": "Heading", "note": "a note", "go": "Go", "fact": "So many"},
}


def text(language="en", labels=LABELS):
    return Text(labels, STRINGS[language], lambda value, form: write_number(value, form, language))
