"""Pictures: an empty box with a description and a table twin in the page, and a document that BokehJS can embed."""

import json

import pytest

from tests.widgets.markup import parse
from tests.widgets.sample import TRACE, text
from widgets.bars import Bars
from widgets.figure import arrays_of, legend_html
from widgets.heatmap import Heatmap
from widgets.line import Lines

PICTURES = {
    "heatmap": Heatmap("curve", x_label="x", y_label="y", most=2.0, row="count"),
    "lines": Lines(("curve[0]", "curve[1]"), x_label="x", y_label="y", log=True, at="count", rows="ways"),
    "line": Lines(("row",), x_label="x", y_label="y", x="row"),
    "bars": Bars(("row",), x_label="x", y_label="y", names="ways"),
}


def figure(picture, number=3):
    return parse(picture.html(TRACE, text(), number)).one("figure")


def models(item):
    """Every Bokeh model of an embedded document, by kind."""
    found = []

    def walk(thing):
        if isinstance(thing, dict):
            if thing.get("type") == "object":
                found.append(thing)
            for inner in thing.values():
                walk(inner)
        elif isinstance(thing, list):
            for inner in thing:
                walk(inner)

    walk(item["doc"])
    return found


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_a_described_box_with_its_numbers_below(name):
    picture = PICTURES[name]
    made = figure(picture)
    assert made["data-figure"] == "3"
    box = made.one("div", role="img")
    assert box["aria-label"] and f"min-height:{picture.height}px" in box["style"]
    twin = made.one("details", class_="twin")
    assert "open" not in twin and twin.one("summary").text == "Numbers"
    tables = twin.all("table", data_array=True)
    assert {table["data-array"] for table in tables} == set(picture.arrays())
    assert all("data-unfilled" in table and table.all("td", data_value=True) for table in tables)


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_a_document_of_its_own_and_says_how_it_is_fed(name):
    made = PICTURES[name].item(text())
    plain = json.loads(json.dumps(made, allow_nan=False))
    assert set(plain) == {"item", "feed"}
    assert {"doc", "root_id", "target_id"} <= set(plain["item"])
    fed = plain["feed"].get("series") or [plain["feed"]["array"]]
    assert set(arrays_of(fed)) <= set(PICTURES[name].arrays())


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_has_no_tools_no_callbacks_and_nothing_from_elsewhere(name):
    item = PICTURES[name].item(text())["item"]
    names = {model["name"] for model in models(item)}
    assert not {kind for kind in names if "Tool" in kind and kind != "Toolbar"}
    assert not {kind for kind in names if kind.startswith("CustomJS")}
    assert "http" not in json.dumps(item).replace("http://www.w3.org", "")


def test_sources_are_named_so_that_the_page_finds_them():
    def sources(picture):
        return {
            model.get("attributes", {}).get("name")
            for model in models(picture.item(text())["item"])
            if model["name"] == "ColumnDataSource"
        }

    assert {"series0", "series1"} <= sources(PICTURES["lines"])
    assert "series0" in sources(PICTURES["bars"])
    assert {"data", "outline"} <= sources(PICTURES["heatmap"])


def test_axes_are_worded_in_the_language_of_the_page():
    labels = {model.get("attributes", {}).get("axis_label") for model in models(PICTURES["lines"].item(text())["item"])}
    assert {"place", "size"} <= labels


def test_two_documents_have_roots_of_their_own():
    one, other = (PICTURES["line"].item(text())["item"] for _ in range(2))
    assert one["root_id"] != other["root_id"] or one["target_id"] is None


def test_a_legend_tells_series_apart_by_words_and_swatches():
    root = parse(legend_html(("curve[0]", "curve[2]", "row"), text(), "ways"))
    keys = root.all("span", class_="key")
    assert [key.text for key in keys] == ["up", "over", "A row"]
    assert [key.one("i").classes - {"swatch"} for key in keys] == [{"s0"}, {"s1"}, {"s2"}]
    assert legend_html(("row",), text(), None) == ""


def test_a_picture_of_no_numbers_has_its_box():
    for picture in PICTURES.values():
        assert parse(picture.html(None, text(), 0)).one("div", role="img")
