"""A lab as HTML: what stands where, what is on show when, and what the page's module is told."""

import json

import pytest

from tests.widgets.markup import parse
from tests.widgets.sample import PARAMETERS, TRACE, VALUES, text
from widgets.control import Buttons, Together, When
from widgets.lab import Controls, Fact, Group, Lab, Row, Tab, describe
from widgets.line import Lines
from widgets.matrix import Matrix

LINES = Lines(("row",), x_label="x", y_label="y")
LAB = Lab(
    controls=(
        "kind", When("kind", "a", ("share", When("switch", 1, ("count",)))), Together("head", ("bits", "switch")),
        Buttons((("go", "share=1&kind=a"),)),
    ),
    views=(
        Group("head", (
            Row((Matrix("square", edit="e{row}{column}"), LINES)),
            Tab("kind", ("a",), (Matrix("row"), Lines(("curve[0]",), x_label="x", y_label="y"))),
            Controls(("whole",)),
            Fact("total", "fact", form="3"),
        ), note="note"),
    ),
)  # fmt: skip


def written(values=VALUES, trace=TRACE, hidden=()):
    return parse(LAB.html(trace, {"total": 6.0} if trace else {}, PARAMETERS, values, text(), hidden))


def test_controls_are_listed_as_declared_wherever_they_stand():
    assert LAB.control_names() == ["kind", "share", "count", "bits", "switch", "whole"]


def test_arrays_and_pictures_are_found_at_any_depth():
    assert LAB.shown_arrays() == {"square", "row", "curve"}
    assert LAB.pictures()[0] is LINES and len(LAB.pictures()) == 2
    assert [figure["data-figure"] for figure in written().all("figure", data_figure=True)] == ["0", "1"]


def test_every_control_has_its_inputs():
    inputs = {element["data-control"] for element in written().all("input", data_control=True)}
    assert inputs == set(LAB.control_names()) | {"e00", "e01", "e10", "e11"}


@pytest.mark.parametrize(("kind", "shown"), [("a", True), ("b", False)])
def test_what_depends_on_a_choice_is_there_and_hidden_until_it_is_made(kind, shown):
    parts = written({**VALUES, "kind": kind}).all("div", data_when="kind")
    assert [part["data-is"] for part in parts] == ["a", "a"]
    assert ["hidden" not in part for part in parts] == [shown, shown]
    assert parts[0].one("div", data_when="switch")["data-is"] == "1"
    assert parts[1].all("table", data_array="row")


def test_a_group_has_a_heading_and_a_note():
    section = written().one("section")
    assert section.one("h2").text == "Heading a note"


def test_controls_together_have_one_heading():
    together = written().one("fieldset", class_="together")
    assert together.one("legend").text == "Heading"
    assert {element["data-control"] for element in together.all("input", data_control=True)} == {"bits", "switch"}


def test_a_button_sets_several_controls():
    button = written().one("a", role="button")
    assert (button["data-set"], button.text) == ("share=1&kind=a", "Go")


def test_a_fact_stands_beside_the_views():
    output = written().one("output")
    assert (output["data-fact"], output["data-format"], output.text) == ("total", "3", "6.000")
    assert written(trace=None).one("output").text == "–"
    assert output.parent.text.startswith("So many")


def test_hidden_controls_are_marked():
    hidden = written(hidden=("share", "whole")).all("div", data_for=True, hidden=True)
    assert {element["data-for"] for element in hidden} == {"share", "whole"}


def test_a_state_without_numbers_is_written_too():
    assert written(trace=None).all("table", data_array="square")


def test_the_module_is_told_kind_limits_default_and_value():
    told = json.loads(json.dumps(describe(PARAMETERS, {**VALUES, "share": 2.0})))
    assert told["share"] == {"kind": "number", "low": -1.0, "high": 3.0, "step": 0.05, "default": 0.5, "value": 2.0}
    assert told["count"] == {"kind": "whole", "low": 2, "high": 6, "step": 1, "default": 4, "value": 4}
    assert told["kind"] == {"kind": "choice", "choices": ["a", "b"], "default": "b", "value": "b"}
    assert told["bits"] == {"kind": "text", "pattern": "[01]{3}", "default": "110", "value": "110"}
    assert told["e00"]["step"] == pytest.approx(0.18)
    assert list(told) == list(PARAMETERS)
