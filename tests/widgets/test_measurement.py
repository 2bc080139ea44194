"""The measurement as HTML and as a picture: what is cited is there before anything is measured, and is told apart from it."""

import json

from tests.widgets.markup import parse
from tests.widgets.sample import LABELS, text
from widgets.measurement import SAID, Measurement

WORDS = {"measure": "Measure <now>", "cited": "cited", "measured_on": "on {date}"}
TEXT = text(labels=LABELS | {"words": WORDS})
VIEW = Measurement(("slow", "plain", "wide"), "ways", (64, 2048), cited_at=2048.0, cited=(37.8, None, 7.7))


def root():
    return parse(VIEW.html(None, TEXT, 3))


def models(kind):
    found = []

    def walk(thing):
        if isinstance(thing, dict):
            if thing.get("name") == kind:
                found.append(thing)
            thing = list(thing.values())
        if isinstance(thing, list):
            for inner in thing:
                walk(inner)

    walk(VIEW.item(TEXT)["item"])
    return found


def test_the_module_is_told_the_series_and_the_words_it_fills():
    told = json.loads(root().one("div", data_measurement=True)["data-measurement"])
    assert told["kinds"] == ["slow", "plain", "wide"]
    assert set(told["words"]) == set(SAID)
    assert told["words"]["measured_on"] == "on {date}"


def test_before_the_page_has_asked_there_is_no_button_and_markup_in_words_stays_text():
    button = root().one("button")
    assert "hidden" in button
    assert button.text == "Measure <now>"
    assert root().one("p", role="status").text == ""


def test_the_table_waits_for_each_length_and_kind_and_holds_what_is_cited():
    table = root().one("table")
    assert [cell.text for cell in table.all("th", scope="col")][1:] == ["up", "down", "over"]
    assert [row["data-length"] for row in table.all("tr", data_length=True)] == ["64", "2048"]
    assert [cell["data-kind"] for cell in table.all("td", data_kind=True)] == ["slow", "plain", "wide"] * 2
    assert [cell.text for cell in table.one("tfoot").all("td")] == ["37.8", "–", "7.7"]
    assert table.one("tfoot").one("th").text == "2048, cited"


def test_no_number_of_the_measurement_is_one_of_the_sections_arrays():
    assert VIEW.arrays() == []
    assert root().all("table", data_array=True) == []
    assert root().one("figure")["data-figure"] == "3"


def test_kinds_differ_by_marker_and_dash_as_well_as_by_colour_and_cited_marks_are_hollow():
    drawn = [renderer["glyph"]["attributes"] for k in range(3) for renderer in models(f"s{k}")]
    scatters = [glyph for glyph in drawn if "size" in glyph]
    marker = lambda glyph: glyph.get("marker", {"value": "circle"})["value"]  # noqa: E731 (Bokeh leaves out its default)
    assert [marker(glyph) for glyph in scatters].count("dash") == 6, "each error bar has two caps"
    hollow = [glyph for glyph in scatters if glyph.get("fill_alpha") == {"type": "value", "value": 0.0}]
    assert [marker(glyph) for glyph in hollow] == ["circle", "triangle"]
    assert {marker(glyph) for glyph in scatters} == {"circle", "square", "triangle", "dash"}
    assert len({json.dumps(glyph["line_dash"]) for glyph in drawn if "line_dash" in glyph}) >= 2


def test_the_page_knows_what_is_cited_when_it_sets_the_axis():
    assert VIEW.item(TEXT)["feed"] == {"kind": "measurement", "known": [37.8, 7.7]}
