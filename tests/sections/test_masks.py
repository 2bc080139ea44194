"""Masks: the sources' numbers, torch's numbers, and what must hold for every rule at every setting."""

import doctest
import re
import tomllib
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from content import toc
from content.explain import Explainer
from content.section import Undefined, arrays, control_parameters
from content.sections.masks import compute as module
from content.sections.masks.compute import SECTION, STORED, additive_mask, causal_mask, padding_visibility, visibility
from content.sections.three_tokens.compute import attention

GOLDEN = tomllib.loads((Path(__file__).parents[1] / "golden" / "masks.toml").read_text())
RULES = ("full", "masked", "zeroed", "rescaled")
LENGTH = {"three": 3, "eight": 8, "journey": 7}

drawn = {
    name: st.floats(*parameter.bounds)
    for name, parameter in control_parameters(SECTION.controls).items()
    if re.fullmatch("[sx][012]", name)
}
states = st.fixed_dictionaries(
    drawn
    | {
        "example": st.sampled_from(list(LENGTH)),
        "kind": st.sampled_from(["none", "causal", "padding", "custom"]),
        "visible": st.text("01", min_size=3, max_size=8),
        "query": st.integers(0, 7),
    }
)


def at(**changes):
    return SECTION.trace(SECTION.defaults() | changes)


def traced(values):
    """The trace at these controls, where there is one."""
    try:
        return SECTION.trace(values)
    except Undefined as undefined:
        assert undefined.reason == "all_masked"
        assume(False)


def three_digits(numbers):
    return [float(f"{number:.3g}") for number in numbers]


def fractions(texts):
    return [float(Fraction(text)) for text in texts]


# The sources' numbers


@pytest.mark.parametrize("kind", ["causal", "padding", "custom"])
def test_three_keys_give_the_fractions_of_the_source_whichever_rule_hides_the_third(kind):
    golden, trace = GOLDEN["three"], at(kind=kind)
    np.testing.assert_allclose(trace.weights_full, fractions(golden["full"]), atol=1e-15)
    np.testing.assert_allclose(trace.weights_masked, fractions(golden["masked"]), atol=1e-15)
    np.testing.assert_allclose(trace.weights_zeroed, fractions(golden["zeroed"]), atol=1e-15)
    np.testing.assert_allclose(trace.row_sums, fractions(golden["row_sums"]), atol=1e-15)
    for rule, output in golden["output"].items():
        assert getattr(trace, f"output_{rule}").item() == pytest.approx(float(Fraction(output)), abs=1e-15)


def test_changing_a_value_tells_the_two_outputs_of_zero_apart():
    trace = at(x0=3.0)
    for rule, output in GOLDEN["three"]["output_with_first_value_3"].items():
        assert getattr(trace, f"output_{rule}").item() == pytest.approx(float(Fraction(output)), abs=1e-15)


def test_eight_keys_round_to_both_rows_of_the_source():
    golden = GOLDEN["eight"]
    trace = at(**golden["settings"])
    assert trace.weights_full.round(golden["decimals"]).tolist() == golden["full"]
    assert trace.weights_masked.round(golden["decimals"]).tolist() == golden["masked"]
    assert (trace.weights_masked[4:] == 0.0).all()


def test_rounded_weights_alone_would_miss_the_masked_row_of_the_source():
    visible = np.array(GOLDEN["eight"]["full"][:4])
    assert (visible / visible.sum()).round(2).tolist() != GOLDEN["eight"]["masked"][:4]


def test_row_of_journey_is_the_one_in_the_source():
    golden = GOLDEN["journey"]
    trace = at(**golden["settings"])
    assert three_digits(trace.weights_full) == golden["full"]
    assert three_digits(trace.weights_masked) == golden["masked"]


@pytest.mark.parametrize("example", LENGTH)
def test_causal_mask_leaves_the_last_row_unchanged(example):
    trace = at(example=example, kind="causal", query=7)
    np.testing.assert_array_equal(trace.weights_masked, trace.weights_full)
    np.testing.assert_allclose(trace.weights[-1], trace.weights_full, atol=1e-15)


# The three rules


