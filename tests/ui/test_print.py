"""On paper: text, equations, tables and pictures, without what can only be clicked, and in ink on white."""

from __future__ import annotations

import pytest

from tests.ui.reader import CORE, Reader


@pytest.mark.parametrize("section", CORE)
def test_paper_shows_the_text_and_the_numbers_and_nothing_to_click(reader: Reader, section: str) -> None:
    reader.marked = True
    reader.open(section, look="dark")
    reader.page.emulate_media(media="print")
    reader.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    for hidden in (".bar", ".tools", ".save summary", ".fill", ".raise", ".undo-last"):
        assert reader.locate(hidden).evaluate_all("(all) => all.every((e) => !e.checkVisibility())"), hidden
    for shown in ("article.prose h1", ".equation math", "#lab figcaption"):
        assert reader.locate(shown).first.is_visible(), shown
    paper = reader.page.evaluate("[document.body, document.querySelector('#lab')].map((e) => getComputedStyle(e).backgroundColor)")
    assert set(paper) <= {"rgb(255, 255, 255)", "rgba(0, 0, 0, 0)"}
    ink = "[...document.querySelectorAll('.prose p, .prose h2, #lab figcaption, #lab th')].map((e) => getComputedStyle(e).color.match(/[0-9]+/g).slice(0, 3).reduce((a, b) => a + +b, 0))"
    assert max(reader.page.evaluate(ink)) < 3 * 128, "dark on white, whatever the look on the screen"
    reader.page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert reader.page.evaluate("document.documentElement.dataset.look") == "dark"
    assert len(reader.page.pdf()) > 20_000
