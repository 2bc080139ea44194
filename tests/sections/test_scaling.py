"""Scaling: the shape of the source's draw, torch's numbers, and what must hold at every setting."""

import doctest
import tomllib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from content.explain import Explainer
from content.section import arrays, control_parameters
from content.sections.scaling import compute as module
from content.sections.scaling.compute import MOST_KEYS, SECTION, WALKS, WIDEST, WIDTHS, gradient_size, jacobian, population

GOLDEN = tomllib.loads((Path(__file__).parents[1] / "golden" / "scaling.toml").read_text())
PARAMETERS = control_parameters(SECTION.controls)
WITHOUT, WITH = 0, 1

states = st.fixed_dictionaries(
    {
        "d_k": st.integers(*PARAMETERS["d_k"].bounds),
        "n": st.integers(*PARAMETERS["n"].bounds),
        "spread": st.floats(*PARAMETERS["spread"].bounds),
        "seed": st.integers(*PARAMETERS["seed"].bounds),
        "scaled": st.sampled_from(PARAMETERS["scaled"].objects),
    }
)
unhurried = settings(deadline=None, max_examples=50)  # the first call for a number of keys makes the many draws


def at(**changes):
    return SECTION.trace(SECTION.defaults() | changes)


def four_numbers(seed):
    """Largest weights and entropies at the source's width and number of keys."""
    trace = at(**GOLDEN["draw"]["settings"], seed=seed)
    return np.concatenate([trace.largest, trace.entropy])


def test_the_draw_has_the_shape_of_the_source():
    golden = GOLDEN["draw"]
    np.testing.assert_allclose(at().largest, golden["largest"], atol=golden["near"])
    np.testing.assert_allclose(at().entropy, golden["entropy"], atol=golden["near"])
    assert SECTION.facts(at())["max_entropy"] == pytest.approx(golden["max_entropy"], abs=0.5 * 10.0 ** -golden["decimals"])


def test_the_textbook_seed_is_the_one_nearest_to_the_source():
    target = np.array(GOLDEN["draw"]["largest"] + GOLDEN["draw"]["entropy"])
    low, high = PARAMETERS["seed"].bounds
    distance = [np.abs(four_numbers(seed) - target).max() for seed in range(low, high + 1)]
    assert np.argmin(distance) == GOLDEN["ours"]["seed"] == SECTION.defaults()["seed"]


@pytest.mark.parametrize("name", ["largest", "entropy"])
def test_the_draw_of_the_textbook_seed_does_not_change(name):
    np.testing.assert_allclose(getattr(at(), name), GOLDEN["ours"][name], atol=10.0 ** -GOLDEN["ours"]["decimals"])


def test_doctests_run():
    assert doctest.testmod(module).failed == 0


@unhurried
@given(states)
def test_every_array_is_finite_and_every_row_of_weights_sums_to_one(values):
    trace = SECTION.trace(values)
    assert all(np.isfinite(array).all() for array in arrays(trace).values())
    assert all(np.isfinite(fact) for fact in SECTION.facts(trace).values())
    np.testing.assert_allclose(trace.weights.sum(axis=1), 1.0, atol=1e-12)


@pytest.mark.parametrize("edge", [0, 1])
def test_the_edges_of_the_bounds_give_finite_numbers(edge):
    for scaled in PARAMETERS["scaled"].objects:
        trace = at(scaled=scaled, **{name: PARAMETERS[name].bounds[edge] for name in ("d_k", "n", "spread", "seed")})
        assert all(np.isfinite(array).all() for array in arrays(trace).values())
        assert all(np.isfinite(fact) for fact in SECTION.facts(trace).values())


@unhurried
@given(states)
def test_entropy_and_largest_weight_stay_between_their_limits(values):
    trace = SECTION.trace(values)
    assert (trace.entropy >= -1e-12).all() and (trace.entropy <= np.log(values["n"]) + 1e-12).all()
    assert (trace.largest >= 1 / values["n"] - 1e-12).all() and (trace.largest <= 1).all()


@unhurried
@given(states)
def test_the_division_never_sharpens_and_keeps_the_order(values):
    trace = SECTION.trace(values)
    assert trace.largest[WITH] <= trace.largest[WITHOUT] + 1e-12
    assert trace.entropy[WITH] >= trace.entropy[WITHOUT] - 1e-12
    np.testing.assert_array_equal(np.argsort(trace.scores[WITH]), np.argsort(trace.scores[WITHOUT]))


