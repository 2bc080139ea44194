"""A section as a value: its controls in the order they were written, its defaults, its arrays."""

from typing import NamedTuple

import numpy as np
import param
import pytest

from content import toc
from content.section import Section, Undefined, arrays, control_parameters
from tests.content.drawn import WRITTEN


class Trace(NamedTuple):
    row: np.ndarray
    single: float


class Controls(param.Parameterized):
    b = param.Number(2.0, bounds=(0.0, 3.0))
    a = param.Integer(1, bounds=(0, 3))
    locals().update({f"e{k}": param.Number(0.0, bounds=(0.0, 1.0)) for k in range(2)})


def compute(*, b, a, e0, e1):
    if b == 0:
        raise Undefined("nothing", "there is nothing to share")
    return Trace(np.array([b, a]), 3.0)


SECTION = Section("sample", Controls, compute, lambda trace: {"sum": trace.row.sum()})


def test_controls_come_in_the_order_they_were_written_without_params_own():
    assert list(control_parameters(Controls)) == ["b", "a", "e0", "e1"]


def test_defaults_are_the_textbook_setting():
    assert SECTION.defaults() == {"b": 2.0, "a": 1, "e0": 0.0, "e1": 0.0}


def test_arrays_of_a_trace_include_its_single_numbers():
    found = arrays(SECTION.trace(SECTION.defaults()))
    assert {name: array.shape for name, array in found.items()} == {"row": (2,), "single": ()}


def test_undefined_is_a_value_error_that_carries_its_reason():
    with pytest.raises(ValueError, match="nothing to share") as caught:
        SECTION.trace({**SECTION.defaults(), "b": 0.0})
    assert caught.value.reason == "nothing"


@pytest.mark.parametrize("id", WRITTEN)
def test_every_section_computes_a_named_tuple_of_numbers_at_its_defaults(id):
    section = toc.load(id)
    trace = section.trace(section.defaults())
    assert section.id == id
    for name, array in arrays(trace).items():
        assert array.dtype.kind in "fiub", name
        assert array.ndim <= 2, f"{name}: no view shows more than two axes"
    assert not set(section.defaults()) & set(section.facts(trace)), "a fact and a control of one name"


@pytest.mark.parametrize("id", WRITTEN)
def test_every_section_computes_the_same_numbers_twice(id):
    section = toc.load(id)
    once, again = (section.trace(section.defaults()) for _ in range(2))
    for name, array in arrays(once).items():
        np.testing.assert_array_equal(array, arrays(again)[name], err_msg=name)
