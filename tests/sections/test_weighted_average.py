"""A weighted average: the source's two words, torch's numbers, and what must hold at every setting."""

import doctest
import tomllib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from content.explain import Explainer
from content.section import arrays, control_parameters
from content.sections.weighted_average import compute as module
from content.sections.weighted_average.compute import MOST, SECTION, hull_corners, softmax

GOLDEN = tomllib.loads((Path(__file__).parents[1] / "golden" / "weighted_average.toml").read_text())
ROUNDING = 0.5 * 10.0 ** -GOLDEN["decimals"] + 1e-12
PARAMETERS = control_parameters(SECTION.controls)
FLOATS = [name for name in PARAMETERS if name not in ("n", "d_k")]

states = st.fixed_dictionaries(
    {name: st.floats(*PARAMETERS[name].bounds) for name in FLOATS}
    | {"n": st.sampled_from(PARAMETERS["n"].objects), "d_k": st.integers(*PARAMETERS["d_k"].bounds)}
)
pairs = st.tuples(st.integers(-3, 3), st.integers(-3, 3))
points = st.lists(pairs, min_size=2, max_size=7).map(lambda drawn: np.array(drawn, dtype=float))


def at(**changes):
    return SECTION.trace(SECTION.defaults() | changes)


def is_inside(point, corners, slack=1e-9):
    """Whether a point is nowhere to the right of an edge; corners go counter-clockwise, repetitions do no harm."""
    edges = np.roll(corners, -1, axis=0) - corners
    to_point = point - corners
    return bool((edges[:, 0] * to_point[:, 1] - edges[:, 1] * to_point[:, 0] >= -slack).all())


@pytest.mark.parametrize("name", GOLDEN["default"])
def test_default_array_is_the_one_in_the_source(name):
    np.testing.assert_allclose(getattr(at(), name), GOLDEN["default"][name], atol=ROUNDING)


def test_two_words_mix_by_their_shares():
    trace = at()
    np.testing.assert_allclose(trace.output, trace.values[0] + trace.weights[1] * (trace.values[1] - trace.values[0]), atol=1e-14)
    assert SECTION.facts(trace)["ratio"] == pytest.approx(np.exp(2), rel=1e-14)


def test_doctests_run():
    assert doctest.testmod(module).failed == 0


@given(states)
def test_every_array_is_finite_and_the_weights_are_positive_and_sum_to_one(values):
    trace = SECTION.trace(values)
    assert all(np.isfinite(array).all() for array in arrays(trace).values())
    assert all(np.isfinite(fact) for fact in SECTION.facts(trace).values())
    assert (trace.weights > 0).all()
    assert trace.weights.sum() == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("low", [True, False])
def test_the_edges_of_the_bounds_give_finite_numbers(low):
    edge = {name: PARAMETERS[name].bounds[0 if low else 1] for name in FLOATS}
    for n in PARAMETERS["n"].objects:
        for d_k in PARAMETERS["d_k"].bounds:
            trace = at(**edge | {"n": n, "d_k": d_k, "score_0": -edge["score_0"]})
            assert all(np.isfinite(array).all() for array in arrays(trace).values())
            assert all(np.isfinite(fact) for fact in SECTION.facts(trace).values())


@given(states)
def test_the_output_is_the_sum_of_the_contributions(values):
    trace = SECTION.trace(values)
    np.testing.assert_allclose(trace.output, trace.contributions.sum(axis=0), atol=1e-12)


@given(states)
def test_output_and_centre_lie_in_the_convex_hull_of_the_values(values):
    trace = SECTION.trace(values)
    assert is_inside(trace.output, trace.hull)
    assert is_inside(trace.centre, trace.hull)
    assert all(is_inside(value, trace.hull) for value in trace.values)


@given(states, st.floats(-40, 40))
def test_a_constant_added_to_every_score_changes_no_weight(values, constant):
    moved = {f"score_{k}": values[f"score_{k}"] + constant for k in range(MOST)}
    np.testing.assert_allclose(SECTION.trace(values | moved).weights, SECTION.trace(values).weights, rtol=0, atol=1e-12)