@given(states)
def test_every_array_is_finite_over_all_controls(values):
    trace = traced(values)
    assert all(np.isfinite(array).all() for array in arrays(trace).values())
    assert all(np.isfinite(fact) for fact in SECTION.facts(trace).values())


@given(states)
def test_masked_and_rescaled_rows_sum_to_one(values):
    trace = traced(values)
    np.testing.assert_allclose(trace.row_sums[[0, 1, 3]], 1.0, atol=1e-12)
    np.testing.assert_allclose(trace.weights.sum(axis=-1), 1.0, atol=1e-12)
    assert 0.0 < trace.row_sums[2] <= 1.0 + 1e-12


@given(states)
def test_hidden_keys_get_exactly_zero_and_visible_keys_more(values):
    trace = traced(values)
    for rule in RULES[1:]:
        np.testing.assert_array_equal(getattr(trace, f"weights_{rule}") > 0, trace.visible == 1)
    np.testing.assert_array_equal(trace.weights > 0, trace.visibility == 1)


@given(states)
def test_rescaling_gives_the_masked_row(values):
    trace = traced(values)
    np.testing.assert_allclose(trace.weights_rescaled, trace.weights_masked, rtol=0, atol=1e-12)
    np.testing.assert_allclose(trace.output_rescaled, trace.output_masked, rtol=0, atol=1e-12)


@given(states)
def test_zeroed_output_is_the_row_sum_times_the_masked_output(values):
    trace = traced(values)
    np.testing.assert_allclose(trace.output_zeroed, trace.row_sums[2] * trace.output_masked, rtol=0, atol=1e-12)


@given(states)
def test_chosen_row_is_the_row_of_the_square(values):
    trace = traced(values)
    np.testing.assert_array_equal(trace.visible, trace.visibility[trace.position])
    np.testing.assert_allclose(trace.weights_masked, trace.weights[trace.position], rtol=0, atol=1e-15)


@given(st.floats(-5, 5))
def test_a_hidden_score_moves_the_zeroed_row_and_never_the_masked_one(score):
    before, after = at(), at(s2=score)
    np.testing.assert_allclose(before.weights_masked, after.weights_masked, rtol=0, atol=1e-15)
    assert (after.row_sums[2] > before.row_sums[2]) == (score < SECTION.defaults()["s2"])


def test_a_score_of_zero_hides_nothing():
    assert at(kind="none", s2=0.0).weights_full[2] == pytest.approx(1 / 4)


# Visibility


@given(st.integers(1, 12))
def test_causal_mask_is_zero_up_to_the_query_and_minus_infinity_after_it(length):
    mask = causal_mask(length)
    rows, columns = np.indices(mask.shape)
    np.testing.assert_array_equal(mask, np.where(columns <= rows, 0.0, -np.inf))


def test_padding_hides_whole_columns_and_custom_bits_one_row():
    assert visibility("padding", 3, 1, "110").tolist() == [[True, True, False]] * 3
    assert visibility("custom", 3, 1, "110").tolist() == [[True] * 3, [True, True, False], [True] * 3]
    np.testing.assert_array_equal(padding_visibility([1, 0]), [[True, False], [True, False]])


def test_bits_too_many_are_cut_and_missing_bits_are_visible():
    assert visibility("custom", 3, 0, "01100000")[0].tolist() == [False, True, True]
    assert visibility("custom", 5, 0, "010")[0].tolist() == [False, True, False, True, True]


@pytest.mark.parametrize("example", LENGTH)
def test_query_beyond_the_example_is_its_last_one(example):
    assert at(example=example, query=7).position == LENGTH[example] - 1


def test_stored_examples_have_a_value_for_every_key():
    for scores, value in STORED.values():
        assert scores.shape[-1] == len(value)


@pytest.mark.parametrize("kind", ["padding", "custom"])
def test_a_row_with_every_key_hidden_is_undefined(kind):
    with pytest.raises(Undefined) as undefined:
        at(kind=kind, visible="000")
    assert undefined.value.reason == "all_masked"


def test_left_padding_under_a_causal_rule_leaves_the_first_query_nothing():
    seen = padding_visibility([0, 1, 1]) & (causal_mask(3) == 0)
    with pytest.raises(Undefined):
        attention(np.eye(3), np.eye(3), np.eye(3), mask=additive_mask(seen))


