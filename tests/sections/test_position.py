"""Position codes: the sources' numbers, torch's numbers, and what must hold at every setting."""

import doctest
import tomllib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from content.explain import Explainer
from content.section import arrays, control_parameters
from content.sections.position import compute as module
from content.sections.position.compute import SECTION, SWAPPED, frequencies
from content.sections.tokens.compute import sinusoidal

GOLDEN = tomllib.loads((Path(__file__).parents[1] / "golden" / "position.toml").read_text())
PARAMETERS = control_parameters(SECTION.controls)
RUNS = ("plain", "plain_swapped", "position", "position_swapped", "carried")


def drawn(name):
    parameter = PARAMETERS[name]
    if hasattr(parameter, "objects"):
        return st.sampled_from(parameter.objects)
    return (st.integers if name != "base" else st.floats)(*parameter.bounds)


states = st.fixed_dictionaries({name: drawn(name) for name in PARAMETERS})


def at(**changes):
    return SECTION.trace(SECTION.defaults() | changes)


def facts_at(**changes):
    return SECTION.facts(at(**changes))


def test_doctests_run():
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize("name, decimals", [("dot", 3), ("similarity", 2)])
def test_default_curves_are_those_of_the_lecture(name, decimals):
    for distance, golden in GOLDEN["lecture"][name].items():
        q = 10 + int(distance.removeprefix("distance_"))
        assert getattr(at(), name)[q] == pytest.approx(golden, abs=0.5 * 10.0**-decimals + 1e-12)


def test_rows_of_width_five_are_those_of_the_chapter():
    golden = GOLDEN["chapter"]
    encoding = at(**golden["settings"]).encoding
    np.testing.assert_array_equal(encoding[0], golden["row_0"])
    np.testing.assert_allclose(encoding[3], golden["row_3"], rtol=5e-3, atol=5e-6)


def test_with_eight_features_a_far_place_looks_nearer_than_the_neighbour():
    golden = GOLDEN["small_width"]
    similarity = at(**golden["settings"]).similarity
    assert similarity[11] == pytest.approx(golden["neighbour"], abs=1e-8)
    assert similarity[73] == pytest.approx(golden["sixty_three_away"], abs=1e-8)


@settings(deadline=None)
@given(states)
def test_every_array_is_finite_and_has_the_size_it_promises(values):
    trace = SECTION.trace(values)
    facts = SECTION.facts(trace)
    t, d, pairs = values["t"], values["d"], values["d"] // 2
    assert all(np.isfinite(array).all() for array in arrays(trace).values())
    assert all(np.isfinite(fact) for fact in facts.values())
    assert trace.encoding.shape == (t, d) and trace.rotation.shape == (pairs, 4) and trace.rotated.shape == (pairs, 2)
    assert trace.dot.shape == trace.similarity.shape == trace.offset_dot.shape == (t,)
    assert facts["chosen"] == min(values["position"], t - 1)


@settings(deadline=None)
@given(states)
def test_the_swap_check_is_done_in_the_precision_it_names(values):
    trace = SECTION.trace(values)
    for run in RUNS:
        assert {getattr(trace, f"{part}_{run}").dtype.name for part in ("value", "weights", "output")} == {values["dtype"]}
    for difference in (trace.difference_plain, trace.difference_position, trace.difference_carried):
        assert difference.dtype.name == values["dtype"]


@settings(deadline=None)
@given(states)
def test_rows_of_weights_sum_to_one(values):
    trace = SECTION.trace(values)
    for run in RUNS:
        np.testing.assert_allclose(getattr(trace, f"weights_{run}").sum(axis=-1), 1.0, atol=1e-6)


@settings(deadline=None)
@given(states)
def test_similarity_of_the_chosen_position_to_itself_is_one_unless_there_is_no_code(values):
    trace = SECTION.trace(values)
    expected = 0.0 if values["kind"] == "none" else 1.0
    assert trace.similarity[trace.chosen] == pytest.approx(expected, abs=1e-12)


@settings(deadline=None)
@given(states)
def test_each_block_is_a_rotation_that_carries_p_to_p_plus_k(values):
    values["kind"] = "sinusoidal"
    trace = SECTION.trace(values)
    blocks = trace.rotation.reshape(-1, 2, 2)
    np.testing.assert_allclose(blocks @ blocks.transpose(0, 2, 1), np.broadcast_to(np.eye(2), blocks.shape), atol=1e-12)
    np.testing.assert_allclose(np.linalg.det(blocks), 1.0, atol=1e-12)
    longer = sinusoidal(int(trace.chosen) + values["offset"] + 1, values["d"], values["base"])
    np.testing.assert_allclose(trace.rotated.reshape(-1), longer[-1, : 2 * len(blocks)], atol=1e-12)
    np.testing.assert_array_equal(trace.after.reshape(-1), longer[-1, : 2 * len(blocks)])
    assert SECTION.facts(trace)["rotation_error"] < 1e-12


