"""A table of numbers: row and column headers, full precision in each cell, colours, entries, switches."""

import json

import pytest

from tests.widgets.markup import parse
from tests.widgets.sample import TRACE, text
from widgets.matrix import PLAIN, SHARES, Matrix, Toggle


def table(matrix, trace=TRACE, language="en"):
    return parse(matrix.html(trace, text(language))).one("table")


def values(table):
    return [[float(cell["data-value"]) for cell in row.all("td", data_value=True)] for row in table.one("tbody").all("tr")]


def test_a_square_has_row_and_column_headers_and_full_numbers():
    made = table(Matrix("square", rows="words", columns="sides"))
    assert made["data-array"] == "square"
    assert [th.text for th in made.one("thead").all("th", scope="col")] == ["left", "right"]
    assert [th.text for th in made.one("tbody").all("th", scope="row")] == ["cat", "milk"]
    assert values(made) == TRACE.square.tolist()
    assert made.one("caption").text == "A <square>"


def test_a_cell_holds_every_digit_and_shows_a_few():
    cell = table(Matrix("row")).all("td", data_value=True)[2]
    assert float(cell["data-value"]) == 1 / 3
    assert cell.text == "0.33" and cell["tabindex"] == "-1"
    assert table(Matrix("row"), language="ru").all("td", data_value=True)[2].text == "0,33"


def test_a_row_stands_as_a_column_or_across():
    column = table(Matrix("row", rows="ways"))
    assert values(column) == [[0.25], [0.5], [1 / 3]] and column.classes == {"line"}
    across = table(Matrix("row", columns="ways", across=True))
    assert values(across) == [[0.25, 0.5, 1 / 3]]
    assert [th.text for th in across.all("th", scope="row")] == ["A row"]
    assert [th.text for th in across.all("th", scope="col")] == ["up", "down", "over"]


def test_a_single_number_is_a_table_of_one_cell():
    assert values(table(Matrix("single"))) == [[7.0]]


def test_without_words_rows_and_columns_are_numbered_from_zero():
    made = table(Matrix("square"))
    assert [th.text for th in made.all("th", scope="col")] == ["0", "1"] == [th.text for th in made.all("th", scope="row")]


def test_an_array_can_name_the_rows_of_another():
    assert [th.text for th in table(Matrix("curve", rows="ids:words")).all("th", scope="row")] == ["0: milk", "1: cat", "2: milk"]


@pytest.mark.parametrize(
    ("colours", "most", "signs", "shares"),
    [
        ("diverging", 4.0, ["positive", "positive", "positive", "negative"], ["0.250", "0.500", "0.750", "1.000"]),
        (SHARES, 4.0, ["share", "share", "share", "negative"], ["0.250", "0.500", "0.750", "1.000"]),
        ("diverging", 2.0, ["positive", "positive", "positive", "negative"], ["0.500", "1.000", "1.000", "1.000"]),
        ("diverging", None, ["positive", "positive", "positive", "negative"], ["0.250", "0.500", "0.750", "1.000"]),
        (PLAIN, None, [None] * 4, ["0.250", "0.500", "0.750", "1.000"]),
    ],
)  # fmt: skip
def test_a_colour_follows_sign_and_size(colours, most, signs, shares):
    cells = table(Matrix("square", colours=colours, most=most)).all("td", data_value=True)
    assert [cell.get("data-sign") for cell in cells] == signs
    assert [cell["style"] for cell in cells] == [f"--t:{share}" for share in shares]


def test_cells_that_are_not_seen_are_crossed_out():
    cells = table(Matrix("square", seen="seen")).all("td", data_value=True)
    assert ["unseen" in cell.classes for cell in cells] == [False, True, False, False]


@pytest.mark.parametrize(
    ("form", "written"),
    [("0", ["1", "2", "3", "−4"]), ("e", ["1.0·10⁰", "2.0·10⁰", "3.0·10⁰", "−4.0·10⁰"]), (("0", "1"), ["1", "2.0", "3", "−4.0"])],
)
def test_a_form_is_for_all_columns_or_for_each(form, written):
    made = table(Matrix("square", form=form))
    assert [cell.text for cell in made.all("td", data_value=True)] == written
    assert made["data-form"] == (form if isinstance(form, str) else " ".join(form))


@pytest.mark.parametrize("edit", ["e{row}{column}", ("e{row}0", "e{row}1")])
def test_cells_can_be_entry_fields_of_controls(edit):
    root = parse(Matrix("square", edit=edit).html(TRACE, text()))
    fields = [cell.one("input") for cell in root.all("td", data_value=True)]
    assert [field["data-control"] for field in fields] == ["e00", "e01", "e10", "e11"]
    assert [field["value"] for field in fields] == ["1.00", "2.00", "3.00", "−4.00"]
    assert all(field["aria-label"] and field["inputmode"] == "decimal" for field in fields)
    assert root.one("button", data_reset=True)["aria-label"]


def test_cells_can_be_switches():
    toggle = Toggle("bits", "count", ("kind", "a"), ("kind", "b"))
    made = table(Matrix("seen", toggle=toggle))
    assert json.loads(made["data-toggle"]) == {"bits": "bits", "row": "count", "sets": ["kind", "a"], "by_column": ["kind", "b"]}


def test_what_the_module_needs_stands_in_the_table():
    made = table(
        Matrix(
            "square", rows="words", columns="sides", colours=SHARES, most=2.0, seen="seen", pick="count", form="3", also="seen"
        )
    )
    wanted = {
        "data-colours": "shares",
        "data-most": "2.0",
        "data-rows": "words",
        "data-columns": "sides",
        "data-seen": "seen",
        "data-pick": "count",
        "data-form": "3",
        "data-also": "seen",
    }
    assert {key: made[key] for key in wanted} == wanted
    plain = table(Matrix("square"))
    assert not {
        "data-most",
        "data-rows",
        "data-seen",
        "data-pick",
        "data-form",
        "data-edit",
        "data-toggle",
        "data-across",
        "data-unfilled",
    } & set(plain.attributes)


def test_a_table_that_is_filled_later_holds_one_cell():
    made = parse(Matrix("curve").table(TRACE, text(), filled=False)).one("table")
    assert "data-unfilled" in made and values(made) == [[0.0]]


def test_title_and_note_stand_above_and_are_escaped():
    root = parse(Matrix("square").html(TRACE, text()))
    assert root.one("figcaption").one("b").text == "A <square>"
    assert root.one("figcaption").one("span").text == "four & more"
    assert root.one("figure")["data-save"] == "square"


def test_a_state_without_numbers_still_has_its_table():
    for matrix in (
        Matrix("square", seen="seen", rows="ids:words"),
        Matrix("row", across=True),
        Matrix("single", edit="e{row}{column}"),
    ):
        assert table(matrix, trace=None)["data-array"] == matrix.array
