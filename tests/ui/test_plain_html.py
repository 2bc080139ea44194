"""Without JavaScript the page is still a document: text, equations, and the numbers of its address."""

from __future__ import annotations

from typing import Callable

import pytest

from content import toc
from content.strings import STRINGS
from tests.ui.reader import LANGUAGES, WRITTEN, Reader


@pytest.fixture
def plain(readers: Callable[..., Reader]) -> Reader:
    return readers(java_script_enabled=False)


@pytest.mark.parametrize("section", WRITTEN)
def test_a_page_can_be_read_without_javascript(plain: Reader, section: str) -> None:
    lang = LANGUAGES[WRITTEN.index(section) % len(LANGUAGES)]
    plain.go(f"page={section}&lang={lang}")
    assert plain.locate("noscript, .notice").first.is_visible()
    assert STRINGS[lang]["no_script"] in plain.locate("#lab").inner_text()
    assert len(plain.prose().split()) > 500
    assert plain.locate("math").first.is_visible()
    if plain.tables():
        plain.shows(section, lang)
    plain.locate(".predict summary").first.click()
    assert plain.locate(".predict details > div").first.is_visible()


def test_numbers_are_those_of_the_address(plain: Reader) -> None:
    plain.go("page=three_tokens&lang=uk&q20=3&scaled=0")
    plain.shows("three_tokens", "uk", q20=3.0, scaled=0)
    plain.locate('a[data-set="q20=3"]').first.click()
    plain.shows("three_tokens", "uk", q20=3.0)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_contents_list_what_is_planned_without_a_link(plain: Reader, lang: str) -> None:
    plain.go(f"lang={lang}")
    assert plain.locate(".contents li a").count() == len(toc.written())
    planned = " · ".join(plain.locate(".contents details.planned p").all_text_contents())
    assert planned == " · ".join(STRINGS[lang]["plan"][id] for id in toc.ORDER if id not in toc.written())
    assert plain.locate(".contents .planned a").count() == 0
    plain.locate(".contents li a").first.click()
    assert plain.locate("article.prose h1").is_visible()
    plain.locate('a[rel="next"]').click()
    assert plain.locate("article.prose h1").is_visible()
