"""Three ways to connect positions: the sources' table and figures, real layers, and what must hold at every setting."""

import doctest
import tomllib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from content.explain import Explainer
from content.section import arrays
from content.sections.connections import compute as module
from content.sections.connections.compute import SECTION, layers_to_span, operations

GOLDEN = tomllib.loads((Path(__file__).parents[1] / "golden" / "connections.toml").read_text())
WAYS = ("recurrence", "convolution", "attention")
OPERATIONS, SEQUENTIAL, AT_ONCE, PATH = range(4)

states = st.fixed_dictionaries(
    {
        "log2_t": st.floats(1, 17),
        "log2_d": st.floats(2, 13),
        "k": st.integers(2, 9),
        "dilated": st.sampled_from([0, 1]),
        "bytes": st.sampled_from([1, 2, 4, 8]),
    }
)


def at(**changes):
    return SECTION.trace(SECTION.defaults() | changes)


def reach(layers, k, dilated):
    """Positions that a stack of convolution layers sees, counted by following every tap back."""
    seen = {0}
    for layer in range(layers):
        spacing = k**layer if dilated else 1
        seen = {position + tap * spacing for position in seen for tap in range(k)}
    return len(seen)


@pytest.mark.parametrize("row, way", enumerate(WAYS))
def test_operations_grow_by_the_powers_in_the_source(row, way):
    powers = GOLDEN["table"][way]
    once = at().comparison[row, OPERATIONS]
    assert at(log2_t=12.0).comparison[row, OPERATIONS] / once == 2 ** powers["t"]
    assert at(log2_d=10.0).comparison[row, OPERATIONS] / once == 2 ** powers["d"]
    assert at(k=6).comparison[row, OPERATIONS] / once == 2 ** powers["k"]


@pytest.mark.parametrize("row, way", enumerate(WAYS))
def test_waiting_and_distance_grow_as_in_the_source(row, way):
    known = {"T": lambda t: t, "1": lambda t: 1, "log_k T": lambda t: round(np.log(t) / np.log(2))}
    table = GOLDEN["table"][way]
    for exponent in (3, 10, 17):
        trace = at(log2_t=float(exponent), k=2)
        assert trace.comparison[row, SEQUENTIAL] == known[table["sequential"]](2**exponent)
        assert abs(trace.comparison[row, PATH] - known[table["path"]](2**exponent)) <= 1  # T − 1 hand-overs are O(T)


def test_memory_of_the_weights_is_the_one_in_the_source():
    golden = GOLDEN["memory"]
    trace = at(bytes=golden["bytes"])
    assert trace.memory[0] == golden["mebibytes_at_2048"]
    assert SECTION.facts(trace)["pairs"] / 1e6 == pytest.approx(golden["million_numbers_at_2048"], abs=0.05)
    assert SECTION.facts(at(log2_t=15.0))["memory_gib"] == golden["gibibytes_at_32768"]


def test_memory_is_that_of_a_real_array():
    trace = at(log2_t=7.0, log2_d=5.0, bytes=8)
    assert trace.memory.tolist() == [np.zeros(shape).nbytes / 2**20 for shape in ((128, 128), (128, 32))]


def test_measured_times_are_cited_as_they_stand_in_the_source():
    facts, golden = SECTION.facts(at()), GOLDEN["measured"]
    assert facts["cited_length"] == golden["length"]
    assert facts["cited_attention_ms"] == golden["attention_ms"]
    assert facts["cited_gru_ms"] == golden["gru_ms"]


def test_doctests_run():
    assert doctest.testmod(module).failed == 0


@given(states)
def test_every_array_is_finite_and_positive(values):
    trace = SECTION.trace(values)
    assert all((np.isfinite(array) & (array > 0)).all() for array in arrays(trace).values())
    assert all(np.isfinite(fact) for fact in SECTION.facts(trace).values())


@given(states)
def test_lengths_and_widths_are_whole(values):
    trace = SECTION.trace(values)
    assert trace.length == int(trace.length) >= 2
    assert trace.width == int(trace.width) >= 4


@given(states)
def test_no_path_is_shorter_than_that_of_attention_or_longer_than_that_of_recurrence(values):
    recurrence, convolution, attention = SECTION.trace(values).comparison[:, PATH]
    assert 1 == attention <= convolution <= recurrence


