"""What may be looked at: the source's table, forecasts of four models, and what must hold at every setting."""

import doctest
import tomllib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from content.sections.available_input import compute as module
from content.sections.available_input.compute import LENGTH, SECTION, TASKS, available, line_ahead
from tests.content.drawn import values_of

GOLDEN = tomllib.loads((Path(__file__).parents[1] / "golden" / "available_input.toml").read_text())
HONEST, IN_RECORD, ON_THE_DAY, MEAN_ONLY = range(4)

states = values_of(SECTION)


def at(**changes):
    return SECTION.trace(SECTION.defaults() | changes)


def facts(**changes):
    return SECTION.facts(at(**changes))


@pytest.mark.parametrize("task", TASKS)
def test_word_four_of_seven_may_use_as_many_words_as_the_source_says(task):
    golden = GOLDEN["words"]
    assert facts(task=task, cut=golden["cut"])["allowed_count"] == golden[task]


def test_a_forecast_may_use_what_was_observed_and_not_its_target():
    golden = GOLDEN["forecast"]
    assert at(task="forecast", cut=golden["cut"]).allowed.tolist() == golden["allowed"]


def test_two_series_of_one_mean_go_on_in_opposite_directions():
    golden = dict(GOLDEN["one_mean"])
    settings = golden["settings"]
    trace = at(**settings)
    np.testing.assert_allclose(trace.series, [golden["rising"], golden["falling"]], atol=1e-12)
    np.testing.assert_allclose(trace.means, golden["mean"], atol=1e-12)
    np.testing.assert_allclose(trace.following, golden["following"], atol=1e-12)
    assert facts(**settings)["least_worst"] == pytest.approx(golden["least_worst"])
    np.testing.assert_allclose(trace.errors[HONEST], 0, atol=1e-12)  # a straight line is found by a straight line


def test_the_page_opens_with_one_leak():
    known = facts()
    assert (known["leak_count"], known["left_out_count"], known["used_count"]) == (1, 0, 4)
    assert facts(use4=0)["leak_count"] == 0


def test_the_leaky_model_wins_in_the_records_and_loses_on_the_day():
    for climb in (1.0, 2.0, 3.0):
        errors = at(climb=climb).errors
        assert (errors[IN_RECORD] == 0).all() and (errors[HONEST] > 0.3).all()
        assert (errors[ON_THE_DAY] > errors[HONEST]).all()


def test_doctests_run():
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize("n", range(1, LENGTH + 1))
def test_the_line_is_the_one_that_numpy_fits(n):
    readings = np.random.default_rng(n).normal(size=n)
    fitted = np.polyfit(np.arange(n), readings, min(n - 1, 1))
    assert line_ahead(n) @ readings == pytest.approx(np.polyval(fitted, n), abs=1e-12)


@given(states)
def test_a_word_is_judged_by_whether_it_is_allowed_and_whether_it_is_on(values):
    trace = SECTION.trace(values)
    for k in range(LENGTH):
        code = {(1, 0): 0, (1, 1): 1, (0, 0): 2, (0, 1): 3}[trace.allowed[k], trace.chosen[k]]
        assert trace.verdict[k] == code
        assert trace.chosen[k] == values[f"use{k}"]
    known = SECTION.facts(trace)
    assert known["used_count"] + known["left_out_count"] == known["allowed_count"]
    assert known["used_count"] + known["leak_count"] == trace.chosen.sum()


@pytest.mark.parametrize("cut", range(LENGTH))
def test_only_a_forecast_depends_on_the_position(cut):
    assert available("classify", cut).all() and available("tag", cut).all()
    assert available("forecast", cut).sum() == cut + 1


@given(states)
def test_means_are_equal_at_every_cut(values):
    low, high = SECTION.trace(values).means
    assert low == pytest.approx(high, abs=1e-12)


@given(states)
def test_errors_of_the_mean_only_model_add_up_to_the_gap_or_more(values):
    trace = SECTION.trace(values)
    known = SECTION.facts(trace)
    assert trace.errors[MEAN_ONLY].sum() >= known["gap"] - 1e-12
    assert trace.errors[MEAN_ONLY].max() >= known["least_worst"] - 1e-12


@given(states)
def test_no_honest_forecast_knows_the_next_reading(values):
    trace = SECTION.trace(values)
    seen = trace.series[:, : values["cut"] + 1]
    np.testing.assert_allclose(trace.predictions[HONEST], seen @ line_ahead(seen.shape[1]), rtol=1e-12)
    np.testing.assert_array_equal(trace.predictions[ON_THE_DAY], seen[:, -1])
    np.testing.assert_array_equal(trace.predictions[IN_RECORD], trace.following)
    np.testing.assert_array_equal(trace.predictions[MEAN_ONLY], values["answer"])


@given(states)
def test_errors_agree_with_torch(values):
    torch = pytest.importorskip("torch")
    trace = SECTION.trace(values)
    told = (torch.tensor(trace.predictions) - torch.tensor(trace.following)).abs()
    np.testing.assert_allclose(trace.errors, told, rtol=0, atol=1e-12)
