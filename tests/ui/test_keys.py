"""Keys, the lab alone on the screen, hidden controls, looks and languages."""

from __future__ import annotations

import pytest

from content import toc
from content.strings import STRINGS
from tests.ui.reader import LANGUAGES, LOOKS, Reader

LOOK = "document.documentElement.dataset.look"


def test_question_mark_lists_the_keys_and_closes_the_list(reader: Reader) -> None:
    reader.open("three_tokens", "uk")
    reader.page.keyboard.press("?")
    assert reader.locate("dialog.help").is_visible()
    assert STRINGS["uk"]["key_projector"] in reader.locate("dialog.help").inner_text()
    reader.page.keyboard.press("p")
    assert reader.page.evaluate(LOOK) == "light", "behind the list nothing moves"
    reader.page.keyboard.press("?")
    assert not reader.locate("dialog.help").is_visible()
    reader.locate(".help-button").click()
    reader.page.keyboard.press("Escape")
    assert not reader.locate("dialog.help").is_visible()


@pytest.mark.parametrize("cyrillic", [False, True])
def test_keys_fill_the_screen_switch_the_projector_on_and_reset(reader: Reader, cyrillic: bool) -> None:
    """The same places of the keyboard, whether Latin or Cyrillic letters are on them."""
    reader.open("three_tokens", q20=3, token=2)

    def press(latin: str, letter: str, code: str) -> None:
        if cyrillic:
            reader.page.evaluate("([key, code]) => dispatchEvent(new KeyboardEvent('keydown', {key, code}))", [letter, code])
        else:
            reader.page.keyboard.press(latin)

    press("f", "а", "KeyF")
    assert reader.query()["view"] == "lab"
    assert not reader.locate("article.prose").is_visible()
    press("f", "а", "KeyF")
    assert "view" not in reader.query()
    assert reader.locate("article.prose").is_visible()
    press("p", "з", "KeyP")
    assert reader.page.evaluate(LOOK) == "projector"
    press("p", "з", "KeyP")
    assert reader.page.evaluate(LOOK) == "light"
    press("r", "к", "KeyR")
    reader.shows("three_tokens")
    assert "q20" not in reader.query()


def test_brackets_turn_to_the_section_before_and_after(reader: Reader) -> None:
    before, after = toc.neighbours("three_tokens")
    reader.open("three_tokens", "ru")
    reader.page.keyboard.press("]")
    reader.page.wait_for_url(f"**page={after}**")
    reader.live()
    assert reader.query()["lang"] == "ru"
    reader.page.keyboard.press("[")
    reader.page.wait_for_url("**page=three_tokens**")
    reader.live().page.keyboard.press("[")
    reader.page.wait_for_url(f"**page={before}**")
    reader.live()


def test_letters_typed_into_a_field_are_letters(reader: Reader) -> None:
    reader.open("three_tokens")
    for selector in ('[data-entry="q00"]', ".exercise input"):
        reader.locate(selector).first.press_sequentially("fpr[]?")
        assert "view" not in reader.query()
        assert reader.page.evaluate(LOOK) == "light"
        assert not reader.locate("dialog.help").is_visible()
    assert "page=three_tokens" in reader.page.url


@pytest.mark.parametrize("width", [1280, 380])
def test_an_address_can_ask_for_the_lab_alone_without_some_controls(reader: Reader, width: int) -> None:
    reader.page.set_viewport_size({"width": width, "height": 800})
    reader.open("position", view="lab", hide="seed,base")
    assert not reader.locate("article.prose").is_visible()
    assert not reader.control("seed").is_visible()
    assert not reader.control("base").is_visible()
    assert reader.control("d").is_visible()
    assert reader.page.evaluate("document.scrollingElement.scrollWidth") <= width
    value = reader.press("d", "ArrowRight")
    reader.shows("position", d=int(value))
    assert reader.query()["hide"] == "seed,base", "what a lecturer hid stays hidden in the address"
    assert reader.query()["view"] == "lab"
    reader.page.keyboard.press("Escape")
    assert reader.locate("article.prose").is_visible()


def test_back_and_forward_keep_the_lab_on_the_whole_screen(reader: Reader) -> None:
    reader.open("three_tokens")
    reader.press("q00", "Home")
    reader.page.keyboard.press("f")
    reader.page.go_back()
    assert reader.locate("article.prose").is_visible()
    reader.page.go_forward()
    assert not reader.locate("article.prose").is_visible()
    reader.shows("three_tokens", q00=-3.0)


def test_a_look_is_kept_on_the_next_page_and_the_next_visit(reader: Reader) -> None:
    reader.open("three_tokens")
    papers = set()
    for look in LOOKS:
        reader.locate(f'input[name="look"][value="{look}"]').check(force=True)
        assert reader.page.evaluate(LOOK) == look
        papers.add(reader.page.evaluate("getComputedStyle(document.body).backgroundColor + getComputedStyle(document.body).fontSize"))
    assert len(papers) == len(LOOKS)
    reader.locate('input[name="look"][value="dark"]').check(force=True)
    reader.locate('a[rel="next"]').click()
    reader.live()
    assert reader.page.evaluate(LOOK) == "dark"
    reader.open("masks")
    assert reader.page.evaluate(LOOK) == "dark"
    assert reader.locate('input[name="look"]:checked').get_attribute("value") == "dark"
    reader.open("masks", look="projector")
    assert reader.page.evaluate(LOOK) == "projector", "what the address says goes before what was kept"


def test_a_reader_whose_system_is_dark_meets_a_dark_page(readers) -> None:
    reader = readers(color_scheme="dark")
    reader.open("masks")
    assert reader.page.evaluate(LOOK) == "dark"


def test_another_language_shows_the_same_state(reader: Reader) -> None:
    reader.open("masks", example="eight", kind="causal", query=3)
    reader.press("query", "ArrowRight")
    state = {"example": "eight", "kind": "causal", "query": 4}
    for lang in (*LANGUAGES[1:], "en"):
        reader.locate(f'a[data-lang="{lang}"]').click()
        reader.page.wait_for_url(f"**lang={lang}**")
        reader.live().shows("masks", lang, **state)
        assert reader.page.evaluate("document.documentElement.lang") == lang
        assert reader.locate('a[data-lang][aria-current="true"]').get_attribute("data-lang") == lang