# The code explains itself


@pytest.mark.parametrize("example", LENGTH)
def test_every_cell_tells_arithmetic_that_gives_its_number(example):
    explainer = Explainer(SECTION, SECTION.defaults() | {"example": example, "query": 3})
    for name, array in arrays(SECTION.trace(SECTION.defaults() | {"example": example, "query": 3})).items():
        for index in np.ndindex(array.shape):
            expression = explainer.top(name, index)
            assert explainer.evaluate(expression) == pytest.approx(array[index], abs=1e-15)
            assert expression.form is not None or name in ("scores", "value", "visible", "visibility", "position")


def test_doctests_run():
    assert doctest.testmod(module).failed == 0


# torch


@settings(deadline=None)  # the first example pays for loading torch
@given(states)
def test_every_rule_agrees_with_torch(values):
    torch = pytest.importorskip("torch")
    trace = traced(values)
    scores, value, visible = map(torch.tensor, (trace.scores, trace.value, trace.visible == 1))
    full = torch.softmax(scores, dim=-1)
    zeroed = full * visible
    rows = {
        "full": full,
        "masked": torch.softmax(scores.masked_fill(~visible, -torch.inf), dim=-1),
        "zeroed": zeroed,
        "rescaled": zeroed / zeroed.sum(),
    }
    for rule, row in rows.items():
        np.testing.assert_allclose(getattr(trace, f"weights_{rule}"), row, rtol=0, atol=1e-12)
        np.testing.assert_allclose(getattr(trace, f"output_{rule}"), row @ value, rtol=0, atol=1e-12)
    np.testing.assert_allclose(trace.row_sums, [row.sum() for row in rows.values()], rtol=0, atol=1e-12)


def test_masked_attention_agrees_with_torch_whose_true_means_visible():
    torch = pytest.importorskip("torch")
    generator = np.random.default_rng(0)
    query, key, value = generator.normal(size=(3, 5, 4))
    ours = attention(query, key, value, mask=causal_mask(5)).output
    tensors = [torch.from_numpy(array) for array in (query, key, value)]
    visible = torch.ones(5, 5, dtype=torch.bool).tril()
    theirs = torch.nn.functional.scaled_dot_product_attention(*tensors, attn_mask=visible)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)


def test_true_excludes_a_key_in_torchs_multihead_attention():
    torch = pytest.importorskip("torch")
    layer, inputs = torch.nn.MultiheadAttention(4, 1, batch_first=True), torch.ones(1, 3, 4)
    _, weights = layer(inputs, inputs, inputs, attn_mask=torch.ones(3, 3, dtype=torch.bool).triu(1))
    assert (weights[0].triu(1) == 0).all()


def test_torch_answers_nan_to_a_hidden_row_and_even_weights_to_a_large_negative_number():
    torch = pytest.importorskip("torch")
    scores = torch.tensor([0.0, 2.0, 3.0])
    assert torch.softmax(scores - torch.inf, dim=-1).isnan().all()
    np.testing.assert_allclose(torch.softmax(scores - 1e9, dim=-1), 1 / 3, rtol=1e-6)


@pytest.mark.parametrize("library", ["numpy", "torch"])
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"kind": "none", "s0": -1.5, "x2": 0.25},
        {"kind": "padding", "query": 7},
        {"example": "eight", "query": 3},
        {"example": "eight", "kind": "custom", "visible": "0101", "query": 5},
        {"example": "journey", "kind": "padding", "visible": "01111100", "query": 7},
    ],
)
def test_code_on_the_page_computes_the_trace(library, changes):
    pytest.importorskip(library)
    values = SECTION.defaults() | changes
    text = (toc.FOLDER / "masks" / "en.md").read_text(encoding="utf-8")
    code = re.search(rf"```{library}\n(.*?)```", text, re.S)[1]
    computed = {"print": lambda *_, **__: None}
    exec(re.sub(r"\{\{(\w+)\}\}", lambda match: str(values[match[1]]), code), computed)
    for name, array in arrays(SECTION.trace(values)).items():
        np.testing.assert_allclose(np.asarray(computed[name]), array, rtol=0, atol=1e-12, err_msg=name)
