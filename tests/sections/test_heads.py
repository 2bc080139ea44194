"""Several heads: the source's tables, torch's module where the shapes allow it, and what must hold at every setting."""

import doctest
import tomllib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from content.explain import Explainer
from content.section import arrays, control_parameters
from content.sections.heads import compute as module
from content.sections.heads.compute import HEAD_1, HEAD_2, HEADS, INPUTS, SECTION, W_O, Head, choose_heads, multi_head
from content.sections.one_head.compute import OUTPUT

GOLDEN = tomllib.loads((Path(__file__).parents[1] / "golden" / "heads.toml").read_text())
BEGINS = 6

controls = control_parameters(SECTION.controls)
states = st.fixed_dictionaries(
    {
        "num_heads": st.integers(1, 5),
        "projections": st.sampled_from(["source", "drawn"]),
        "d_k": st.integers(1, 5),
        "d_v": st.integers(1, 5),
        "seed": st.integers(0, 99),
        "head": st.sampled_from([1, 2, 3, 4, 5]),
        "row": st.integers(0, 6),
        **{name: st.floats(*controls[name].bounds) for name in ("x0", "x1", "x2", "x3", "x4")},
    }
)


def at(**changes):
    return SECTION.trace(SECTION.defaults() | changes)


def assert_as_printed(ours, printed):
    """Equal to half a unit of the last of the three digits that the source prints."""
    printed = np.array(printed, dtype=float)
    unit = 10.0 ** (np.floor(np.log10(np.abs(printed))) - GOLDEN["digits"] + 1)
    assert np.shape(ours) == printed.shape
    assert (np.abs(ours - printed) <= unit / 2 + 1e-12).all()


def test_projections_are_the_ones_in_the_source():
    golden = GOLDEN["projections"]
    for ours, name in zip((*HEAD_2, W_O), ("w_q_2", "w_k_2", "w_v_2", "w_o")):
        np.testing.assert_array_equal(ours, golden[name])


def test_weights_of_begins_in_both_heads_are_table_17():
    assert_as_printed(at().row_weights, [GOLDEN["table_17"]["head_1"], GOLDEN["table_17"]["head_2"]])


def test_outputs_of_the_two_heads_are_tables_18_and_19_side_by_side():
    concat = at().concat
    assert_as_printed(concat[:, :3], GOLDEN["table_18"]["head_1"])
    assert_as_printed(concat[:, 3:], GOLDEN["table_19"]["head_2"])
    assert_as_printed(concat[BEGINS], GOLDEN["begins"]["concat"])


def test_output_is_table_20():
    assert_as_printed(at().output, GOLDEN["table_20"]["output"])
    assert_as_printed(at().output[BEGINS], GOLDEN["begins"]["output"])


def test_query_and_value_of_begins_in_head_2_are_the_ones_in_the_source():
    trace = at(head=2)
    assert_as_printed(trace.query[BEGINS], GOLDEN["begins"]["query_2"])
    assert_as_printed(trace.value[BEGINS], GOLDEN["begins"]["value_2"])


def test_shapes_are_table_21():
    assert at().shapes.tolist() == GOLDEN["table_21"]["shapes"]


def test_shapes_of_exercise_4():
    golden = GOLDEN["exercise_4"]
    for head in (1, 2, 3):
        trace = at(head=head, **golden["settings"])
        assert trace.shapes.tolist() == golden["shapes"]
        assert list(trace.w_o.shape) == golden["w_o_shape"]
        assert SECTION.facts(trace)["accepted"] == golden["accepted"]


def test_eight_heads_of_the_base_model_cost_what_one_wide_head_costs():
    facts = SECTION.facts(at())
    assert facts["base_head_width"] == GOLDEN["base_model"]["head_width"]
    assert facts["base_parameters"] == facts["single_parameters"] == 4 * 512**2


def test_first_head_is_the_one_of_the_page_before():
    np.testing.assert_array_equal(at(head=1).head_output, OUTPUT)


def test_doctests_run():
    assert doctest.testmod(module).failed == 0


@given(states)
def test_every_array_is_finite_and_every_row_of_weights_sums_to_one(values):
    trace = SECTION.trace(values)
    assert all(np.isfinite(array).all() for array in arrays(trace).values())
    assert all(np.isfinite(fact) for fact in SECTION.facts(trace).values())
    np.testing.assert_allclose(trace.weights.sum(axis=-1), 1.0, atol=1e-12)
    np.testing.assert_allclose(trace.row_weights.sum(axis=-1), 1.0, atol=1e-12)


@given(states)
def test_what_the_heads_add_sums_to_the_output_of_the_row(values):
    trace = SECTION.trace(values)
    np.testing.assert_allclose(trace.contributions.sum(axis=0), trace.output[values["row"]], rtol=0, atol=1e-12)


