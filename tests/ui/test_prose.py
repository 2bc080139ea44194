"""The text works with the lab: links that set the controls and an undo, predict-then-reveal, and questions that are checked."""

from __future__ import annotations

from urllib.parse import parse_qsl

import pytest

from app import prose
from content import toc
from content.controls import check
from content.section import Undefined
from content.numbers import write_number
from content.strings import STRINGS
from tests.ui.reader import CORE, LANGUAGES, WRITTEN, Reader, eventually


@pytest.mark.parametrize("section", WRITTEN)
def test_every_link_in_the_prose_sets_what_it_says_and_undo_takes_it_back(reader: Reader, section: str) -> None:
    reader.open(section)
    reader.page.evaluate("document.querySelectorAll('article.prose details').forEach((details) => details.open = true)")
    if not reader.tables():
        reader.open_twins()
    settings = reader.page.evaluate("[...document.querySelectorAll('article.prose a.set')].map((link) => link.dataset.set)")
    assert settings
    seen = set()
    for number, setting in enumerate(settings):
        if setting in seen:
            continue
        seen.add(setting)
        link = reader.locate("article.prose a.set").nth(number)
        values, problems = check(toc.load(section), dict(parse_qsl(setting)))
        assert not problems
        link.click()
        try:
            reader.shows(section, **values)
        except Undefined:
            eventually(lambda: _true(reader.locate(".undefined").is_visible()))
        assert reader.locate(".undo").count() == 1
    reader.locate(".undo").click()
    before = list(dict.fromkeys(settings))[-2] if len(seen) > 1 else ""
    values, _ = check(toc.load(section), dict(parse_qsl(before)))
    reader.shows(section, **values)
    assert reader.locate(".undo").count() == 0
    assert reader.page.evaluate("document.activeElement.matches('a.set')"), "the keyboard stays where the reader was"


def test_a_link_can_be_followed_by_keyboard_and_opens_the_same_state_in_another_tab(reader: Reader) -> None:
    reader.open("three_tokens", "uk")
    link = reader.locate('a[data-set="q20=3"]').first
    link.focus()
    reader.page.keyboard.press("Enter")
    reader.shows("three_tokens", "uk", q20=3.0)
    reader.page.keyboard.press("Tab")
    assert reader.page.evaluate("document.activeElement.className") == "undo"
    reader.page.keyboard.press("Enter")
    reader.shows("three_tokens", "uk")
    other = reader.turn_page()
    other.goto(link.evaluate("(a) => a.href"))
    reader.page = other
    reader.live().shows("three_tokens", "uk", q20=3.0)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_prediction_reveals_the_answer_and_is_kept(reader: Reader, lang: str) -> None:
    reader.open("tanh_chain", lang)
    question = reader.locate(".predict").first
    answer = question.locator("details")
    assert not answer.evaluate("(e) => e.open")
    question.locator('input[value="wrong"]').first.check()
    assert question.locator(".verdict").inner_text() == STRINGS[lang]["wrong"]
    assert answer.evaluate("(e) => e.open")
    question.locator('input[value="right"]').check()
    assert question.locator(".verdict").inner_text() == STRINGS[lang]["right"]
    reader.page.reload()
    reader.live()
    assert question.locator('input[value="right"]').is_checked()
    assert question.locator(".verdict").inner_text() == STRINGS[lang]["right"]
    assert reader.locate(".predict").nth(1).locator("input:checked").count() == 0


@pytest.mark.parametrize("section", CORE)
def test_a_reader_answers_the_questions_of_a_section(reader: Reader, section: str) -> None:
    """Right, wrong and no number at all, with a decimal comma; the answer is kept after a reload."""
    reader.open(section, "uk")
    exercises = prose.load(section, "en").exercises
    assert len(exercises) >= 2
    for name, exercise in exercises.items():
        right = prose.quote(prose.quotable_at(section, exercise.setting), exercise.name)
        form = reader.locate(f'[data-exercise="{name}"] form')
        typed = write_number(right, "3", "uk")
        assert "," in typed
        for answer, verdict in ((write_number(right + 2.5 * exercise.tolerance, "4", "uk"), "wrong"), ("пів", "bad"), ("", "bad"), (typed, "right")):
            form.locator("input").fill(answer)
            form.locator("button").click()
            expected = STRINGS["uk"][f"answer_{verdict}"].replace("{tolerance}", write_number(exercise.tolerance, "full", "uk"))
            eventually(lambda: _equal(form.locator("output").inner_text(), expected))  # noqa: B023
    reader.page.reload()
    reader.live()
    for name, exercise in exercises.items():
        right = prose.quote(prose.quotable_at(section, exercise.setting), exercise.name)
        assert reader.locate(f'[data-exercise="{name}"] input').input_value() == write_number(right, "3", "uk")


def test_an_answer_may_be_a_fraction_and_is_sent_with_enter(reader: Reader) -> None:
    reader.open("three_tokens")
    form = reader.locate('[data-exercise="unscaled_weight"] form')
    form.locator("input").fill("2.718/4.718")
    form.locator("input").press("Enter")
    eventually(lambda: _equal(form.locator("output").get_attribute("class"), "right"))
    assert "page=three_tokens" in reader.page.url, "the form does not leave the page"


def _true(value: bool) -> None:
    assert value


def _equal(left: object, right: object) -> None:
    assert left == right
