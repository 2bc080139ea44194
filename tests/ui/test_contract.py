"""What tests, scripts and browsers may rely on: names on the page, the address, Back and Forward, and plain notices."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

from app import labs
from content import toc
from content.section import control_parameters
from tests.ui.reader import CORE, SLIDER, WRITTEN, Reader, eventually
from tests.ui.serving import ROOT

SETTINGS = {
    "three_tokens": {"q20": 3.0, "scaled": 0},
    "position": {"d": 5, "base": 100.0, "position": 7, "kind": "random"},
    "tanh_chain": {"x": 1.0, "t": 12, "activation": "sigmoid"},
    "masks": {"example": "eight", "kind": "custom", "visible": "01101111", "query": 5},
}

MARK = """(slider) => {
  const [mark, track] = [slider.parentElement.querySelector(".mark"), slider].map((e) => e.getBoundingClientRect());
  return (mark.left + mark.width / 2 - track.left) / track.width;
}"""


@pytest.mark.parametrize("section", WRITTEN)
def test_controls_arrays_and_facts_stand_under_their_names(reader: Reader, section: str) -> None:
    reader.open(section)
    lab, parameters = labs.load(section), control_parameters(toc.load(section).controls)
    on_page = reader.page.evaluate("[...document.querySelectorAll('[data-control]')].map((e) => e.dataset.control)")
    assert set(lab.control_names()) <= set(on_page) <= set(parameters)
    arrays = reader.page.evaluate("[...document.querySelectorAll('table[data-array]')].map((e) => e.dataset.array)")
    assert set(arrays) == lab.shown_arrays()
    for number, picture in enumerate(lab.pictures()):
        twins = reader.page.evaluate(f"""[...document.querySelectorAll('[data-figure="{number}"] details.twin table')].map((e) => e.dataset.array)""")
        assert set(twins) == set(picture.arrays()), "a picture has a table beside it"
    # Sliders are native, named and described; numbers stand in real tables with headers.
    for name in reader.page.evaluate("[...document.querySelectorAll('input[type=range]')].map((e) => e.dataset.control)"):
        slider = reader.control(name)
        low, high = parameters[name].bounds
        assert (float(slider.get_attribute("min")), float(slider.get_attribute("max"))) == (low, high)
        assert slider.evaluate("(e) => e.labels.length === 1 && e.labels[0].textContent.trim().length > 0"), name
        assert slider.get_attribute("aria-valuetext"), name
        if slider.is_visible():  # its textbook value is marked on the track
            share = slider.evaluate(MARK)
            assert share == pytest.approx((parameters[name].default - low) / (high - low), abs=0.06), name
    assert reader.page.evaluate("""[...document.querySelectorAll('table[data-array]')].every((table) =>
        table.caption && [...table.tBodies[0].rows].every((row) => row.cells[0].scope === "row" && row.cells[0].textContent.trim()))""")


@pytest.mark.parametrize("section", CORE)
def test_command_line_address_and_page_agree(reader: Reader, section: str) -> None:
    settings = SETTINGS[section]
    reader.open(section, "uk", **settings)
    reader.open_twins()
    command = [sys.executable, "-m", "content", section, *(f"{name}={value}" for name, value in settings.items())]
    printed = json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout)
    for array, cells in reader.tables().items():
        np.testing.assert_allclose([float(c[0]) for c in cells], np.ravel(printed["trace"][array]), rtol=1e-12, atol=1e-12, err_msg=array)
    reader.shows(section, "uk", **settings)


@pytest.mark.parametrize("section", CORE)
def test_address_is_written_on_release_and_not_on_every_tick(reader: Reader, section: str) -> None:
    name = SLIDER[section]
    reader.open(section).open_twins()
    length = reader.page.evaluate("history.length")
    reader.drag(name, [k / 20 for k in range(4, 16)], release=False)
    value = reader.control(name).input_value()
    assert name not in reader.query()
    whole = section == "position"
    reader.shows(section, **{name: int(value) if whole else float(value)})  # the numbers follow before the release
    reader.page.mouse.up()
    assert float(reader.query()[name]) == float(value)
    assert reader.page.evaluate("history.length") == length + 1
    assert set(reader.query()) - {"look"} == {"page", "lang", name}, "only what is not at its textbook value is written"


def test_a_run_of_key_presses_is_one_entry_of_the_history(reader: Reader) -> None:
    reader.open("three_tokens")
    length = reader.page.evaluate("history.length")
    for _ in range(5):
        reader.press("q00", "ArrowRight")
    assert float(reader.query()["q00"]) == 1.25
    assert reader.page.evaluate("history.length") == length + 1


def test_back_and_forward_bring_the_controls_back(reader: Reader) -> None:
    reader.open("three_tokens")
    reader.press("q00", "End")
    reader.shows("three_tokens", q00=3.0)
    reader.locate('a[data-set="scaled=0"]').first.click()  # a link sets what it names and leaves the rest at the textbook values
    reader.shows("three_tokens", scaled=0)
    reader.page.go_back()
    reader.shows("three_tokens", q00=3.0)
    assert reader.control("q00").input_value() == "3"
    assert reader.control("scaled").is_checked()
    reader.page.go_back()
    reader.shows("three_tokens")
    reader.page.go_forward()
    reader.page.go_forward()
    reader.shows("three_tokens", scaled=0)
    assert not reader.control("scaled").is_checked()


def test_reload_and_a_copied_address_keep_the_values(reader: Reader) -> None:
    reader.open("masks", "ru")
    reader.press("s1", "ArrowRight")
    value = float(reader.control("s1").input_value())
    reader.locate('input[data-control="kind"][value="none"]').check(force=True)
    state = {"s1": value, "kind": "none"}
    reader.shows("masks", "ru", **state)
    reader.page.reload()
    reader.live().shows("masks", "ru", **state)
    other = reader.turn_page()
    other.goto(reader.page.url)
    reader.page = other
    reader.live().shows("masks", "ru", **state)


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("page=nowhere", "nowhere"),
        ("page=copying", "copying"),
        ("page=three_tokens&lang=de", "de"),
        ("page=three_tokens&zoom=7&q20=3", "zoom"),
        ("page=three_tokens&q00=1e308&q20=3", "q00 = 1e308"),
        ("page=three_tokens&q00=nan&q20=3", "q00 = nan"),
        ("page=three_tokens&q00=-inf&q20=3", "q00 = -inf"),
        ("page=three_tokens&q00=[1,2]&q20=3", "q00 = [1,2]"),
        ("page=three_tokens&q00=&q20=3", "q00 ="),
        ("page=three_tokens&token=milk&q20=3", "token = milk"),
        ("page=three_tokens&q20=3&q20=1", "q20"),
        ("page=three_tokens&look=pink&q20=3", "pink"),
        ("page=three_tokens&view=all&q20=3", "all"),
        ("page=three_tokens&hide=q00,zoom&q20=3", "zoom"),
        ("page=three_tokens&q20=3&q00=%3Cscript%3Ealert(1)%3C/script%3E", "q00 = <script>"),
    ],
)
def test_what_an_address_asks_in_vain_is_said_plainly_and_the_rest_is_shown(reader: Reader, query: str, said: str) -> None:
    reader.go(query)
    notices = reader.locate(".notice:visible").all_inner_texts()
    assert len(notices) == 1
    assert said in notices[0]
    if "q20=3" in query:
        reader.live().shows("three_tokens", q20=3.0)
    elif "three_tokens" in query:
        reader.live().shows("three_tokens")
    else:
        assert reader.locate(".contents").is_visible()


def test_a_value_of_ten_million_characters_does_not_disturb_the_page(reader: Reader) -> None:
    """Servers refuse such an address; what comes back is no page of ours, and the next page is there as ever."""
    response = reader.context.request.get(f"{reader.address}?page=three_tokens&q00=" + "9" * 60_000)
    assert response.status in (200, 400, 414, 431)
    reader.open("three_tokens").shows("three_tokens")


def test_entry_fields_take_numbers_as_people_write_them_and_refuse_the_rest(reader: Reader) -> None:
    reader.open("three_tokens", "uk")
    field = reader.locate('[data-entry="q00"]')
    for typed, value in (("2,25", 2.25), ("−1.5", -1.5), ("1/3", 1 / 3), ("99", 3.0)):
        field.fill(typed)
        field.press("Enter")
        reader.shows("three_tokens", "uk", q00=value)
    for typed in ("abc", "", "1e999", "0/0"):
        field.fill(typed)
        field.press("Enter")
        field.blur()
        reader.shows("three_tokens", "uk", q00=3.0)
        assert field.input_value() == "3,00"


def test_bits_and_choices_are_controls_as_well(reader: Reader) -> None:
    reader.open("masks")
    bits = reader.control("visible")
    reader.locate('input[data-control="kind"][value="padding"]').check(force=True)
    bits.fill("011")
    bits.press("Enter")
    reader.shows("masks", kind="padding", visible="011")
    bits.fill("two")
    bits.press("Enter")
    eventually(lambda: _equal(bits.input_value(), "011"))
    reader.shows("masks", kind="padding", visible="011")
    reader.locate('input[data-control="kind"]:checked').press("ArrowRight")
    reader.shows("masks", kind="custom", visible="011")


def _equal(left: object, right: object) -> None:
    assert left == right
