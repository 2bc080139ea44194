"""Controls as native inputs: slider with entry and mark, choice, switch, text; each labelled, as the page contract has it."""

import pytest

from tests.widgets.markup import parse
from tests.widgets.sample import PARAMETERS, VALUES, text
from widgets.control import When, control_html


def control(name, value=None, language="en", hidden=False):
    value = VALUES[name] if value is None else value
    return parse(control_html(name, PARAMETERS[name], value, text(language), hidden)).one("div", data_for=name)


@pytest.mark.parametrize(("name", "value", "written"), [("share", 0.75, "0.75"), ("whole", 12.0, "12"), ("count", 3, "3")])
def test_a_number_is_a_range_input_with_an_entry_field(name, value, written):
    box = control(name, value)
    parameter = PARAMETERS[name]
    slider = box.one("input", type="range")
    assert slider["data-control"] == name
    assert [float(slider[key]) for key in ("min", "max", "value")] == [*parameter.bounds, value]
    assert float(slider["step"]) == (parameter.step or 1)
    assert box.one("label")["for"] == slider["id"]
    entry = box.one("input", data_entry=name)
    assert (entry["type"], entry["inputmode"], entry["value"]) == ("text", "decimal", written)
    assert entry["aria-label"] == box.one("label").text
    assert box.classes == {"control", "slider"}


def test_the_entry_is_written_in_the_language_of_the_page():
    assert control("share", 0.75, "uk").one("input", data_entry="share")["value"] == "0,75"


def test_the_textbook_value_is_marked_where_it_stands():
    mark = control("share", 2.0).one("i", class_="mark")
    assert mark["style"] == "--at:0.3750"  # 0.5 between −1 and 3
    assert "0.50" in mark["title"]


def test_every_number_and_text_has_its_own_reset():
    for name in ("share", "count", "bits", "line"):
        button = control(name).one("button", data_reset=name)
        assert button["type"] == "button" and control(name).one("label").text in button["aria-label"]


def test_a_choice_is_a_group_of_radios_with_its_words():
    box = control("kind", "a")
    radios = box.all("input", type="radio", data_control="kind")
    assert [radio["value"] for radio in radios] == ["a", "b"]
    assert ["checked" in radio for radio in radios] == [True, False]
    assert len({radio["name"] for radio in radios}) == 1
    assert [label.text for label in box.all("label")] == ["first & best", "second"]
    assert box.one("fieldset").one("legend").text == "kind"


@pytest.mark.parametrize(("value", "on"), [(1, True), (0, False)])
def test_a_choice_between_zero_and_one_is_a_switch(value, on):
    box = control("switch", value)
    switch = box.one("input", type="checkbox", role="switch", data_control="switch")
    assert ("checked" in switch) == on and switch.inside("label")


@pytest.mark.parametrize(("name", "kind"), [("bits", "bits"), ("line", "field")])
def test_a_text_is_a_field_that_knows_its_pattern(name, kind):
    box = control(name)
    field = box.one("input", type="text", data_control=name)
    assert (field["pattern"], field["value"]) == (PARAMETERS[name].regex, VALUES[name])
    assert box.one("label")["for"] == field["id"]
    assert box.classes == {"control", kind}


def test_a_line_of_words_holds_as_many_letters_as_its_pattern_takes():
    assert int(control("line").one("input")["maxlength"]) == 64
    assert control("line").one("small").text == "words only"


def test_labels_and_values_are_escaped():
    assert control("share").one("label").text == "share <of>"
    assert control("bits").one("label").text == 'bits "on"'


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_hidden_control_is_hidden_and_still_there(name):
    assert "hidden" in control(name, hidden=True)
    assert "hidden" not in control(name)
    assert control(name, hidden=True).all("input", data_control=name)


def test_a_condition_has_one_value_or_several():
    assert When("kind", "a", ()).values() == ("a",)
    assert When("count", (3, 4), ()).values() == (3, 4)
