"""A chain of tanh: the sources' claims, autograd's numbers, and what must hold at every setting."""

import doctest
import tomllib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from content.explain import Explainer
from content.section import arrays, control_parameters
from content.sections.tanh_chain import compute as module
from content.sections.tanh_chain.compute import ACTIVATIONS, FLOOR, SECTION, unroll

GOLDEN = tomllib.loads((Path(__file__).parents[1] / "golden" / "tanh_chain.toml").read_text())
PARAMETERS = control_parameters(SECTION.controls)

states = st.fixed_dictionaries(
    {
        "w_h": st.floats(*PARAMETERS["w_h"].bounds),
        "w_x": st.floats(*PARAMETERS["w_x"].bounds),
        "x": st.floats(*PARAMETERS["x"].bounds),
        "t": st.integers(*PARAMETERS["t"].bounds),
        "activation": st.sampled_from(list(ACTIVATIONS)),
        "factor": st.floats(*PARAMETERS["factor"].bounds),
    }
)


def at(**changes):
    return SECTION.trace(SECTION.defaults() | changes)


def facts(**changes):
    return SECTION.facts(at(**changes))


def test_fixed_factors_give_the_powers_of_the_source():
    golden = GOLDEN["fixed_factors"]
    trace = at()
    reference = np.stack([trace.power_08, trace.power_1, trace.power_12])
    np.testing.assert_allclose(reference[:, 59], golden["after_59"], rtol=10.0 ** (1 - golden["digits"]))
    for row, factor in zip(reference, golden["factors"], strict=True):
        np.testing.assert_allclose(row, factor ** np.arange(60), rtol=1e-13)
        np.testing.assert_allclose(at(factor=factor).power, row, rtol=1e-13)


@pytest.mark.parametrize("t", range(1, 61))
def test_sensitivity_grows_as_a_power_of_the_weight_while_all_states_are_zero(t):
    golden = GOLDEN["growing"]
    trace = at(**golden["settings"], t=t)
    assert not trace.state.any()
    assert SECTION.facts(trace)["product_last"] == pytest.approx(golden["factor"] ** (t - 1), rel=1e-13)


def test_input_one_saturates_the_chain_and_its_sensitivity_dies():
    golden = GOLDEN["dying"]
    trace = at(**golden["settings"])
    np.testing.assert_allclose(trace.state[:3], golden["first_states"], atol=0.5 * 10.0 ** -golden["decimals"])
    assert trace.product[1] == pytest.approx(golden["product_1"], abs=0.5 * 10.0 ** -golden["decimals"])
    assert (np.diff(trace.product) < 0).all()
    assert 0 < trace.product[-1] < 1e-70


def test_a_single_step_has_no_transition_and_gives_exactly_one():
    golden = GOLDEN["single_step"]
    assert facts(**golden["settings"])["product_last"] == golden["product_last"]


def test_sixty_steps_lose_about_thirteen_orders_of_magnitude_and_the_direct_path_none():
    golden = GOLDEN["sixty_steps"]
    trace = at()
    assert len(trace.state) == golden["steps"]
    assert SECTION.facts(trace)["gradient_orders"] == pytest.approx(golden["orders"], abs=golden["within"])
    growing = int(SECTION.facts(trace)["product_largest_step"])  # the steep start, where the first inputs gain
    assert (np.diff(trace.input_gradient[: -1 - growing]) < 0).all()  # else it falls with every step back
    assert set(trace.average_gradient) == {1 / golden["steps"]}
    assert set(trace.direct_steps) == {1.0}
    assert trace.chain_steps[-1] == golden["steps"]


def test_identity_over_five_transitions_is_the_exercise_of_the_source():
    golden = GOLDEN["identity"]
    trace = at(**golden["settings"])
    assert trace.product[5] == pytest.approx(abs(golden["derivative"]), abs=1e-15)
    assert np.prod(trace.transition[1:]) == pytest.approx(golden["derivative"], abs=1e-15)


def test_product_grows_before_it_dies_at_the_textbook_setting():
    known = facts()
    assert 0 < known["product_largest_step"] < 10
    assert known["product_largest"] > 1.4
    assert known["product_last"] < 1e-13


