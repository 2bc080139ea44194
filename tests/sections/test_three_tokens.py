"""Three tokens: the source's numbers, torch's numbers, and what must hold at every setting."""

import doctest
import tomllib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from content.section import Undefined, arrays, control_parameters
from content.sections.three_tokens import compute as module
from content.sections.three_tokens.compute import SECTION, attention, entropy

GOLDEN = tomllib.loads((Path(__file__).parents[1] / "golden" / "three_tokens.toml").read_text())
ROUNDING = 0.5 * 10.0 ** -GOLDEN["decimals"] + 1e-12
TOKENS, COORDINATES = range(3), range(2)

numbers = {
    name: st.floats(*parameter.bounds)
    for name, parameter in control_parameters(SECTION.controls).items()
    if hasattr(parameter, "bounds")
}
states = st.fixed_dictionaries(numbers | {"token": st.sampled_from(TOKENS), "scaled": st.sampled_from([0, 1])})


def at(**changes):
    return SECTION.trace(SECTION.defaults() | changes)


@pytest.mark.parametrize("name", GOLDEN["default"])
def test_default_array_is_the_one_in_the_source(name):
    np.testing.assert_allclose(getattr(at(), name), GOLDEN["default"][name], atol=ROUNDING)


def test_greatest_entropy_is_the_one_in_the_source():
    assert SECTION.facts(at())["max_entropy"] == pytest.approx(GOLDEN["facts"]["max_entropy"], abs=ROUNDING)


def test_raising_milks_first_coordinate_concentrates_its_row_as_in_the_source():
    golden = GOLDEN["milk_first_coordinate_3"]
    trace = at(**golden["settings"])
    assert trace.weights[2, 2] == pytest.approx(golden["milk_weight"], abs=ROUNDING)
    assert trace.entropy[2] == pytest.approx(golden["milk_entropy"], abs=ROUNDING)


def test_unscaled_row_of_cat_is_the_one_in_the_source():
    golden = GOLDEN["unscaled"]
    np.testing.assert_allclose(at(**golden["settings"]).weights[0], golden["cat_weights"], atol=ROUNDING)


def test_doctests_run():
    assert doctest.testmod(module).failed == 0


@given(states)
def test_every_array_is_finite_and_every_row_sums_to_one(values):
    trace = SECTION.trace(values)
    assert all(np.isfinite(array).all() for array in arrays(trace).values())
    assert all(np.isfinite(fact) for fact in SECTION.facts(trace).values())
    np.testing.assert_allclose(trace.weights.sum(axis=-1), 1.0, atol=1e-12)


@given(states)
def test_output_lies_between_the_smallest_and_the_largest_value(values):
    trace = SECTION.trace(values)
    assert (trace.output >= trace.value.min(axis=0) - 1e-12).all()
    assert (trace.output <= trace.value.max(axis=0) + 1e-12).all()


@given(states)
def test_entropy_stays_between_zero_and_its_maximum(values):
    trace = SECTION.trace(values)
    assert (trace.entropy >= -1e-12).all()
    assert (trace.entropy <= SECTION.facts(trace)["max_entropy"] + 1e-12).all()


@given(states)
def test_scores_are_symmetric_because_query_and_key_are_one_vector(values):
    scores = SECTION.trace(values).scores
    np.testing.assert_array_equal(scores, scores.T)


@given(states, st.sampled_from(["v00", "v01", "v10", "v11", "v20", "v21"]))
def test_values_move_the_output_but_never_the_weights(values, name):
    before, after = SECTION.trace(values), SECTION.trace(values | {name: 1.5})
    np.testing.assert_array_equal(before.weights, after.weights)
    np.testing.assert_array_equal(before.entropy, after.entropy)


@given(states, st.sampled_from(TOKENS))
def test_the_chosen_token_changes_no_number(values, token):
    before, after = SECTION.trace(values), SECTION.trace(values | {"token": token})
    assert all(np.array_equal(a, b) for a, b in zip(before, after))


@given(states, st.permutations(list(TOKENS)))
def test_exchanging_tokens_exchanges_the_rows_and_nothing_else(values, order):
    moved = {f"{kind}{row}{c}": values[f"{kind}{old}{c}"] for kind in "qv" for row, old in enumerate(order) for c in COORDINATES}
    before, after = SECTION.trace(values), SECTION.trace(values | moved)
    np.testing.assert_allclose(after.output, before.output[order], atol=1e-12)
    np.testing.assert_allclose(after.weights, before.weights[np.ix_(order, order)], atol=1e-12)


def test_equal_queries_give_uniform_weights_and_the_greatest_entropy():
    trace = at(q00=1.0, q01=1.0, q10=1.0, q11=1.0)
    np.testing.assert_allclose(trace.weights, 1 / 3, atol=1e-15)
    np.testing.assert_allclose(trace.entropy, np.log2(3), atol=1e-14)
    np.testing.assert_allclose(trace.output, np.tile(trace.value.mean(axis=0), (3, 1)), atol=1e-14)


def test_a_row_without_a_visible_key_is_undefined():
    mask = np.array([[0.0, 0.0], [-np.inf, -np.inf]])
    with pytest.raises(Undefined) as undefined:
        attention(np.eye(2), np.eye(2), np.eye(2), mask=mask)
    assert undefined.value.reason == "all_masked"


def test_a_masked_key_gets_exactly_zero_and_the_scores_stay_unmasked():
    step = attention(np.eye(2), np.eye(2), np.eye(2), mask=np.array([[0.0, -np.inf], [0.0, 0.0]]))
    assert step.weights[0].tolist() == [1.0, 0.0]
    assert np.isfinite(step.scores).all()


def test_a_share_of_zero_adds_nothing_to_the_entropy():
    assert entropy(np.array([1.0, 0.0])) == 0.0


@settings(deadline=None)  # the first example pays for loading torch
@given(states)
def test_attention_agrees_with_torch(values):
    torch = pytest.importorskip("torch")
    trace = SECTION.trace(values)
    query, value = torch.from_numpy(trace.query), torch.from_numpy(trace.value)
    scale = None if values["scaled"] else 1.0
    output = torch.nn.functional.scaled_dot_product_attention(query, query, value, scale=scale)
    scores = query @ query.T / (2**0.5 if values["scaled"] else 1.0)
    weights = torch.softmax(scores, dim=-1)
    bits = torch.distributions.Categorical(probs=weights).entropy() / np.log(2)
    np.testing.assert_allclose(trace.scores, scores, rtol=0, atol=1e-12)
    np.testing.assert_allclose(trace.weights, weights, rtol=0, atol=1e-12)
    np.testing.assert_allclose(trace.output, output, rtol=0, atol=1e-12)
    np.testing.assert_allclose(trace.entropy, bits, rtol=0, atol=1e-12)