@given(states)
def test_a_larger_score_never_gets_a_smaller_weight(values):
    trace = SECTION.trace(values)
    order = np.argsort(trace.scores)
    assert (np.diff(trace.weights[order]) >= 0).all()


@given(states, st.floats(-160, 160))
def test_a_third_word_leaves_the_ratio_of_the_first_two_alone(values, score):
    two, three = (SECTION.trace(values | {"n": n, "score_2": score}) for n in (2, 3))
    assert SECTION.facts(three)["ratio"] == pytest.approx(SECTION.facts(two)["ratio"], rel=1e-9)


@given(states)
def test_words_beyond_n_change_nothing(values):
    trace = SECTION.trace(values)
    after = SECTION.trace(values | {f"{kind}_{k}": 1.0 for k in range(values["n"], MOST) for kind in ("score", "x", "y")})
    assert all(np.array_equal(a, b) for a, b in zip(trace, after))


def test_equal_scores_give_the_plain_average():
    trace = at(n=4, score_0=5.0, score_1=5.0, score_2=5.0, score_3=5.0)
    np.testing.assert_allclose(trace.output, trace.centre, atol=1e-15)


@given(points)
def test_hull_corners_turn_left_and_hold_every_point(points):
    corners = points[hull_corners(points)]
    assert all(is_inside(point, corners) for point in points)
    a, b, c = corners, np.roll(corners, -1, axis=0), np.roll(corners, -2, axis=0)
    turns = (b - a)[:, 0] * (c - b)[:, 1] - (b - a)[:, 1] * (c - b)[:, 0]
    assert len(corners) == 2 or (turns > 0).all()


def test_a_point_inside_is_no_corner_and_the_hull_keeps_its_length():
    trace = at(n=4, x_3=0.0, y_3=1.0)
    assert trace.hull.shape == (4, 2)
    assert not (trace.hull == trace.values[3]).all(axis=1).any()
    assert (trace.hull[-1] == trace.hull[-2]).all()


def test_the_area_of_a_square_is_its_side_squared():
    trace = at(n=4, x_0=0.0, y_0=0.0, x_1=2.0, y_1=2.0, x_2=0.0, y_2=2.0, x_3=2.0, y_3=0.0)
    assert SECTION.facts(trace)["hull_area"] == pytest.approx(4.0)


@settings(deadline=None)
@given(states)
def test_every_cell_tells_arithmetic_that_gives_its_number(values):
    explainer = Explainer(SECTION, values)
    for name, array in arrays(SECTION.trace(values)).items():
        for index in np.ndindex(array.shape):
            assert explainer.evaluate(explainer.top(name, index)) == pytest.approx(array[index], rel=1e-12, abs=1e-12)


@settings(deadline=None)  # the first example pays for loading torch
@given(states)
def test_the_average_agrees_with_torch(values):
    torch = pytest.importorskip("torch")
    trace = SECTION.trace(values)
    query = torch.ones(1, 1, dtype=torch.float64)  # query · key is then the score itself
    key, value = torch.from_numpy(trace.scores)[:, None], torch.from_numpy(trace.values)
    output = torch.nn.functional.scaled_dot_product_attention(query, key, value, scale=values["d_k"] ** -0.5)
    weights = torch.softmax(key[:, 0] / values["d_k"] ** 0.5, dim=0)
    np.testing.assert_allclose(trace.weights, weights, rtol=0, atol=1e-12)
    np.testing.assert_allclose(trace.output, output[0], rtol=0, atol=1e-12)


@settings(deadline=None)
@given(st.lists(st.floats(-700, 700), min_size=1, max_size=9))
def test_softmax_agrees_with_torch(scores):
    torch = pytest.importorskip("torch")
    ours, theirs = softmax(np.array(scores)), torch.softmax(torch.tensor(scores, dtype=torch.float64), dim=-1)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)
