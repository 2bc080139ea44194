"""Miniatures: any array becomes a small drawing inside its frame, with as many marks as were promised."""

import math
import re
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from tests.widgets.markup import parse
from tests.widgets.sample import TRACE, text
from widgets.matrix import SHARES
from widgets.miniature import BARS, CELLS, LINES, MOST_COLUMNS, MOST_ROWS, Miniature


def drawn(miniature, array=None):
    trace = TRACE if array is None else SimpleNamespace(**{miniature.array: np.asarray(array)})
    return parse(miniature.html(trace)).one("svg")


def test_a_cell_for_each_number_coloured_as_in_the_tables():
    svg = drawn(Miniature("square"))
    assert svg["viewbox"] == "0 0 2 2"
    cells = [(cell["class"], cell["style"]) for cell in svg.all("rect")]
    assert cells == [("positive", "--t:0.25"), ("positive", "--t:0.50"), ("positive", "--t:0.75"), ("negative", "--t:1.00")]
    assert {cell["style"] for cell in drawn(Miniature("square", most=2.0)).all("rect")} == {"--t:0.50", "--t:1.00"}


def test_it_is_named_as_the_array_is_or_hidden():
    assert parse(Miniature("square").html(TRACE, text())).one("svg", role="img")["aria-label"] == "A <square>"
    assert drawn(Miniature("square"))["aria-hidden"] == "true"


def test_where_a_state_has_no_numbers_nothing_is_drawn():
    svg = parse(Miniature("square").html(None, text())).one("svg")
    assert svg["data-miniature"] == "square" and not list(svg.walk())


def test_shares_are_bars_from_the_ground_and_signed_numbers_stand_on_both_sides_of_zero():
    low, high, half = (float(bar["height"]) for bar in drawn(Miniature("row", BARS, SHARES, most=1.0)).all("rect"))
    assert (high / low, half / low) == (pytest.approx(2.0, abs=0.01), pytest.approx(4 / 3, abs=0.01))
    up, down = drawn(Miniature("row", BARS), [1.0, -1.0]).all("rect")
    assert float(up["y"]) + float(up["height"]) == float(down["y"])
    assert (up["class"], down["class"]) == ("positive", "negative")


def test_each_row_is_a_curve_of_its_own():
    curves = drawn(Miniature("curve", LINES)).all("path")
    assert [curve["class"] for curve in curves] == ["curve v0", "curve v1", "curve v2"]
    assert curves[0]["d"].startswith("M0.0 ") and curves[0]["d"].count("L") == 3


def test_a_logarithm_leaves_out_what_has_none():
    (way,) = [path["d"] for path in drawn(Miniature("row", LINES, log=True), [1.0, 0.1, 0.0, 1e-300, -1.0]).all("path")]
    assert (way.count("M"), way.count("L")) == (2, 1)
    assert drawn(Miniature("row", LINES, log=True), [0.0, -1.0]).one("path")["d"] == ""
    one, tenth = (float(y) for y in re.findall(r" ([\d.]+)", drawn(Miniature("row", LINES, log=True, low=0.01, high=1.0), [1.0, 0.1]).one("path")["d"]))
    assert tenth == pytest.approx(30.0) and one < tenth


def test_of_a_long_axis_every_kth_element_is_drawn():
    rows = Miniature("a", CELLS).rows(np.arange(40 * 64).reshape(40, 64))
    assert rows.shape == (14, 22) and rows[1].tolist() == list(range(3 * 64, 4 * 64, 3))


@given(
    st.sampled_from([CELLS, LINES, BARS]), st.booleans(),
    arrays.arrays(float, arrays.array_shapes(min_dims=0, max_dims=3, max_side=9), elements=st.floats(-1e300, 1e300)),
)  # fmt: skip
def test_any_array_is_drawn_inside_its_frame(kind, log, array):
    svg = drawn(Miniature("a", kind, log=log), array)
    _, _, width, height = map(float, svg["viewbox"].split())
    rows, columns = Miniature("a", kind).rows(array).shape
    assert rows <= MOST_ROWS[kind] and columns <= MOST_COLUMNS[kind]
    if kind == LINES:
        assert len(svg.all("path")) == rows
        for x, y in re.findall(r"[ML](\S+) ([\d.einfan-]+)", "".join(path["d"] for path in svg.all("path"))):
            assert 0 <= float(x) <= width and 0 <= float(y) <= height
        return
    assert len(svg.all("rect")) == rows * columns
    for mark in svg.all("rect"):
        x, y, wide, high = (float(mark[side]) for side in ("x", "y", "width", "height"))
        assert all(map(math.isfinite, (x, y, wide, high))) and wide >= 0 and high >= 0
        assert -0.03 <= x <= x + wide <= width + 0.03 and -0.03 <= y <= y + high <= height + 0.03
