"""Steps that the reader takes: buttons, the number now and one step later, and what the page's module is told."""

import json

import pytest

from content.strings import LANGUAGES, STRINGS
from tests.widgets.markup import parse
from tests.widgets.sample import TRACE, VALUES, text
from widgets.steps import Steps

STEPS = Steps("square", sets=("e00", "e01", "e10"), to="row", number="single", after="ids", keep=("share",))
TRACE_LATER = type(TRACE)(**{**vars(TRACE), "ids": 3.0})


@pytest.mark.parametrize("language", LANGUAGES)
def test_buttons_and_numbers_are_there_before_any_script(language):
    root, words = parse(STEPS.html(TRACE_LATER, VALUES, text(language))), STRINGS[language]
    assert [button.text for button in root.all("button")] == [words["step"], words["ten_steps"], words["undo"]]
    assert all("disabled" in button for button in root.all("button"))
    assert [span["data-cell"] for span in root.all("span", data_cell=True)] == ["single", "ids"]
    written = [text(language).number(value, "4g") for value in (7.0, 3.0)]
    assert [span.text for span in root.all("span", data_cell=True)] == ["7.00", "3.00"] if language == "en" else written


def test_the_module_is_told_what_a_step_sets_and_to_what():
    told = json.loads(parse(STEPS.html(TRACE_LATER, VALUES, text())).one("figure")["data-steps"])
    assert told == {"sets": ["e00", "e01", "e10"], "to": "row", "number": "single", "after": "ids", "keep": ["share"]}


def test_the_history_has_a_table():
    twin = parse(STEPS.html(TRACE_LATER, VALUES, text())).one("details", class_="twin")
    assert twin.one("table", class_="plain history")
    assert [table["data-array"] for table in twin.all("table", data_array=True)] == ["single", "ids"]
