"""The gestures of the first labs: steps of training with a way back, numbers that lead both ways, words switched on and off."""

from __future__ import annotations

import re

import numpy as np
import pytest
from playwright.sync_api import expect

from content.strings import STRINGS
from tests.ui.reader import LANGUAGES, Reader, eventually, trace_at

WEIGHTS = ("w_x", "w_h", "w_o")


def press(reader: Reader, act: str) -> None:
    reader.locate(f'.steps [data-act="{act}"]').click()


def descend(steps: int, **settings: float) -> tuple[list[float], dict[str, float]]:
    """Losses before and after each step, and where the weights stand in the end, worked out by the compute module."""
    losses = []
    for _ in range(steps):
        trace = trace_at("scalar_rnn", **settings)
        losses.append(float(trace.loss))
        settings = {**settings, **dict(zip(WEIGHTS, trace.updated.tolist()))}
    return [*losses, float(trace_at("scalar_rnn", **settings).loss)], settings


def history(reader: Reader) -> list[float]:
    """Losses of the table beside the curve."""
    if not reader.locate(".steps .twin[open]").count():
        reader.locate(".steps .twin summary").click()
    return [float(text) for text in reader.locate(".steps .history td:nth-child(2)").all_inner_texts()]


def assert_history(reader: Reader, losses: list[float]) -> None:
    def same() -> None:
        np.testing.assert_allclose(history(reader), losses, rtol=1e-3)

    eventually(same)
    assert reader.locate(".steps svg circle").count() == len(losses)


def test_a_step_sets_the_weights_and_the_address_and_ten_go_on_from_there(reader: Reader) -> None:
    reader.open("scalar_rnn")
    press(reader, "step")
    losses, moved = descend(1)
    reader.shows("scalar_rnn", **moved)
    assert_history(reader, losses)
    assert {name: float(value) for name, value in reader.query().items() if name in WEIGHTS} == pytest.approx(moved)
    press(reader, "ten")
    losses, moved = descend(11)
    assert_history(reader, losses)
    reader.shows("scalar_rnn", **moved)
    assert losses == sorted(losses, reverse=True)


def test_undo_takes_back_a_gesture_at_a_time_and_leaves_its_curve_to_compare_with(reader: Reader) -> None:
    reader.open("scalar_rnn")
    expect(reader.locate('[data-act="undo"]')).to_be_disabled()
    press(reader, "step")
    losses, once = descend(1)
    assert_history(reader, losses)
    press(reader, "ten")
    assert_history(reader, descend(11)[0])
    press(reader, "undo")
    assert_history(reader, losses)
    reader.shows("scalar_rnn", **once)
    expect(reader.locate(".steps path.faint")).to_have_count(1)
    press(reader, "undo")
    reader.shows("scalar_rnn")
    expect(reader.locate('[data-act="undo"]')).to_be_disabled()
    assert not set(WEIGHTS) & set(reader.query())


def test_a_long_step_makes_the_loss_worse_and_the_lab_stops_where_the_sliders_end(reader: Reader) -> None:
    reader.open("scalar_rnn", lr=4)
    expect(reader.locate(".steps .judged")).to_have_text(STRINGS["en"]["step_more"])
    press(reader, "step")
    losses, _ = descend(1, lr=4.0)
    assert_history(reader, losses)
    assert losses[0] < losses[1]
    reader.open("scalar_rnn", lr=3)
    press(reader, "ten")
    losses, moved = descend(3, lr=3.0)
    assert_history(reader, losses)
    assert losses[1] < losses[0] < losses[2] < losses[3]
    expect(reader.locate(".steps .said")).to_contain_text("w_o")
    reader.shows("scalar_rnn", **moved)


def test_another_rate_goes_on_with_the_history_and_another_input_begins_anew(reader: Reader) -> None:
    reader.open("scalar_rnn")
    press(reader, "step")
    losses, moved = descend(1)
    assert_history(reader, losses)
    reader.press("lr", "ArrowRight")
    press(reader, "step")
    more, moved = descend(1, **{**moved, "lr": 0.15})
    assert_history(reader, [*losses, more[1]])
    reader.press("x0", "ArrowLeft")
    reader.shows("scalar_rnn", **{**moved, "x0": 0.95})
    assert_history(reader, [float(trace_at("scalar_rnn", **{**moved, "x0": 0.95}).loss)])
    expect(reader.locate('[data-act="undo"]')).to_be_disabled()


@pytest.mark.parametrize("lang", LANGUAGES)
def test_where_every_gradient_is_zero_a_step_says_that_it_changes_nothing(reader: Reader, lang: str) -> None:
    reader.open("scalar_rnn", lang, activation="relu", x0=-1, x1=-1, x2=-1)
    press(reader, "step")
    expect(reader.locate(".steps .said")).to_have_text(STRINGS[lang]["step_nowhere"])
    reader.shows("scalar_rnn", lang, activation="relu", x0=-1.0, x1=-1.0, x2=-1.0)