def test_a_negative_relu_path_is_exactly_zero_and_says_so():
    trace = at(activation="relu", x=-1.0)
    assert trace.product.tolist() == [1.0] + 59 * [0.0]
    assert trace.product_zero.tolist() == [0.0] + 59 * [1.0]
    assert not trace.product_underflow.any()
    assert trace.product_log10.tolist() == [0.0] + 59 * [FLOOR]


def test_slope_of_relu_at_its_kink_is_zero():
    assert at(activation="relu", x=0.0, t=1).slope.tolist() == [0.0]


def test_an_underflow_is_told_apart_from_a_zero():
    trace = at(w_h=2.0, w_x=2.0, x=3.0)
    assert trace.transition.all()  # no factor is zero
    assert trace.product[-1] == 0.0
    assert trace.product_underflow[-1] == 1.0
    assert not trace.product_zero.any()
    assert trace.product_log10[-1] == FLOOR
    assert np.log10(trace.product[trace.product > 0]).min() > FLOOR


def test_without_an_input_weight_no_input_matters_though_the_chain_carries_on():
    trace = at(w_x=0.0)
    assert not trace.input_gradient.any()
    assert trace.input_gradient_zero.all()
    assert trace.product[-1] > 1


def test_doctests_run():
    assert doctest.testmod(module).failed == 0


@given(states)
def test_every_array_and_fact_is_finite(values):
    trace = SECTION.trace(values)
    assert all(np.isfinite(array).all() for array in arrays(trace).values())
    assert all(np.isfinite(fact) for fact in SECTION.facts(trace).values())


@given(states)
def test_every_array_is_as_long_as_the_chain(values):
    assert all(array.shape[-1] == values["t"] for array in arrays(SECTION.trace(values)).values())


@given(states)
def test_product_starts_at_one_and_each_step_multiplies_it_by_the_size_of_its_factor(values):
    trace = SECTION.trace(values)
    assert trace.product[0] == 1.0
    np.testing.assert_array_equal(trace.product[1:], trace.product[:-1] * np.abs(trace.transition[1:]))


@given(states)
def test_forward_and_backward_products_meet(values):
    trace = SECTION.trace(values)
    np.testing.assert_allclose(trace.backward[-1], trace.product[-1], rtol=1e-12, atol=1e-300)


@given(states)
def test_states_of_tanh_and_sigmoid_are_bounded(values):
    assert (np.abs(SECTION.trace(values | {"activation": "tanh"}).state) <= 1).all()
    sigmoid = SECTION.trace(values | {"activation": "sigmoid"}).state
    assert ((sigmoid >= 0) & (sigmoid <= 1)).all()


@given(states)
def test_no_slope_exceeds_the_greatest_of_its_activation(values):
    trace = SECTION.trace(values)
    greatest = GOLDEN["sigmoid"]["greatest_slope"] if values["activation"] == "sigmoid" else 1.0
    assert ((trace.slope >= 0) & (trace.slope <= greatest)).all()


@given(states)
def test_sigmoid_at_least_halves_every_change_within_the_bounds_of_the_weight(values):
    product = SECTION.trace(values | {"activation": "sigmoid"}).product
    assert (product[1:] <= product[:-1] / 2).all()


@given(states)
def test_every_zero_is_flagged_once_and_nothing_else_is(values):
    trace = SECTION.trace(values)
    for size, zero, underflow, log10 in (
        (trace.product, trace.product_zero, trace.product_underflow, trace.product_log10),
        (trace.input_gradient, trace.input_gradient_zero, trace.input_gradient_underflow, trace.input_gradient_log10),
    ):
        np.testing.assert_array_equal(zero + underflow, size == 0)
        np.testing.assert_array_equal(log10 == FLOOR, size == 0)


@given(states)
def test_a_shorter_chain_is_the_beginning_of_a_longer_one(values):
    trace = SECTION.trace(values)
    longest = SECTION.trace(values | {"t": 60})
    for name in ("preactivation", "state", "slope", "transition", "product", "power"):
        np.testing.assert_array_equal(getattr(trace, name), getattr(longest, name)[: values["t"]])


