"""The one check of control values: what it takes, what it refuses, and that it says so in one short line."""

import json
import math

import numpy as np
import param
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from content import toc
from content.controls import LONGEST, Problem, allowed, check, shown, take
from content.section import Section, control_parameters
from tests.content.drawn import WRITTEN, values_of

KINDS = {"unknown", "type", "range", "choice", "missing"}
MEGABYTES = 10_000_000


class Controls(param.Parameterized):
    """One of each kind."""

    share = param.Number(0.5, bounds=(-1.0, 2.0), step=0.1)
    count = param.Integer(3, bounds=(1, 60))
    word = param.Selector(default="causal", objects=["none", "causal"])
    switch = param.Selector(default=1, objects=[0, 1])
    bits = param.String("110", regex=r"^[01]{3,8}$")


SECTION = Section("sample", Controls, lambda **values: None, lambda trace: {})
PARAMETERS = control_parameters(Controls)


def kind_of(name, value):
    """The kind of problem that this value of a control is, or None; says it in one line as well."""
    values, problems = check(SECTION, {name: value})
    assert len(problems) <= 1
    for problem in problems:
        assert values == SECTION.defaults()
        assert problem.name == name
        assert_one_line(str(problem))
    return problems[0].kind if problems else None


def assert_one_line(text):
    assert text and text.isprintable(), text[:200]
    assert len(text) < 2000


@pytest.mark.parametrize(
    ("name", "value", "taken"),
    [
        ("share", "1.5", 1.5), ("share", 1, 1.0), ("share", -1, -1.0), ("share", " 2 ", 2.0), ("share", "1e-3", 0.001),
        ("share", "5e-324", 5e-324),
        ("count", "7", 7), ("count", 7.0, 7), ("count", "1e1", 10), ("count", "60", 60),
        ("word", "none", "none"), ("switch", "0", 0), ("switch", 0, 0), ("bits", "0110", "0110"),
    ],
)  # fmt: skip
def test_a_legal_value_is_taken_from_text_and_from_json(name, value, taken):
    values, problems = check(SECTION, {name: value})
    assert problems == []
    assert values[name] == taken and type(values[name]) is type(taken)


@pytest.mark.parametrize(
    "number",
    [math.nan, math.inf, -math.inf, 1e308, -1e308, 2.0000000000000004, "nan", "inf", "-Infinity", "1e400", 10**300, 10**400],
)
@pytest.mark.parametrize("name", ["share", "count"])
def test_a_number_that_is_not_finite_or_out_of_bounds_is_refused(name, number):
    assert kind_of(name, number) in ("range", "type")


@pytest.mark.parametrize(
    "value",
    [
        True,
        False,
        None,
        [],
        [1.0],
        [[]],
        {},
        {"share": 1},
        "",
        "one",
        "0x1",
        "1_0",
        "1,5",
        "1 2",
        "--1",
        "1\n2",
        "\x00",
        "½",
        "٣٤٥٦",
    ],
)
def test_what_is_no_number_is_no_value_of_a_number(value):
    assert kind_of("share", value) in ("type", "range")
    assert kind_of("count", value) in ("type", "range")


@pytest.mark.parametrize("value", ["3.5", 3.5, "1e-3"])
def test_a_whole_number_control_takes_no_fraction(value):
    assert kind_of("count", value) in ("type", "range")


@pytest.mark.parametrize("value", [True, "True", 2, 1.0, "1.0", "01", "", None, math.nan, [1]])
def test_a_switch_takes_its_own_choices_only(value):
    assert kind_of("switch", value) in ("choice", "type")


@pytest.mark.parametrize("value", [110, "11", "111111111", "112", "110\n", "١١٠", "", None, ["110"]])
def test_a_text_control_takes_what_its_pattern_takes_only(value):
    assert kind_of("bits", value) in ("choice", "type")


@pytest.mark.parametrize("name", PARAMETERS)
@pytest.mark.parametrize(
    "make", [lambda: "9" * MEGABYTES, lambda: "\n" * MEGABYTES, lambda: ["1"] * 100_000, lambda: {"x" * MEGABYTES: 1}]
)
def test_megabytes_are_refused_in_a_short_line(name, make):
    assert kind_of(name, make()) == "type"


