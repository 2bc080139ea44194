"""The front page: a taste that answers, the way to begin and to go on, and what the browser keeps of it."""

from __future__ import annotations

import json
from typing import Any, Callable

import pytest

from content import toc
from content.numbers import write_number
from content.strings import STRINGS
from tests.ui.reader import LANGUAGES, LOOKS, Reader, eventually, trace_at
from tests.ui.test_access import findings

SIZES = [(1440, 900), (1024, 768), (380, 700), (320, 480)]
RECORD = "JSON.parse(localStorage.getItem('progress'))"


def weights(reader: Reader, lang: str = "en", **changes: Any) -> None:
    """Asserts that the taste shows the weights of these vectors."""
    expected = [write_number(value, "2", lang) for value in trace_at("three_tokens", **changes).weights.ravel()]

    def same() -> None:
        assert reader.locate(".taste td[data-value]").all_text_contents() == expected

    eventually(same)


def keep(reader: Reader, record: str) -> None:
    reader.page.evaluate("(text) => localStorage.setItem('progress', text)", record)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_taste_answers_to_finger_and_keyboard(readers: Callable[..., Reader], lang: str) -> None:
    reader = readers(viewport={"width": 1440, "height": 900}).open(None, lang)
    weights(reader, lang)
    milk = reader.locate(".arrow").nth(2)
    milk.focus()
    for _ in range(3):
        reader.page.keyboard.press("Shift+ArrowRight")
    weights(reader, lang, q20=2.5)
    assert milk.get_attribute("aria-valuetext") == f"{write_number(2.5, '2', lang)}; {write_number(1.0, '2', lang)}"
    tip, box = reader.locate(".arrow.a0 .tip").bounding_box(), reader.locate(".arrows").bounding_box()
    assert tip and box
    unit = box["width"] / (2 * 3 * 1.16)
    x, y = tip["x"] + tip["width"] / 2, tip["y"] + tip["height"] / 2
    reader.page.mouse.move(x, y)
    reader.page.mouse.down()
    for share in (0.2, 0.6, 1.0):
        reader.page.mouse.move(x - 2 * unit * share, y - unit * share)
    reader.page.mouse.up()
    weights(reader, lang, q20=2.5, q00=-1.0, q01=1.0)
    reader.locate("a.whole").click()
    reader.live()
    reader.shows("three_tokens", lang, q20=2.5, q00=-1.0, q01=1.0)


def test_no_line_is_opened_before_somebody_reaches_for_the_taste(reader: Reader) -> None:
    opened: list[str] = []
    reader.page.on("websocket", lambda line: opened.append(line.url))
    reader.open(None)
    reader.page.wait_for_timeout(300)
    assert opened == []
    reader.locate(".taste").hover()
    reader.locate(".arrow").first.focus()
    reader.page.keyboard.press("ArrowUp")
    weights(reader, q01=0.05)
    assert len(opened) == 1


@pytest.mark.parametrize("lang", LANGUAGES)
def test_continue_leads_to_the_question_where_the_reader_was(reader: Reader, lang: str) -> None:
    words = STRINGS[lang]
    reader.open(None, lang)
    first = reader.locate("a.first")
    assert first.inner_text() == words["start_here"]
    assert reader.locate("a.continue").is_hidden()
    assert reader.locate(".own-progress").is_hidden()
    first.click()
    reader.live()
    assert reader.query()["page"] == toc.written()[0]
    reader.open("masks", lang)
    reader.locate("#q3").evaluate("(e) => scrollBy(0, e.getBoundingClientRect().top - 0.3 * innerHeight)")
    reader.locate("#q1 input").nth(1).evaluate("(e) => e.click()")
    eventually(lambda: _equal(reader.page.evaluate(RECORD)["place"], "q3"))
    reader.open(None, lang)
    go = reader.locate("a.continue")
    title = reader.locate('li[data-section="masks"] a').inner_text()
    assert go.inner_text() == words["continue_question"].format(title=title, n=3)
    done = reader.locate('li[data-section="masks"] .answered')
    assert done.inner_text() == words["answered_of"].format(n=1, all=reader.locate('li[data-section="masks"]').get_attribute("data-questions"))
    go.click()
    reader.live()
    assert reader.query()["page"] == "masks"

    def there() -> None:
        box = reader.locate("#q3").bounding_box()
        assert box and 0 <= box["y"] < 500

    eventually(there)
    assert reader.locate("#q1 input").nth(1).is_checked()


def test_progress_is_forgotten_when_asked(reader: Reader) -> None:
    reader.open("masks")
    reader.open(None)
    reader.locate(".forget").click()
    assert reader.page.evaluate("localStorage.getItem('progress')") is None
    assert reader.locate("a.continue").is_hidden()
    assert reader.page.evaluate("document.activeElement.closest('.start') !== null")


