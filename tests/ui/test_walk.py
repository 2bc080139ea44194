"""Every page in every language: nothing leaves, nothing complains, the source's numbers stand there and follow the keyboard,
and nothing has to be scrolled sideways."""

from __future__ import annotations

import tomllib
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest

from content.numbers import write_number
from content.strings import STRINGS
from tests.ui.reader import CORE, LANGUAGES, SLIDER, WRITTEN, Reader, trace_at
from tests.ui.serving import ROOT


def golden(section: str) -> dict[str, Any]:
    return tomllib.loads((ROOT / "tests" / "golden" / f"{section}.toml").read_text(encoding="utf-8"))


class Source(NamedTuple):
    """What a source prints: arrays (or some of their elements) to so many decimals, and numbers with their format for the prose."""

    arrays: dict[str, dict[int, float]]
    decimals: int
    prose: tuple[tuple[float, str], ...]


def whole(numbers: Any) -> dict[int, float]:
    return dict(enumerate(np.ravel(numbers)))


def source(section: str) -> Source:
    """The textbook setting as the sources print it; positions are those of the page's tables, along the rows."""
    book = golden(section)
    if section == "three_tokens":
        milk, cat = book["milk_first_coordinate_3"], book["unscaled"]["cat_weights"]
        prose = (milk["milk_weight"], milk["milk_entropy"], book["facts"]["max_entropy"], *cat)
        return Source({name: whole(array) for name, array in book["default"].items()}, book["decimals"], tuple((n, "2") for n in prose))
    if section == "position":
        dot, alike = book["lecture"]["dot"], book["lecture"]["similarity"]
        curve = {10 + int(k.removeprefix("distance_")): v for k, v in alike.items()}
        return Source({"similarity": curve}, 2, tuple((v, "3") for v in dot.values()) + tuple((v, "2") for v in alike.values()))
    if section == "tanh_chain":
        low, one, high = book["fixed_factors"]["after_59"]
        prose = ((low, "e"), (high, "0"), (book["dying"]["first_states"][0], "2"), (book["dying"]["first_states"][2], "3"))
        return Source({"power_08": {0: 1.0, 59: low}, "power_1": {59: one}, "product": {0: 1.0}}, 4, prose)
    three = book["three"]
    rows = {f"weights_{rule}": whole([float(Fraction(w)) for w in three[rule]]) for rule in ("full", "masked", "zeroed")}
    rows |= {f"output_{rule}": {0: float(Fraction(v))} for rule, v in three["output"].items()}
    rows |= {"row_sums": whole([float(Fraction(v)) for v in three["row_sums"]])}
    eight, journey = book["eight"], book["journey"]
    prose = tuple((n, "2") for n in (*eight["full"], *eight["masked"][:4])) + tuple((n, "3") for n in (*journey["full"][:2], *journey["masked"][:2]))
    return Source(rows, 12, prose)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("section", CORE)
def test_page_shows_the_sources_numbers_and_they_follow_the_keyboard(reader: Reader, section: str, lang: str) -> None:
    reader.open(section, lang)
    assert reader.page.evaluate("document.documentElement.lang") == lang
    assert STRINGS[lang]["book"] in reader.page.title()
    reader.open_twins()
    reader.shows(section, lang)

    book, tables, prose = source(section), reader.tables(), reader.prose()
    for array, elements in book.arrays.items():
        for at, number in elements.items():
            assert float(tables[array][at][0]) == pytest.approx(number, abs=0.51 * 10.0**-book.decimals), f"{array}, element {at}"
    for number, form in book.prose:
        assert write_number(number, form, lang) in prose

    name = SLIDER[section]
    live = reader.locate("article.prose output").all_inner_texts()
    value = reader.press(name, "ArrowRight")
    reader.shows(section, lang, **{name: int(value) if section == "position" else value})
    assert reader.tables() != tables
    assert reader.locate("article.prose output").all_inner_texts() != live
    reader.fits()


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("section", [s for s in WRITTEN if s not in CORE])
def test_page_shows_what_its_compute_module_gives_and_follows_the_keyboard(reader: Reader, section: str, lang: str) -> None:
    reader.open(section, lang)
    assert reader.page.evaluate("document.documentElement.lang") == lang
    reader.open_twins()
    reader.shows(section, lang)
    slider = reader.locate("#lab input[type=range]:visible").first
    if slider.count():
        name, whole_number = slider.get_attribute("data-control"), slider.get_attribute("step") == "1"
        value = reader.press(name, "ArrowLeft")
        reader.shows(section, lang, **{name: int(value) if whole_number else value})
    reader.fits()


@pytest.mark.parametrize("lang", LANGUAGES)
def test_contents_list_every_section_in_the_readers_language(reader: Reader, lang: str) -> None:
    reader.open(None, lang)
    words = STRINGS[lang]
    assert reader.locate("h1").inner_text() == words["book"]
    assert reader.locate(".contents h2").all_inner_texts() == list(words["parts"].values())
    for section in CORE:
        assert reader.locate(f'.path a[href*="page={section}&"]').is_visible()
    reader.fits()
    first = reader.locate(".contents a:visible").first
    first.click()
    reader.live()
    assert reader.query()["lang"] == lang


def test_the_keyboard_alone_reaches_the_lab_and_moves_a_number(reader: Reader) -> None:
    reader.open("three_tokens")
    reader.page.keyboard.press("Tab")
    assert reader.page.evaluate("document.activeElement.className") == "skip"
    reader.page.keyboard.press("Enter")
    for _ in range(12):
        reader.page.keyboard.press("Tab")
        if reader.page.evaluate("document.activeElement.dataset.control") == "q00":
            break
    for _ in range(3):
        reader.page.keyboard.press("ArrowUp")
    reader.shows("three_tokens", q00=1.15)
    reader.page.keyboard.press("Home")
    reader.shows("three_tokens", q00=-3.0)


def test_there_and_back_again_leaves_no_number_behind(reader: Reader) -> None:
    reader.open("three_tokens")
    reader.press("q00", "ArrowRight")
    reader.press("q00", "ArrowLeft")
    reader.shows("three_tokens")
    np.testing.assert_array_equal(reader.numbers("weights"), trace_at("three_tokens").weights.ravel())