@given(states)
def test_changing_the_sign_of_the_input_mirrors_an_odd_activation_and_keeps_its_gradients(values):
    values |= {"activation": "tanh"}
    trace, mirrored = SECTION.trace(values), SECTION.trace(values | {"x": -values["x"]})
    np.testing.assert_allclose(mirrored.state, -trace.state, rtol=0, atol=1e-12)
    np.testing.assert_allclose(mirrored.product, trace.product, rtol=1e-12)


@given(st.floats(-1.0, 1.0), st.floats(-1.0, 1.0))
def test_product_is_the_slope_that_a_small_push_of_the_first_state_measures(w_h, x):
    push, steps = 1e-6, 5

    def last(first):
        for _ in range(steps):
            first = np.tanh(w_h * first + x)
        return first

    first = np.tanh(x)
    measured = abs(last(first + push) - last(first - push)) / (2 * push)
    assert at(w_h=w_h, w_x=1.0, x=x, t=steps + 1).product[-1] == pytest.approx(measured, abs=1e-8)


@settings(deadline=None, max_examples=20)
@given(states)
def test_every_cell_evaluates_from_its_own_arithmetic(values):
    explainer = Explainer(SECTION, values | {"t": min(values["t"], 6)})
    for name, array in SECTION.trace(values | {"t": min(values["t"], 6)})._asdict().items():
        for index in np.ndindex(array.shape):
            expression = explainer.top(name, index)
            assert explainer.evaluate(expression) == pytest.approx(array[index], rel=1e-12, abs=1e-300)
            assert explainer.line(expression)


def torch_chain(torch, values):
    """The same chain with autograd: preactivations, states and inputs, one leaf for each input."""
    activate = {"identity": lambda z: z, "tanh": torch.tanh, "sigmoid": torch.sigmoid, "relu": torch.relu}[values["activation"]]
    inputs = torch.full((values["t"],), values["x"], dtype=torch.float64, requires_grad=True)
    hidden, preactivations, states = torch.zeros((), dtype=torch.float64), [], []
    for x in inputs:
        preactivations.append(values["w_h"] * hidden + values["w_x"] * x)
        hidden = activate(preactivations[-1])
        states.append(hidden)
    return preactivations, states, inputs


@settings(deadline=None, max_examples=50)  # the first example pays for loading torch
@given(states)
def test_states_slopes_products_and_gradients_agree_with_autograd(values):
    torch = pytest.importorskip("torch")
    trace = SECTION.trace(values)
    preactivations, states, inputs = torch_chain(torch, values)

    def derivatives(outputs, of):
        return [torch.autograd.grad(output, source, retain_graph=True)[0] for output, source in zip(outputs, of)]

    near = {"rtol": 1e-12, "atol": 1e-12}
    np.testing.assert_allclose(trace.state, torch.stack(states).detach(), **near)
    np.testing.assert_allclose(trace.slope, torch.stack(derivatives(states, preactivations)), **near)
    product = torch.stack(derivatives(states, [states[0]] * len(states))).abs()
    np.testing.assert_allclose(trace.product, product, **near)
    (gradient,) = derivatives(states[-1:], [inputs])
    np.testing.assert_allclose(trace.input_gradient, gradient.flip(0).abs(), **near)


@settings(deadline=None, max_examples=20)
@given(states)
def test_unrolled_chain_agrees_with_torchs_own_recurrent_cell(values):
    torch = pytest.importorskip("torch")
    cell = torch.nn.RNN(1, 1, bias=False, dtype=torch.float64)
    with torch.no_grad():
        cell.weight_ih_l0.fill_(values["w_x"])
        cell.weight_hh_l0.fill_(values["w_h"])
        states, _ = cell(torch.full((values["t"], 1), values["x"], dtype=torch.float64))
    ours = unroll(values["w_h"], values["w_x"], [values["x"]] * values["t"], "tanh").state
    np.testing.assert_allclose(ours, states[:, 0], rtol=0, atol=1e-12)


def test_average_gradient_agrees_with_autograd():
    torch = pytest.importorskip("torch")
    inputs = torch.full((7,), 0.3, dtype=torch.float64, requires_grad=True)
    inputs.mean().backward()
    np.testing.assert_allclose(at(t=7).average_gradient, inputs.grad, rtol=0, atol=1e-12)