@given(states)
def test_attention_is_the_cheaper_layer_exactly_where_the_sequence_is_shorter_than_the_width(values):
    trace = SECTION.trace(values)
    recurrence, convolution, attention = trace.comparison[:, OPERATIONS]
    assert (attention < recurrence) == (trace.length < trace.width)
    assert (attention < convolution) == (trace.length < SECTION.facts(trace)["crossing_convolution"])


@given(st.integers(0, 16), st.integers(2, 13), st.integers(2, 9), st.sampled_from([0, 1]), st.sampled_from([1, 2, 4, 8]))
def test_curves_pass_through_the_numbers_of_the_comparison(column, log2_d, k, dilated, bytes):
    trace = at(log2_t=column + 1.0, log2_d=float(log2_d), k=k, dilated=dilated, bytes=bytes)
    assert trace.lengths[column] == trace.length
    np.testing.assert_array_equal(trace.cost_curve[:, column], trace.comparison[:, OPERATIONS])
    np.testing.assert_array_equal(trace.path_curve[:, column], trace.comparison[:, PATH])
    np.testing.assert_array_equal(trace.memory_curve[:, column], trace.memory)


@given(st.integers(2, 200), st.integers(2, 9), st.booleans())
def test_layers_to_span_is_the_least_number_that_sees_every_position(length, k, dilated):
    layers = layers_to_span(length, k, dilated)
    if dilated or layers < 40:
        assert reach(layers - 1, k, dilated) < length <= reach(layers, k, dilated)


@pytest.mark.parametrize("k", range(2, 10))
def test_exact_powers_of_the_kernel_need_no_extra_layer(k):
    assert [layers_to_span(k**n, k, True) for n in range(1, 6)] == [1, 2, 3, 4, 5]


CELLS = [("length", ()), ("comparison", (0, 0)), ("comparison", (1, 2)), ("comparison", (2, 0)), ("memory", (0,))]


@given(states, st.sampled_from(CELLS))
def test_arithmetic_on_show_gives_the_number_on_show(values, cell):
    name, index = cell
    explainer = Explainer(SECTION, values)
    expression = explainer.top(name, index)
    assert explainer.evaluate(expression) == pytest.approx(expression.value, rel=1e-12)
    assert expression.value == arrays(SECTION.trace(values))[name][index]


def test_operations_are_the_multiplications_of_real_layers():
    torch = pytest.importorskip("torch")
    flop_counter = pytest.importorskip("torch.utils.flop_counter")

    def multiplications(run):
        with flop_counter.FlopCounterMode(display=False) as counter:
            run()
        return counter.get_total_flops() / 2  # one multiplication and one addition make two

    T, D, k = 16, 8, 3
    tokens, matrix = torch.randn(T, D), torch.randn(D, D)
    kernel = torch.randn(D, D, k)
    padded = torch.randn(1, D, T + k - 1)

    def recurrence():
        state = torch.zeros(1, D)
        for token in tokens:
            state = torch.tanh(state @ matrix + token)

    counted = [
        multiplications(recurrence),
        multiplications(lambda: torch.nn.functional.conv1d(padded, kernel)),
        multiplications(lambda: tokens @ tokens.T),
    ]
    assert counted == operations(float(T), float(D), k).tolist()


@settings(deadline=None, max_examples=30)  # the first example pays for loading torch
@given(st.integers(2, 40), st.integers(2, 4), st.booleans())
def test_a_stack_of_torch_convolutions_sees_the_first_position_with_the_last_layer_and_not_before(length, k, dilated):
    torch = pytest.importorskip("torch")

    def sees_first(layers):
        signal = torch.zeros(1, 1, length, dtype=torch.float64)
        signal[0, 0, 0] = 1.0
        for layer in range(layers):
            spacing = k**layer if dilated else 1
            signal = torch.nn.functional.pad(signal, ((k - 1) * spacing, 0))
            signal = torch.nn.functional.conv1d(signal, torch.ones(1, 1, k, dtype=torch.float64), dilation=spacing)
        return signal[0, 0, -1].item() > 0

    layers = layers_to_span(length, k, dilated)
    assert sees_first(layers) and not sees_first(layers - 1)