@given(states)
def test_shapes_on_show_are_the_shapes_of_the_arrays(values):
    trace = SECTION.trace(values)
    stages = (trace.inputs, trace.query, trace.value, trace.weights, trace.head_output, trace.concat, trace.w_o.T, trace.output)
    assert trace.shapes.tolist() == [list(stage.shape) for stage in stages]
    assert trace.key.shape == trace.query.shape and trace.scores.shape == trace.weights.shape
    assert trace.concat.shape[1] == trace.widths[:, 1].sum()


@given(states)
def test_parameters_are_the_entries_of_the_matrices(values):
    trace = SECTION.trace(values)
    head = int(trace.shown) - 1
    assert trace.parameters[head] == trace.w_q.size + trace.w_k.size + trace.w_v.size
    assert trace.parameters[-1] == trace.w_o.size


@given(states)
def test_the_head_on_show_is_the_chosen_one_or_the_last(values):
    trace = SECTION.trace(values)
    shown = int(trace.shown)
    assert shown == min(values["head"], values["num_heads"])
    np.testing.assert_array_equal(trace.row_weights[shown - 1], trace.weights[values["row"]])


@given(states.filter(lambda values: values["num_heads"] < 5))
def test_one_more_head_leaves_the_others_alone(values):
    before, after = SECTION.trace(values), SECTION.trace(values | {"num_heads": values["num_heads"] + 1})
    width = before.concat.shape[1]
    np.testing.assert_array_equal(after.row_weights[:-1], before.row_weights)
    np.testing.assert_array_equal(after.concat[:, :width], before.concat)
    np.testing.assert_array_equal(after.w_o[:, :width], before.w_o)


@given(states, st.sampled_from([1, 2, 3, 4, 5]))
def test_choosing_another_head_to_show_changes_no_output(values, head):
    before, after = SECTION.trace(values), SECTION.trace(values | {"head": head})
    np.testing.assert_array_equal(before.output, after.output)


@given(states)
def test_a_nudge_moves_the_input_of_its_row_alone(values):
    inputs = SECTION.trace(values).inputs
    others = [t for t in range(7) if t != values["row"]]
    np.testing.assert_array_equal(inputs[others], INPUTS[others])
    np.testing.assert_allclose(inputs[values["row"]] - INPUTS[values["row"]], [values[f"x{j}"] for j in range(5)], atol=1e-12)


def test_feature_3_moves_one_score_of_begins_in_head_1_and_all_of_them_in_head_2():
    before, after = (at(x3=x3, head=1).scores[BEGINS] for x3 in (0.0, 1.0))
    assert np.flatnonzero(before != after).tolist() == [BEGINS]
    before, after = (at(x3=x3, head=2).scores[BEGINS] for x3 in (0.0, 1.0))
    assert (before != after).all()


@given(st.integers(0, 6))
def test_exchanging_the_heads_with_their_columns_of_w_o_changes_no_output(row):
    ours = multi_head(INPUTS, HEADS, W_O)
    exchanged = multi_head(INPUTS, HEADS[::-1], np.concatenate([W_O[:, 3:], W_O[:, :3]], axis=1))
    np.testing.assert_allclose(exchanged.output[row], ours.output[row], rtol=0, atol=1e-12)


def test_a_causal_mask_reaches_every_head():
    mask = np.where(np.tri(7, dtype=bool), 0.0, -np.inf)
    step = multi_head(INPUTS, HEADS, W_O, mask=mask)
    assert all((one.weights[np.triu_indices(7, 1)] == 0).all() for one in step.attended)
    for one in step.attended:
        np.testing.assert_allclose(one.weights.sum(axis=-1), 1.0, atol=1e-12)


def test_w_o_that_does_not_fit_the_heads_is_refused():
    with pytest.raises(ValueError):
        multi_head(INPUTS, HEADS, W_O[:, :5])


@pytest.mark.parametrize("embed_dim", range(1, 9))
@pytest.mark.parametrize("num_heads", range(1, 9))
def test_torch_accepts_exactly_where_nothing_is_left_over(embed_dim, num_heads):
    torch = pytest.importorskip("torch")
    if at().remainder[embed_dim - 1, num_heads - 1] == 0:
        torch.nn.MultiheadAttention(embed_dim, num_heads)
    else:
        with pytest.raises(AssertionError, match="embed_dim must be divisible by num_heads"):
            torch.nn.MultiheadAttention(embed_dim, num_heads)


def library_module(heads, w_o):
    """torch.nn.MultiheadAttention with our projections: the rows of all heads stacked, for query, key and value in turn."""
    import torch

    attention = torch.nn.MultiheadAttention(len(w_o), len(heads), bias=False, batch_first=True, dtype=torch.float64)
    stacked = np.concatenate([head[part] for part in range(3) for head in heads])
    with torch.no_grad():
        attention.in_proj_weight.copy_(torch.from_numpy(stacked))
        attention.out_proj.weight.copy_(torch.from_numpy(w_o))
    return attention


