"""Arrows: where the tips are, what a screen reader hears, and words that stay beside their tips."""

import pytest

from tests.widgets.markup import parse
from tests.widgets.sample import text
from widgets.arrows import Arrows, word_place

ARROWS = Arrows((("a0", "a1"), ("b0", "b1")), names="tokens", reach=3.0)
VALUES = {"a0": 1.0, "a1": -2.5, "b0": 0.0, "b1": 3.0}


def test_tips_stand_at_their_coordinates_with_up_as_up():
    root = parse(ARROWS.html(VALUES, text()))
    assert [(line["x2"], line["y2"]) for line in root.all("line")] == [("1", "2.5"), ("0", "-3")]
    for arrow, (x, y) in zip(root.all("g"), ARROWS.controls):
        assert (arrow["role"], arrow["data-x"], arrow["data-y"]) == ("slider", x, y)
        assert float(arrow["aria-valuenow"]) == VALUES[x]
        assert arrow["aria-label"]


@pytest.mark.parametrize("x", [-3, -0.2, 0, 0.31, 3])
@pytest.mark.parametrize("y", [-3, 0, 3])
def test_a_word_stays_within_the_drawing(x, y):
    place = word_place(x, y)
    assert -3 * 1.23 <= float(place["y"]) <= 3 * 1.23
    assert abs(float(place["x"])) <= 3 * 1.16
