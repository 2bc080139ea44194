"""Words of a view: labels with a fallback, headers of axes, attributes that are safe."""

import doctest

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.widgets.markup import parse
from tests.widgets.sample import LABELS, TRACE, text
from widgets import figure
from widgets.text import attributes


def test_a_label_is_the_sections_or_the_bare_name():
    assert text().label("controls", "share") == "share <of>"
    assert text().label("controls", "count") == "count"
    assert text().label("nothing", "count") == "count"
    assert text(labels={}).note("row") == "" and text().note("square") == "four & more"


@pytest.mark.parametrize(
    ("axis", "length", "headers"),
    [
        ("words", 2, ["cat", "milk"]), ("words", 1, ["cat"]), ("words", 3, ["0", "1", "2"]), (None, 2, ["0", "1"]),
        ("nothing", 2, ["0", "1"]),
        ("ids:words", 3, ["0: milk", "1: cat", "2: milk"]), ("ids::words", 3, ["milk", "cat", "milk"]),
        ("ids:words", 2, ["0: milk", "1: cat"]),
    ],
)  # fmt: skip
def test_headers_are_the_words_of_an_axis_or_numbers_from_zero(axis, length, headers):
    assert list(text().headers(axis, length, TRACE)) == headers


def test_without_numbers_there_is_nothing_to_look_up():
    assert list(text().headers("ids:words", 2, None)) == ["0", "1"]


def test_labels_without_axes_give_numbers():
    assert list(text(labels={**LABELS, "axes": None}).headers("words", 2)) == ["0", "1"]


def test_attributes_leave_out_what_is_not_there():
    assert (
        attributes(a=None, b=False, c=True, d=0, e="", class_="x", data_long_name=1.5)
        == 'c d="0" e="" class="x" data-long-name="1.5"'
    )


@given(st.text())
def test_any_text_is_safe_in_an_attribute(value):
    root = parse(f"<i {attributes(title=value)}></i>")
    assert root.one("i")["title"] == value.replace("\r\n", "\n").replace("\r", "\n") or "\r" in value or "\0" in value


def test_numbers_in_attributes_keep_every_digit():
    assert attributes(value=np.float64(1 / 3)) == f'value="{1 / 3}"'


def test_doctests_run():
    assert doctest.testmod(figure).failed == 0
