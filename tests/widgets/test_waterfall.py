"""Signed bars that add up: each begins where the last one ended, all on one scale that does not twitch."""

import doctest
import re

import pytest

from tests.widgets.markup import parse
from tests.widgets.sample import TRACE, VALUES, text
from widgets import waterfall
from widgets.cell import Result
from widgets.waterfall import Sum, Waterfall, bars, round_up

PARTS = tuple(Result(f"square[{i},{j}]", "", "a", "{share}") for i in range(2) for j in range(2))  # 1, 2, 3, −4
SUM = Sum(PARTS, Result("row[1]", "b", "", ""))
WATERFALL = Waterfall("square", (SUM, Sum((), Result("single", "c", "", ""))))


def ends(root):
    return [tuple(float(n) for n in re.findall(r":(-?[\d.]+)", bar["style"])) for bar in root.all("i", class_="extent")]


def test_doctests_run():
    assert doctest.testmod(waterfall).failed == 0


def test_a_bar_begins_where_the_one_before_it_ended_and_the_total_at_zero():
    assert bars(SUM, TRACE, VALUES) == [(0, 1), (1, 3), (3, 6), (6, 2), (0, 0.5)]


def test_all_sums_share_one_scale():
    root = parse(WATERFALL.html(TRACE, VALUES, text()))
    assert ends(root) == [(0, 0.1), (0.1, 0.3), (0.3, 0.6), (0.6, 0.2), (0, 0.05), (0, 0.7)]
    assert [bar["data-sign"] for bar in root.all("i", class_="extent")] == [*3 * ["positive"], "negative", "positive", "positive"]
    assert len(root.all("tr", class_="total")) == 2


def test_a_state_without_numbers_has_bars_of_no_length():
    assert set(ends(parse(WATERFALL.html(None, VALUES, text())))) == {(0, 0)}


@pytest.mark.parametrize(("size", "scale"), [(0.0, 1), (1e-13, 1), (0.19, 0.2), (0.2, 0.2), (0.21, 0.5), (5.1, 10), (1e90, 1e90), (3e14, 5e14)])
def test_a_scale_is_one_two_or_five_times_a_power_of_ten(size, scale):
    assert round_up(size) == pytest.approx(scale)


def test_arrays_of_parts_and_totals_stand_beside_the_bars():
    tables = parse(WATERFALL.html(TRACE, VALUES, text())).all("table", data_array=True)
    assert {table["data-array"] for table in tables} == {"square", "row", "single"} == set(WATERFALL.arrays())