@unhurried
@given(states)
def test_slopes_sum_to_zero_in_every_row_and_column(values):
    slopes = SECTION.trace(values).jacobian
    np.testing.assert_allclose(slopes.sum(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(slopes.sum(axis=1), 0, atol=1e-12)


@unhurried
@given(states)
def test_slopes_are_shown_for_the_chosen_row(values):
    trace = SECTION.trace(values)
    np.testing.assert_array_equal(trace.jacobian, jacobian(trace.weights[values["scaled"]]))
    assert gradient_size(trace.jacobian) == trace.gradient[values["scaled"]]


@unhurried
@given(states)
def test_a_walk_ends_at_its_dot_product(values):
    trace = SECTION.trace(values)
    assert trace.walk.shape == (min(WALKS, values["n"]), values["d_k"])
    np.testing.assert_allclose(trace.walk[:, -1], trace.dots[:WALKS], atol=1e-10)


@unhurried
@given(states, st.integers(1, WIDEST), st.integers(2, MOST_KEYS))
def test_another_width_or_number_of_keys_adds_to_the_draw(values, d_k, n):
    before, after = SECTION.trace(values), SECTION.trace(values | {"d_k": d_k, "n": n})
    keys, steps = min(len(before.walk), len(after.walk)), min(values["d_k"], d_k)
    np.testing.assert_array_equal(before.walk[:keys, :steps], after.walk[:keys, :steps])


def test_width_one_makes_both_rows_equal():
    trace = at(d_k=1)
    np.testing.assert_array_equal(trace.weights[WITHOUT], trace.weights[WITH])


def test_halved_entries_quarter_the_dot_products():
    np.testing.assert_allclose(at(spread=0.5).dots, at().dots / 4, rtol=1e-14)


def test_variance_of_the_scores_grows_as_the_width_and_is_one_after_the_division():
    trace = at()
    np.testing.assert_allclose(trace.variance[WITHOUT] / WIDTHS, 1, atol=0.1)
    np.testing.assert_allclose(trace.variance[WITH], 1, atol=0.1)
    np.testing.assert_allclose(trace.variance[WITH], trace.variance[WITHOUT] / WIDTHS, rtol=1e-12)


@pytest.mark.parametrize("n", [8, 24, 32])
def test_wide_rows_saturate_without_the_division_and_not_with_it(n):
    many = population(n)
    assert many.saturated[WITHOUT, -1] > 0.3
    assert (many.saturated[WITH] == 0).all()
    assert many.gradient_median[WITHOUT, -1] < many.gradient_median[WITH, -1] / 5
    assert np.ptp(many.gradient_median[WITH]) < 0.05


def test_what_the_prose_says_of_slopes_holds_in_the_draws_it_names():
    sharp, saturated = at(), at(seed=3)
    assert sharp.gradient[WITHOUT] > sharp.gradient[WITH]
    assert saturated.gradient[WITHOUT] < 1e-8 < saturated.gradient[WITH]
    assert saturated.largest[WITH] > 0.5


@unhurried
@given(states)
def test_every_cell_that_has_arithmetic_gives_its_number_by_it(values):
    explainer = Explainer(SECTION, values)
    for name, array in arrays(SECTION.trace(values)).items():
        for index in ((0,) * array.ndim, tuple(size - 1 for size in array.shape)):
            assert explainer.evaluate(explainer.top(name, index)) == pytest.approx(array[index], rel=1e-10, abs=1e-12)


@unhurried
@given(states)
def test_weights_entropy_and_slopes_agree_with_torch(values):
    torch = pytest.importorskip("torch")
    trace = SECTION.trace(values)
    scores = torch.from_numpy(trace.scores)
    weights = torch.softmax(scores, dim=1)
    slopes = [torch.autograd.functional.jacobian(lambda row: torch.softmax(row, dim=0), row) for row in scores]
    np.testing.assert_allclose(trace.weights, weights, rtol=0, atol=1e-12)
    np.testing.assert_allclose(trace.entropy, torch.special.entr(weights).sum(dim=1), rtol=0, atol=1e-12)
    np.testing.assert_allclose(trace.jacobian, slopes[values["scaled"]], rtol=0, atol=1e-12)
    np.testing.assert_allclose(trace.gradient, [torch.linalg.matrix_norm(s) for s in slopes], rtol=0, atol=1e-12)