@settings(deadline=None)
@given(states)
def test_for_even_width_the_dot_product_is_a_sum_of_cosines_of_the_distance(values):
    values |= {"kind": "sinusoidal", "d": values["d"] // 2 * 2}
    trace = SECTION.trace(values)
    distance = np.arange(values["t"]) - trace.chosen  # (T,)
    cosines = np.cos(distance[:, None] * frequencies(values["d"], values["base"]))  # (T, P)
    np.testing.assert_allclose(trace.dot, cosines.sum(axis=1) / values["d"], atol=1e-12)
    assert SECTION.facts(trace)["distance_spread"] < 1e-12


@pytest.mark.parametrize("offset", [1, 5, 20])
def test_for_odd_width_the_dot_product_depends_on_the_places(offset):
    assert facts_at(d=5, base=100.0, offset=offset)["distance_spread"] > 0.1
    assert 1e-8 < facts_at(d=65, offset=offset)["distance_spread"] < 1e-5  # the usual base hides it
    assert facts_at(d=64, offset=offset)["distance_spread"] < 1e-14


def test_the_curve_moves_along_with_the_chosen_position():
    np.testing.assert_allclose(at(position=10).similarity[:25], at(position=25).similarity[15:], atol=1e-12)


def test_a_position_beyond_the_sequence_counts_as_its_last_place():
    assert all(np.array_equal(a, b) for a, b in zip(at(t=8, position=100), at(t=8, position=7)))


def test_a_longer_random_table_begins_with_the_shorter_one():
    np.testing.assert_array_equal(at(kind="random", t=20).encoding, at(kind="random", t=60).encoding[:20])


def test_a_random_table_has_no_rotation_and_no_distance_but_tells_places_apart():
    facts = facts_at(kind="random")
    assert facts["rotation_error"] > 0.5 and facts["distance_spread"] > 0.1
    assert facts["difference_with_position"] > 0.05


@pytest.mark.parametrize("seed", range(0, 100, 7))
def test_attention_alone_does_not_see_the_swap_and_with_positions_it_does(seed):
    double, single = facts_at(seed=seed), facts_at(seed=seed, dtype="float32")
    assert double["difference_attention"] < 1e-14
    assert 1e-9 < single["difference_attention"] < 2e-6
    for facts in (double, single):
        assert facts["difference_with_position"] > 0.05
        assert facts["difference_carried"] < 2e-6


def test_float32_leaves_a_difference_of_the_lectures_size():
    ratio = facts_at(dtype="float32")["difference_attention"] / GOLDEN["swap_check"]["float32"]
    assert 0.1 < ratio < 10  # other tokens and projections than the lecture's


def test_without_codes_positions_add_nothing():
    trace = at(kind="none")
    np.testing.assert_array_equal(trace.output_position, trace.output_plain)
    assert SECTION.facts(trace)["difference_with_position"] < 1e-14


def test_the_swap_exchanges_rows_and_columns_of_the_weights():
    trace = at()
    np.testing.assert_allclose(trace.weights_plain_swapped, trace.weights_plain[np.ix_(SWAPPED, SWAPPED)], atol=1e-15)


@pytest.mark.parametrize("width", [2, 3, 5, 8, 64, 127])
def test_frequencies_are_those_of_the_encoding(width):
    np.testing.assert_allclose(np.sin(frequencies(width, 100.0)), sinusoidal(2, width, 100.0)[1, 0 : width // 2 * 2 : 2])


@pytest.mark.parametrize("changes", [{}, {"d": 3, "t": 8, "position": 127}, {"kind": "random", "dtype": "float32"}, {"kind": "none", "base": 1.0}])
def test_the_arithmetic_told_of_each_array_gives_the_number_shown(changes):
    values = SECTION.defaults() | changes
    trace, explainer = arrays(SECTION.trace(values)), Explainer(SECTION, values)
    for name, array in trace.items():
        for index in {tuple(0 for _ in array.shape), tuple(n // 2 for n in array.shape), tuple(n - 1 for n in array.shape)}:
            told = explainer.top(name, index)
            assert told.value == array[index], name
            assert explainer.evaluate(told) == pytest.approx(array[index], abs=1e-6 if "32" in values["dtype"] else 1e-12), name
            assert explainer.line(told), name


@settings(deadline=None)  # the first example pays for loading torch
@given(states)
def test_codes_and_curves_agree_with_torch(values):
    torch = pytest.importorskip("torch")
    assume(values["kind"] == "sinusoidal")
    trace = SECTION.trace(values)
    t, d, k = values["t"], values["d"], values["offset"]
    angle = torch.outer(torch.arange(t + k).double(), values["base"] ** (-2 * torch.arange((d + 1) // 2).double() / d))
    table = torch.stack([angle.sin(), angle.cos()], dim=2).flatten(1)[:, :d]  # (T + k, D)
    dots = table[:t] @ table[:t].T / d
    np.testing.assert_allclose(trace.encoding, table[:t], rtol=0, atol=1e-12)
    np.testing.assert_allclose(trace.dot, dots[trace.chosen], rtol=0, atol=1e-12)
    np.testing.assert_allclose(trace.offset_dot, (table[:t] * table[k:]).sum(dim=1) / d, rtol=0, atol=1e-12)


@settings(deadline=None)
@given(st.integers(*PARAMETERS["seed"].bounds))
def test_the_swap_check_agrees_with_torch(seed):
    torch = pytest.importorskip("torch")
    trace = at(seed=seed)
    rng = np.random.default_rng(seed)
    tokens = torch.from_numpy(rng.normal(size=(6, 8)))
    projections = torch.from_numpy(rng.normal(size=(3, 8, 8)) / np.sqrt(8))
    inputs = {
        "plain": tokens,
        "plain_swapped": tokens[SWAPPED],
        "position": tokens + torch.from_numpy(trace.positions),
        "position_swapped": tokens[SWAPPED] + torch.from_numpy(trace.positions),
        "carried": (tokens + torch.from_numpy(trace.positions))[SWAPPED],
    }
    for run, x in inputs.items():
        output = torch.nn.functional.scaled_dot_product_attention(*(x @ projection for projection in projections))
        np.testing.assert_allclose(getattr(trace, f"output_{run}"), output, rtol=0, atol=1e-12)
