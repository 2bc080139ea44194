"""What moves the lab shows what it moves: links, Undo, Back and Forward, and an address that somebody sent."""

from __future__ import annotations

from typing import Callable
from urllib.parse import parse_qsl

import pytest

from content.numbers import write_number
from content.strings import STRINGS
from tests.ui.reader import LANGUAGES, WRITTEN, Reader, eventually

DESKTOP = {"width": 1280, "height": 720}
PHONE = {"width": 380, "height": 700}
LINKS = "[...new Set([...document.querySelectorAll('article.prose a.set')].map((link) => link.dataset.set))]"
# Of the controls `names`, those that no eye can find within the lab: no input of theirs is uncovered within the window.
OUT_OF_SIGHT = """(names) => {
  const lab = document.getElementById("lab");
  const seen = (input) => {
    const one = input.type === "radio" ? lab.querySelector(`input[name="${input.name}"]:checked`) ?? input : input;
    const part = one.closest("label") ?? one;
    const box = part.getBoundingClientRect();
    if (!box.width || !box.height || box.top < 0 || box.bottom > innerHeight) return false;
    const top = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
    return top !== null && lab.contains(top) && (part.contains(top) || top.contains(part));
  };
  return names.filter((name) => ![...lab.querySelectorAll(`[data-control="${name}"]`)].some(seen));
}"""


def in_sight(reader: Reader, names: list[str]) -> None:
    assert reader.page.evaluate(OUT_OF_SIGHT, names) == []


def follow(reader: Reader, setting: str) -> None:
    reader.page.evaluate("(set) => document.querySelector(`article.prose a.set[data-set='${set}']`).click()", setting)


@pytest.mark.parametrize("screen", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("section", WRITTEN)
def test_whatever_a_link_sets_is_in_sight(readers: Callable[..., Reader], section: str, lang: str, screen: dict[str, int]) -> None:
    reader = readers(reduced_motion="reduce", viewport=screen)
    reader.open(section, lang)
    missing = []
    for setting in reader.page.evaluate(LINKS):
        names = list(dict(parse_qsl(setting)))
        follow(reader, setting)
        try:
            eventually(lambda: in_sight(reader, names), 2)  # noqa: B023
        except AssertionError:
            missing.append((setting, reader.page.evaluate(OUT_OF_SIGHT, names)))
    assert not missing


def lit(reader: Reader) -> list[str]:
    return reader.page.evaluate("[...document.querySelectorAll('.lit [data-control], .lit[data-control]')].map((e) => e.dataset.control)")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_link_brings_the_chosen_token_and_says_from_what_to_what(reader: Reader, lang: str) -> None:
    """A link that sets milk's coordinate while another token is the chosen one."""
    reader.open("three_tokens", lang, token=0)
    follow(reader, "q20=3")
    reader.shows("three_tokens", lang, q20=3.0)
    assert reader.control("q20").is_visible()
    assert "q20" in lit(reader)
    said = reader.locate(".strip .last")
    assert said.get_attribute("role") == "status"
    assert f"{write_number(1.0, '2', lang)} → {write_number(3.0, '2', lang)}" in said.inner_text()
    reader.locate(".undo-last").click()
    reader.shows("three_tokens", lang, token=0)
    assert reader.locate(".undo-last").get_attribute("hidden") is None or reader.locate(".strip button:focus").count() == 1


def test_undo_takes_back_one_move_after_the_other(reader: Reader) -> None:
    reader.open("three_tokens")
    reader.press("q00", "ArrowRight")
    reader.page.wait_for_timeout(900)  # a move of its own
    follow(reader, "q20=3")
    reader.shows("three_tokens", q20=3.0)
    undo = reader.locate(".undo-last")
    undo.click()
    reader.shows("three_tokens", q00=1.05)
    undo.click()
    reader.shows("three_tokens")
    assert undo.is_hidden()


def test_back_and_forward_show_what_they_move(reader: Reader) -> None:
    reader.open("three_tokens")
    follow(reader, "q00=1&q01=1&q10=1&q11=1")
    reader.shows("three_tokens", q00=1.0, q01=1.0, q10=1.0, q11=1.0)
    for go in (reader.page.go_back, reader.page.go_forward):
        go()
        eventually(lambda: in_sight(reader, ["q01", "q10"]))
        assert {"q01", "q10"} <= set(lit(reader))


def test_an_address_from_a_friend_shows_what_differs_from_the_textbook(reader: Reader) -> None:
    reader.open("three_tokens", token=0, q20=3, q11="0.5")
    in_sight(reader, ["q20", "q11"])
    assert "→ 3.00" in reader.locate(".strip .last").inner_text()
    assert reader.locate('.control.moved[data-for="q20"]').count() == 1
    reader.open("one_head", causal=1)
    assert reader.locate('.control.moved[data-for="causal"]').is_visible()


def test_controls_out_of_their_place_go_back(reader: Reader) -> None:
    """Two tokens' coordinates stand together at the head of the lab, each with its token's name, until the reader asks for all controls."""
    reader.open("three_tokens")
    before = reader.locate("#lab .controls").inner_text()
    follow(reader, "q00=1&q01=1&q10=1&q11=1")
    tray = reader.locate(".tray")
    assert tray.locator(".control").count() >= 2
    reader.press("q00", "ArrowRight")
    reader.shows("three_tokens", q00=1.05, q01=1.0, q10=1.0, q11=1.0)
    tray.get_by_text(STRINGS["en"]["all_controls"]).click()
    assert tray.is_hidden()
    reader.locate(".tools").get_by_text(STRINGS["en"]["reset"]).click()
    reader.shows("three_tokens")
    assert reader.locate("#lab .controls").inner_text() == before