def test_megabytes_as_the_name_of_a_control_are_refused_in_a_short_line():
    _, (problem,) = check(SECTION, {"q" * MEGABYTES: 1})
    assert problem.kind == "unknown"
    assert_one_line(str(problem))


def test_minus_zero_is_zero_so_that_one_state_has_one_address():
    values, _ = check(SECTION, {"share": "-0.0"})
    assert math.copysign(1, values["share"]) == 1


def test_an_unknown_control_is_a_problem_and_the_rest_is_taken():
    values, (problem,) = check(SECTION, {"nothing": 1, "share": 1})
    assert (problem.kind, problem.name) == ("unknown", "nothing")
    assert "share, count, word, switch, bits" in str(problem)
    assert values == {**SECTION.defaults(), "share": 1.0}


@pytest.mark.parametrize("name", ["__class__", "name", "param", "trace", "Share", "share ", "", "данні"])
def test_what_belongs_to_the_class_and_not_to_the_section_is_no_control(name):
    _, (problem,) = check(SECTION, {name: 1})
    assert problem.kind == "unknown"


def test_missing_controls_matter_only_where_all_are_asked_for():
    assert check(SECTION, {}) == (SECTION.defaults(), [])
    values, problems = check(SECTION, {"share": 1}, complete=True)
    assert values == {**SECTION.defaults(), "share": 1.0}
    assert [(p.kind, p.name) for p in problems] == [("missing", name) for name in PARAMETERS if name != "share"]
    for problem in problems:
        assert_one_line(str(problem))


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_kind_of_problem_has_its_sentence(kind):
    assert "share" in str(Problem(kind, "share", "9", "-1 … 2"))


def test_what_is_allowed_is_said_without_words_of_a_language():
    assert [allowed(parameter) for parameter in PARAMETERS.values()] == [
        "-1 … 2",
        "1 … 60",
        "none, causal",
        "0, 1",
        "/^[01]{3,8}$/",
    ]


@given(st.text() | st.recursive(st.none() | st.booleans() | st.floats() | st.integers() | st.text(), st.lists))
def test_what_was_given_is_said_back_short_and_in_one_line(given_value):
    text = shown(given_value)
    assert len(text) <= LONGEST + 1
    assert text.isprintable()


@given(
    st.sampled_from(list(PARAMETERS)),
    st.text() | st.floats() | st.integers() | st.booleans() | st.none() | st.lists(st.integers()),
)
def test_taking_gives_a_legal_value_or_names_a_kind(name, value):
    parameter = PARAMETERS[name]
    try:
        taken = take(parameter, value)
    except ValueError as problem:
        assert str(problem) in KINDS
        return
    Controls(**{name: taken})  # param's own check
    assert take(parameter, taken) == taken
    assert take(parameter, str(taken)) == taken


@pytest.mark.parametrize("id", WRITTEN)
def test_defaults_are_legal_values_of_every_section(id):
    section = toc.load(id)
    values, problems = check(section, section.defaults(), complete=True)
    assert problems == []
    assert values == section.defaults()
    assert [type(value) for value in values.values()] == [type(value) for value in section.defaults().values()]


@pytest.mark.parametrize("id", WRITTEN)
def test_every_control_of_every_section_says_what_it_is_and_what_it_takes(id):
    for name, parameter in control_parameters(toc.load(id).controls).items():
        assert name.isidentifier() and name not in ("page", "lang", "look", "view", "hide")
        assert parameter.doc and parameter.doc.strip(), name
        if isinstance(parameter, param.Selector):
            assert len({str(choice) for choice in parameter.objects}) == len(parameter.objects) > 1
        elif not isinstance(parameter, param.String):
            low, high = parameter.bounds
            assert np.isfinite([low, high]).all() and low < high


@pytest.mark.parametrize("id", WRITTEN)
@settings(max_examples=15)
@given(st.data())
def test_values_survive_the_way_through_json_and_through_text(id, data):
    section = toc.load(id)
    values = data.draw(values_of(section))
    assert check(section, json.loads(json.dumps(values)), complete=True) == (values, [])
    assert check(section, {name: str(value) for name, value in values.items()}, complete=True) == (values, [])
