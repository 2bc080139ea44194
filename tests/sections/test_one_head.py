"""One head: the source's tables by number, torch's numbers, and what must hold at every setting."""

import doctest
import tomllib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from content.explain import Explainer
from content.section import arrays, control_parameters
from content.sections.one_head import compute as module
from content.sections.one_head.compute import INPUTS, OUTPUT, SCORES, SECTION, WEIGHTS, K, Q, V, attention, project
from content.sections.tokens.compute import SECTION as TOKENS

GOLDEN = tomllib.loads((Path(__file__).parents[1] / "golden" / "one_head.toml").read_text())
ROWS = range(7)
PARAMETERS = control_parameters(SECTION.controls)

numbers = {name: st.floats(*p.bounds) for name, p in PARAMETERS.items() if hasattr(p, "bounds")}
states = st.fixed_dictionaries(numbers | {"row": st.sampled_from(ROWS), "matrix": st.sampled_from("qkv"), "causal": st.sampled_from([0, 1])})


def at(**changes):
    return SECTION.trace(SECTION.defaults() | changes)


def matrix(name, factor):
    """Settings of all 15 entries of a projection, the source's times `factor`."""
    return {n: p.default * factor for n, p in PARAMETERS.items() if n.startswith(f"w{name}")}


def printed(array):
    """Numbers rounded to the significant digits that the source prints."""
    return np.vectorize(lambda x: float(f"{x:.{GOLDEN['digits']}g}"))(array)


@pytest.mark.parametrize("name", GOLDEN["projections"])
def test_projections_are_those_of_the_source(name):
    np.testing.assert_array_equal(getattr(at(), name), GOLDEN["projections"][name])


@pytest.mark.parametrize("name", GOLDEN["default"])
def test_default_array_prints_as_in_tables_10_to_15(name):
    np.testing.assert_array_equal(printed(getattr(at(), name)), GOLDEN["default"][name])


@pytest.mark.parametrize("name", GOLDEN["begins"])
def test_row_of_begins_prints_as_in_table_13(name):
    np.testing.assert_array_equal(printed(getattr(at(), name)[6]), GOLDEN["begins"][name])


def test_row_of_journey_prints_as_in_table_16_free_and_causal():
    np.testing.assert_array_equal(printed(at().weights[1]), GOLDEN["journey"]["weights"])
    causal = SECTION.trace({**SECTION.defaults(), "causal": 1})
    np.testing.assert_array_equal(printed(causal.weights[1]), GOLDEN["journey"]["causal"])
    np.testing.assert_array_equal(causal.weights[6], WEIGHTS[6])


def test_the_input_is_the_sum_that_the_page_about_tokens_shows():
    np.testing.assert_array_equal(INPUTS, TOKENS.trace(TOKENS.defaults()).inputs)


def test_constants_for_later_sections_are_the_default_trace():
    trace = at()
    for name, constant in dict(query=Q, key=K, value=V, scores=SCORES, weights=WEIGHTS, output=OUTPUT).items():
        np.testing.assert_array_equal(getattr(trace, name), constant)


def test_doctests_run():
    assert doctest.testmod(module).failed == 0


@given(states)
def test_every_array_is_finite_and_every_row_of_weights_sums_to_one(values):
    trace = SECTION.trace(values)
    assert all(np.isfinite(array).all() for array in arrays(trace).values())
    assert all(np.isfinite(fact) for fact in SECTION.facts(trace).values())
    np.testing.assert_allclose(trace.weights.sum(axis=-1), 1.0, atol=1e-12)


@pytest.mark.parametrize("edge", [-2.0, 2.0])
@pytest.mark.parametrize("temperature", [0.1, 5.0])
def test_every_array_is_finite_with_all_entries_at_an_edge(edge, temperature):
    extremes = {name: edge for name in PARAMETERS if name.startswith("w")}
    assert all(np.isfinite(array).all() for array in arrays(at(**extremes, temperature=temperature)).values())


@given(states)
def test_contributions_add_up_to_the_output_of_the_chosen_row(values):
    trace = SECTION.trace(values)
    np.testing.assert_allclose(trace.contributions.sum(axis=0), trace.output[values["row"]], atol=1e-12)
    facts = SECTION.facts(trace)
    assert facts["positive"] + facts["negative"] == pytest.approx(facts["total"], abs=1e-12)
    assert facts["positive"] >= 0 >= facts["negative"]


