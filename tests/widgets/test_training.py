"""The panel of jobs as HTML: its buttons and titles in the section's words, what the page's module needs, and the table twins."""

import json
import re
from html import unescape
from typing import NamedTuple

import numpy as np

from widgets.text import Text
from widgets.training import Curve, Training


class Trace(NamedTuple):
    epoch: np.ndarray
    accuracy: np.ndarray
    loss: np.ndarray


TRACE = Trace(np.arange(1, 4), np.ones((2, 3)), np.zeros((2, 3)))
LABELS = {
    "arrays": {"epoch": "Epoch", "accuracy": "Accuracy", "loss": "Loss"},
    "axes": {"model": ["small", "large"]},
    "words": {"train": "Train <now>", "share": "Share of right answers", "loss": "Loss"},
}
TEXT = Text(LABELS, {}, lambda value, form: f"{value:g}")
PANEL = Training(
    curves=(
        Curve("validation_accuracy", "accuracy", "share", mark=0.25, mark_word="chance", high=1.0),
        Curve("train_loss", "loss", "loss"),
    ),
    defines=("model", "seed", "rate"), about=("model", "seed"), shared=("rate",), variant="model", compare="stored", x="epoch",
    x_label="epoch", own="own_run", not_own="not_trained", result="accuracy",
)  # fmt: skip


def settings(html):
    return json.loads(unescape(re.search(r'data-training="([^"]*)"', html)[1]))


def test_the_buttons_say_what_they_do_and_markup_in_words_stays_text():
    html = PANEL.html(TRACE, TEXT)
    assert re.findall(r'data-act="(\w+)"', html) == ["train", "train_all", "train_table"]
    assert "Train &lt;now&gt;" in html
    assert "<now>" not in html


def test_the_module_is_told_all_it_needs():
    told = settings(PANEL.html(TRACE, TEXT))
    assert told["variant"] == "model"
    assert told["defines"] == ["model", "seed", "rate"]
    first, second = told["curves"]
    assert (first["name"], first["array"], first["mark"]) == ("validation_accuracy", "accuracy", 0.25)
    assert second["mark"] is None


def test_the_curves_to_compare_with_stand_in_tables_as_well():
    html = PANEL.html(TRACE, TEXT)
    assert re.findall(r'data-array="(\w+)"', html) == list(PANEL.arrays()) == ["epoch", "accuracy", "loss"]
    assert html.count('data-rows="model"') == 2


def test_a_second_picture_with_one_curve_has_a_title_and_one_with_several_a_choice():
    assert "<select" not in PANEL.html(TRACE, TEXT)
    more = PANEL._replace(curves=(*PANEL.curves, Curve("validation_loss", "loss", "loss")))
    assert more.html(TRACE, TEXT).count("<option") == 2


def test_changes_are_announced_and_the_panel_is_there_without_numbers():
    html = PANEL.html(None, TEXT)
    assert 'role="status"' in html
    assert html.count("<table") == 3
