"""A calculation and its way back: a row of results, each with its formula, its numbers and its cell, and the arrays in full."""

from tests.widgets.markup import parse
from tests.widgets.sample import LABELS, TRACE, VALUES, text
from widgets.cell import Result
from widgets.ledger import Ledger

LEDGER = Ledger(
    "square",
    columns=("x", "y"),
    rows=(
        (Result("row[0]", "a", "b·2", "{share}·2"), Result("single", "e", "7", "7")),
        (Result("row[1]", "b", "c", "{row[0]}"), Result("square[0,1]", "d", "e", "{single}")),
    ),
)


def test_each_row_has_a_result_for_each_column():
    table = parse(LEDGER.html(TRACE, VALUES, text())).one("table", class_="ledger drawn")
    assert [th.text for th in table.all("th", scope="col")] == [LABELS["words"]["x"], LABELS["words"]["y"]]
    rows = [[cell["data-cell"] for cell in row.all("td", data_cell=True)] for row in table.one("tbody").all("tr")]
    assert rows == [["row[0]", "single"], ["row[1]", "square[0,1]"]]
    assert table["data-columns"] == "2"
    assert table.one("caption").text == LABELS["arrays"]["square"]


def test_every_array_with_a_result_stands_beside_it_in_full():
    tables = parse(LEDGER.html(TRACE, VALUES, text())).one("details", class_="twin").all("table", data_array=True)
    assert {table["data-array"] for table in tables} == set(LEDGER.arrays()) == {"row", "single", "square"}
    assert parse(LEDGER.html(None, VALUES, text())).all("table", data_array=True)