def test_a_number_of_the_way_back_leads_down_to_a_slider(reader: Reader) -> None:
    reader.open("scalar_rnn")
    reader.locate('.ledger td[data-cell="g_z[0]"]').click()
    for title in ("Sensitivity to a state, 0", "Sensitivity to a preactivation, 1", "Sensitivity to a state, 1"):
        reader.locate(f'.readout .to-array[title="{title}"]').click()
    expect(reader.locate('.ledger td[data-cell="g_h[1]"]')).to_have_class(re.compile("picked"))
    expect(reader.locate('.ledger td[data-cell="g_z[2]"]')).to_have_class(re.compile("from"))
    reader.locate(".readout .to-control").click()
    assert reader.page.evaluate("document.activeElement.dataset.control") == "w_h"


def test_lines_of_the_calculation_follow_a_slider_and_the_arrow_keys_go_from_result_to_result(reader: Reader) -> None:
    reader.open("scalar_rnn")
    value = reader.press("x0", "ArrowLeft")
    trace = trace_at("scalar_rnn", x0=value)

    def followed() -> None:
        for name, number in (("state[2]", trace.state[2]), ("g_z[0]", trace.g_z[0]), ("gradients[0]", trace.gradients[0])):
            assert float(reader.locate(f'td[data-cell="{name}"]').first.get_attribute("data-value")) == pytest.approx(number, rel=1e-12)
        assert reader.locate('.waterfall span[data-cell="x0"]').inner_text() == "0.95"

    eventually(followed)
    reader.locate('.ledger td[data-cell="preactivation[0]"]').focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        reader.page.keyboard.press(key)
    assert reader.page.evaluate("document.activeElement.dataset.cell") == "g_h[0]"
    eventually(lambda: expect(reader.locate(".readout .of")).to_contain_text("Sensitivity to a state"))


def test_bars_of_contributions_end_where_their_sum_does(reader: Reader) -> None:
    reader.open("scalar_rnn", x1=-1.5)
    edges = """() => [...document.querySelector(".waterfall tbody").rows].map((row) => {
      const [bar, way] = [row.querySelector(".extent"), row.querySelector(".way")].map((e) => e.getBoundingClientRect());
      const zero = way.left + way.width / 2;
      const negative = row.querySelector(".extent").dataset.sign === "negative";
      const [start, end] = negative ? [bar.right, bar.left] : [bar.left, bar.right];
      return [start - zero, end - zero];
    })"""

    def adds_up() -> None:
        first, second, third, total = reader.page.evaluate(edges)
        assert first[0] == pytest.approx(0, abs=1) and total[0] == pytest.approx(0, abs=1)
        assert second[0] == pytest.approx(first[1], abs=1) and third[0] == pytest.approx(second[1], abs=1)
        assert total[1] == pytest.approx(third[1], abs=2.5)
        assert second[1] < second[0]

    eventually(adds_up)


def place(reader: Reader, word: int):
    """A word's tile, counted from 1."""
    return reader.locate(".places > li").nth(word - 1)


def test_the_leak_is_found_by_switching_a_word_off(reader: Reader) -> None:
    reader.open("available_input")
    expect(place(reader, 5).locator("small")).to_have_text("leak")
    expect(reader.locate('#lab .views output[data-fact="leak_count"]')).to_have_text("1")
    place(reader, 5).locator("label").click()
    expect(place(reader, 5).locator("small")).to_have_text("closed")
    expect(reader.locate('#lab .views output[data-fact="leak_count"]')).to_have_text("0")
    assert reader.query()["use4"] == "0"
    reader.shows("available_input", use4=0)


def test_the_same_words_are_judged_anew_by_another_task_and_position(reader: Reader) -> None:
    reader.open("available_input")
    said = lambda: reader.locate(".places small").all_inner_texts()  # noqa: E731
    assert said() == [*4 * ["allowed"], "leak", *2 * ["closed"]]
    reader.press("cut", "ArrowLeft")
    eventually(lambda: _equal(said(), [*3 * ["allowed"], *2 * ["leak"], *2 * ["closed"]]))
    expect(place(reader, 3)).to_have_class(re.compile("here"))
    reader.locate('input[data-control="task"][value="tag"]').check(force=True)
    eventually(lambda: _equal(said(), [*5 * ["allowed"], *2 * ["left out"]]))
    reader.locate("#lab .button").first.click()
    eventually(lambda: _equal(said(), 7 * ["allowed"]))
    reader.shows("available_input", task="tag", cut=2, use5=1, use6=1)


def test_a_word_is_switched_by_keyboard_and_says_its_verdict(reader: Reader) -> None:
    reader.open("available_input", "uk")
    box = reader.control("use5")
    box.focus()
    reader.page.keyboard.press("Space")
    expect(place(reader, 6).locator("small")).to_have_text("витік")
    assert box.get_attribute("aria-describedby") == place(reader, 6).locator("small").get_attribute("id")
    reader.shows("available_input", "uk", use5=1)


def test_no_answer_from_the_mean_is_right_for_both_series(reader: Reader) -> None:
    reader.open("available_input")
    reader.drag("answer", [0.2, 0.6])
    for share in (0.2, 0.5, 0.8):
        reader.drag("answer", [share])
        value = float(reader.control("answer").input_value())
        reader.shows("available_input", answer=value)
        assert reader.numbers("errors")[6:].max() >= 2.5
        assert (reader.numbers("errors")[2:4] == 0).all()


def _equal(left: object, right: object) -> None:
    assert left == right