@given(states)
def test_dots_are_the_chosen_scores_before_the_division(values):
    trace = SECTION.trace(values)
    np.testing.assert_allclose(trace.dots, trace.scores[values["row"]] * np.sqrt(3), atol=1e-11)


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
def test_temperature_moves_weights_but_never_scores(values):
    cold, warm = SECTION.trace(values | {"temperature": 0.2}), SECTION.trace(values | {"temperature": 4.0})
    np.testing.assert_array_equal(cold.scores, warm.scores)
    assert (cold.entropy <= warm.entropy + 1e-9).all()


@given(states, st.sampled_from(ROWS), st.sampled_from("qkv"))
def test_the_row_and_the_projection_on_show_change_no_number_of_the_head(values, row, matrix):
    before, after = SECTION.trace(values), SECTION.trace(values | {"row": row, "matrix": matrix})
    for name in ("query", "key", "value", "scores", "weights", "output", "entropy"):
        np.testing.assert_array_equal(getattr(before, name), getattr(after, name))


@given(states, st.integers(0, 2), st.integers(0, 4))
def test_value_projection_moves_the_output_but_never_the_weights(values, feature, source):
    before, after = SECTION.trace(values), SECTION.trace(values | {f"wv{feature}{source}": 1.7})
    np.testing.assert_array_equal(before.weights, after.weights)
    others = [j for j in range(3) if j != feature]
    np.testing.assert_array_equal(before.output[:, others], after.output[:, others])


def test_zero_queries_give_equal_weights_and_the_mean_of_the_values():
    trace = at(**matrix("q", 0.0))
    np.testing.assert_allclose(trace.weights, 1 / 7, atol=1e-15)
    np.testing.assert_allclose(trace.output, np.tile(trace.value.mean(axis=0), (7, 1)), atol=1e-15)


def test_doubling_the_keys_is_halving_the_temperature():
    np.testing.assert_allclose(at(**matrix("k", 2.0)).weights, at(temperature=0.5).weights, rtol=0, atol=1e-15)


@pytest.mark.parametrize("changes", [{}, {"row": 0, "temperature": 0.1, "wv00": -2.0, "wk24": 1.3}, matrix("q", 0.0)])
def test_every_cell_explains_itself(changes):
    values = SECTION.defaults() | changes
    explainer = Explainer(SECTION, values)
    for name, array in arrays(SECTION.trace(values)).items():
        for index in np.ndindex(array.shape):
            expression = explainer.top(name, index)
            assert explainer.evaluate(expression) == pytest.approx(array[index], abs=1e-12)
            assert explainer.line(expression)


@settings(deadline=None, max_examples=50)  # the first example pays for loading torch
@given(states)
def test_the_head_agrees_with_torch(values):
    torch = pytest.importorskip("torch")
    linear = torch.nn.functional.linear
    trace = SECTION.trace(values)
    inputs = torch.from_numpy(trace.inputs)
    query, key, value = (linear(inputs, torch.from_numpy(w)) for w in (trace.w_q, trace.w_k, trace.w_v))
    scale = 1 / (3**0.5 * values["temperature"])
    causal = bool(values["causal"])
    output = torch.nn.functional.scaled_dot_product_attention(query, key, value, scale=scale, is_causal=causal)
    dots = (query @ key.T * scale).masked_fill(torch.ones(7, 7).tril() == 0, -torch.inf) if causal else query @ key.T * scale
    np.testing.assert_allclose(trace.query, query, rtol=0, atol=1e-12)
    np.testing.assert_allclose(trace.key, key, rtol=0, atol=1e-12)
    np.testing.assert_allclose(trace.value, value, rtol=0, atol=1e-12)
    np.testing.assert_allclose(trace.scores, query @ key.T / 3**0.5, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(trace.weights, torch.softmax(dots, dim=-1), rtol=0, atol=1e-11)
    np.testing.assert_allclose(trace.output, output, rtol=0, atol=1e-10)


def test_the_default_head_agrees_with_torch_to_twelve_digits():
    torch = pytest.importorskip("torch")
    trace = at()
    query, key, value = map(torch.from_numpy, project(INPUTS, trace.w_q, trace.w_k, trace.w_v))
    output = torch.nn.functional.scaled_dot_product_attention(query, key, value)
    np.testing.assert_allclose(trace.output, output, rtol=0, atol=1e-12)
    np.testing.assert_allclose(trace.weights, torch.softmax(query @ key.T / 3**0.5, dim=-1), rtol=0, atol=1e-12)