def test_a_link_takes_the_progress_to_another_device(readers: Callable[..., Reader]) -> None:
    one, other = readers(), readers()
    one.open("masks")
    one.locate("#q1 input").nth(2).evaluate("(e) => e.click()")
    one.open(None)
    one.locate(".carry").click()
    link = one.locate(".own-progress input").input_value()
    other.open("tanh_chain")
    other.locate(".predict input").first.evaluate("(e) => e.click()")
    other.page.goto(link)
    assert other.locate(".own-progress [role=status]").inner_text() == STRINGS["en"]["progress_taken"]
    assert "progress" not in other.page.url
    record = other.page.evaluate(RECORD)
    assert record["page"] == "masks"
    assert record["answers"] == {"masks": {"predict1": 2}, "tanh_chain": {"predict1": 0}}, "what was answered there stays"
    other.open("masks")
    assert other.locate("#q1 input").nth(2).is_checked()


def test_two_tabs_lose_nothing_of_each_other(reader: Reader) -> None:
    reader.open("masks")
    first, second = reader.page, reader.turn_page()
    reader.page = second
    reader.open("tanh_chain")
    reader.locate(".predict input").first.evaluate("(e) => e.click()")
    reader.page = first
    reader.locate("#q1 input").nth(2).evaluate("(e) => e.click()")
    assert set(reader.page.evaluate(RECORD)["answers"]) == {"masks", "tanh_chain"}


GOOD = {"version": 1, "page": "masks", "place": "q1", "answers": {"masks": {"predict1": 1}}}


@pytest.mark.parametrize(
    "record",
    [
        "", "{", "null", "[]", "17", "{}", json.dumps(GOOD | {"version": 2}), json.dumps(GOOD | {"page": "../etc"}),
        json.dumps(GOOD | {"place": "<b>"}), json.dumps(GOOD | {"answers": {"masks": {"predict1": {"a": 1}}}}),
        json.dumps(GOOD | {"answers": {"masks": {"predict1": "x" * 1000}}}), json.dumps(GOOD | {"answers": 3}),
        json.dumps(GOOD | {"answers": {"<script>": {}}}), "x" * 200_000,
    ],
)  # fmt: skip
def test_a_corrupt_or_foreign_record_is_dropped_without_a_word(reader: Reader, record: str) -> None:
    reader.open(None)
    keep(reader, record)
    reader.open(None)
    assert reader.locate("a.continue").is_hidden()
    assert reader.page.evaluate("localStorage.getItem('progress')") is None
    keep(reader, record)
    reader.open("masks")
    reader.locate("#q1 input").nth(1).evaluate("(e) => e.click()")
    assert reader.page.evaluate(RECORD)["answers"] == {"masks": {"predict1": 1}}


def test_a_record_of_a_section_that_is_not_here_leads_nowhere(reader: Reader) -> None:
    reader.open(None)
    keep(reader, json.dumps(GOOD | {"page": "unheard_of"}))
    reader.open(None)
    assert reader.locate("a.continue").is_hidden()
    assert reader.locate("a.first").is_visible()


@pytest.mark.parametrize("cut", [0, 1, 7, 40])
def test_a_progress_link_cut_short_or_made_up_gives_the_plain_page(reader: Reader, cut: int) -> None:
    reader.open("masks")
    reader.open(None)
    reader.locate(".carry").click()
    link = reader.locate(".own-progress input").input_value()
    fragment = "#progress=eyJub3QiOiJvdXJzIn0" if cut == 0 else "#" + link.split("#")[1][:-cut]
    before = reader.page.evaluate(RECORD)
    reader.page.goto("about:blank")
    reader.page.goto(link.split("#")[0] + fragment)
    assert reader.page.evaluate(RECORD) == before
    assert reader.locate(".own-progress [role=status]").inner_text() == ""
    assert reader.locate("a.continue").is_visible()


def test_without_storage_the_book_reads_as_ever(readers: Callable[..., Reader]) -> None:
    reader = readers()
    reader.marked = True
    reader.context.add_init_script("Object.defineProperty(window, 'localStorage', {get() { throw new DOMException('denied', 'SecurityError'); }})")
    reader.open(None)
    assert reader.locate("a.continue").is_hidden()
    reader.locate("a.first").click()
    reader.live()
    reader.open("masks")
    reader.locate("#q1 input").nth(1).evaluate("(e) => e.click()")
    assert reader.locate("#q1 .verdict").inner_text()


@pytest.mark.parametrize("lang", LANGUAGES)
def test_it_fits_every_screen_and_reads_for_everybody(readers: Callable[..., Reader], lang: str) -> None:
    reader = readers().open("masks", lang)
    for width, height in SIZES:
        reader.page.set_viewport_size({"width": width, "height": height})
        reader.open(None, lang)
        assert reader.page.evaluate("document.scrollingElement.scrollWidth") <= width
        for look in LOOKS:
            reader.look(look)
            assert findings(reader) == [], (width, look)


def _equal(here: Any, there: Any) -> None:
    assert here == there
