"""A row of places that are switched on and off: native switches, each with its word and its verdict."""

from types import SimpleNamespace

from tests.widgets.markup import parse
from tests.widgets.sample import LABELS, VALUES, text
from widgets.switches import Switches

STATE = SimpleNamespace(verdict=[3, 0], allowed=[0.0, 1.0])
WORDS = {**LABELS, "axes": {"verdicts": ["left out", "in use", "closed", "leak"]}, "controls": {"switch": "a <word>", "other": "two"}}
SWITCHES = Switches("square", names=("switch", "other"), verdict="verdict", verdicts="verdicts", at="count", also=("allowed",))
SETTING = {**VALUES, "other": 0, "count": 1}


def made(trace=STATE):
    return parse(SWITCHES.html(trace, SETTING, text(labels=WORDS)))


def test_each_place_is_a_native_switch_with_its_word_and_verdict():
    places = made().all("li")
    boxes = [place.one("input") for place in places]
    assert [(box["type"], box["role"], box["data-control"], "checked" in box) for box in boxes] == [
        ("checkbox", "switch", "switch", True),
        ("checkbox", "switch", "other", False),
    ]
    assert [place.one("b").text for place in places] == ["a <word>", "two"]
    assert [(place["data-verdict"], place.one("small").text) for place in places] == [("3", "leak"), ("0", "left out")]
    assert [box["aria-describedby"] for box in boxes] == [place.one("small")["id"] for place in places]


def test_the_place_that_a_control_names_is_marked():
    assert ["here" in place.classes for place in made().all("li")] == [False, True]


def test_verdicts_have_a_table():
    assert [table["data-array"] for table in made().all("table", data_array=True)] == ["verdict", "allowed"]


def test_a_state_without_numbers_has_no_verdict():
    places = made(None).all("li")
    assert [place.one("small").text for place in places] == ["–", "–"] and not any("data-verdict" in place for place in places)