@settings(deadline=None)  # the first example pays for loading torch
@given(states, st.sampled_from([1, 5]))
def test_lab_agrees_with_torch_module_at_both_shapes_it_accepts(values, num_heads):
    torch = pytest.importorskip("torch")
    width = 5 // num_heads
    values |= {"num_heads": num_heads, "projections": "drawn", "d_k": width, "d_v": width}
    trace = SECTION.trace(values)
    assert SECTION.facts(trace)["accepted"] == 1
    inputs = torch.from_numpy(trace.inputs)
    heads, w_o = choose_heads("drawn", num_heads, width, width, values["seed"])
    output, weights = library_module(heads, w_o)(inputs, inputs, inputs, average_attn_weights=False)
    np.testing.assert_allclose(trace.output, output.detach(), rtol=0, atol=1e-12)
    np.testing.assert_allclose(trace.row_weights, weights.detach()[:, values["row"]], rtol=0, atol=1e-12)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(1, 9), st.integers(1, 4), st.integers(1, 4))
def test_heads_agree_with_torch_module_at_any_width_that_divides(seed, tokens, num_heads, width):
    torch = pytest.importorskip("torch")
    rng, model = np.random.default_rng(seed), num_heads * width
    heads = [Head(*rng.normal(size=(3, width, model))) for _ in range(num_heads)]
    w_o, inputs = rng.normal(size=(model, model)), rng.normal(size=(tokens, model))
    step, tensor = multi_head(inputs, heads, w_o), torch.from_numpy(inputs)
    output, weights = library_module(heads, w_o)(tensor, tensor, tensor, average_attn_weights=False)
    np.testing.assert_allclose(step.output, output.detach(), rtol=0, atol=1e-12 * max(1.0, np.abs(step.output).max()))
    np.testing.assert_allclose(np.stack([one.weights for one in step.attended]), weights.detach(), rtol=0, atol=1e-12)


@settings(deadline=None)
@given(states)
def test_heads_of_any_widths_agree_with_explicit_linear_maps_in_torch(values):
    torch = pytest.importorskip("torch")
    trace = SECTION.trace(values)
    heads, w_o = choose_heads(*(values[name] for name in ("projections", "num_heads", "d_k", "d_v", "seed")))
    inputs = torch.from_numpy(trace.inputs)

    def linear(weight):
        layer = torch.nn.Linear(weight.shape[1], weight.shape[0], bias=False, dtype=torch.float64)
        layer.weight.data = torch.from_numpy(weight)
        return layer

    outputs = [
        torch.nn.functional.scaled_dot_product_attention(*(linear(weight)(inputs) for weight in head)) for head in heads
    ]
    concat = torch.cat(outputs, dim=-1)
    np.testing.assert_allclose(trace.concat, concat.detach(), rtol=0, atol=1e-12)
    np.testing.assert_allclose(trace.output, linear(w_o)(concat).detach(), rtol=0, atol=1e-12)


CELLS = [("query", (6, 0)), ("scores", (6, 2)), ("weights", (0, 1)), ("output", (6, 4)), ("contributions", (0, 2))]


@settings(max_examples=20)
@given(states, st.sampled_from(CELLS))
def test_arithmetic_on_show_gives_the_number_on_show(values, cell):
    name, index = cell
    explainer = Explainer(SECTION, values)
    expression = explainer.top(name, index)
    assert explainer.evaluate(expression) == pytest.approx(expression.value, rel=1e-12, abs=1e-12)
    assert expression.value == arrays(SECTION.trace(values))[name][index]


def test_first_head_is_shared_with_the_page_before_and_not_copied():
    from content.sections.one_head import compute as one_head

    assert HEAD_1.w_q is one_head.W_Q and HEAD_1.w_k is one_head.W_K and HEAD_1.w_v is one_head.W_V


def test_a_fixed_projection_is_told_as_the_entry_that_stands_on_the_page():
    explainer = Explainer(SECTION, SECTION.defaults())
    line = explainer.line(explainer.top("query", [6, 2]))
    entries = [token["index"] for token in line if token.get("array") == "w_q"]
    assert entries == [[2, feature] for feature in range(5)]
    back = explainer.line(explainer.top("output", [6, 4]))
    assert [token["index"] for token in back if token.get("array") == "w_o"] == [[4, column] for column in range(6)]


@given(states)
def test_each_column_of_the_joined_outputs_and_of_w_o_names_its_head(values):
    trace = SECTION.trace(values)
    assert np.bincount(trace.owner).tolist() == trace.widths[:, 1].tolist()
    assert (np.diff(trace.owner) >= 0).all() and trace.owner.size == trace.concat.shape[1] == trace.w_o.shape[1]
    assert trace.counted.tolist() == [*range(len(trace.widths)), module.MOST]
