"""A recurrent network of one number: hand arithmetic, autograd's numbers, measured slopes, and what must hold everywhere."""

import doctest
import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings

from app.labs.scalar_rnn import PASSES, USES
from content.section import arrays
from content.sections.scalar_rnn import compute as module
from content.sections.scalar_rnn.compute import ACTIVATIONS, NUDGE, SECTION, central_difference, forward_pass, unroll
from tests.content.drawn import other_settings, values_of

GOLDEN = tomllib.loads((Path(__file__).parents[1] / "golden" / "scalar_rnn.toml").read_text())

states = values_of(SECTION)


def at(**changes):
    return SECTION.trace(SECTION.defaults() | changes)


def test_identity_gives_the_numbers_worked_out_by_hand():
    golden = dict(GOLDEN["identity"])
    trace = at(**golden.pop("settings"))
    for name, numbers in golden.items():
        np.testing.assert_allclose(getattr(trace, name), numbers, rtol=0, atol=1e-12, err_msg=name)


def test_textbook_setting_gives_the_numbers_of_a_calculator():
    golden = dict(GOLDEN["tanh"])
    near = 0.51 * 10.0 ** -golden.pop("decimals")
    for name, numbers in golden.items():
        np.testing.assert_allclose(getattr(at(), name), numbers, rtol=0, atol=near, err_msg=name)


@given(states)
def test_first_use_of_the_recurrent_weight_adds_nothing(values):
    assert SECTION.trace(values).contributions_w_h[0] == GOLDEN["first_use"]["contribution_w_h"]


def test_first_input_matters_though_the_first_use_of_the_recurrent_weight_adds_nothing():
    assert at().g_x[0] > 0.1
    assert at().loss != at(x0=0.9).loss


def test_a_dead_network_has_a_loss_and_no_gradient():
    golden = GOLDEN["dead"]
    trace = at(**golden["settings"], lr=5.0)
    assert trace.loss == golden["loss"] == trace.loss_after
    assert not trace.gradients.any() and not trace.finite_difference.any() and not trace.relative_error.any()


def test_a_short_step_lowers_the_loss_and_a_long_one_raises_it():
    assert at().loss_after < at().loss
    assert at(**GOLDEN["too_long"]["settings"]).loss_after > at().loss
    assert at(lr=0.0).loss_after == at().loss


def test_ten_short_steps_lower_the_loss_each_time():
    values, losses = SECTION.defaults(), []
    for _ in range(10):
        trace = SECTION.trace(values)
        losses.append(float(trace.loss))
        values |= dict(zip(("w_x", "w_h", "w_o"), trace.updated.tolist()))
    assert (np.diff(losses) < 0).all()
    assert losses[-1] < losses[0] / 3


def test_a_state_at_the_kink_of_relu_is_cut_in_gradient_and_measurement_alike():
    trace = at(activation="relu", w_x=0.0)
    assert trace.preactivation.tolist() == [0.0, 0.0, 0.0] == trace.slope.tolist()
    assert not trace.gradients.any() and not trace.finite_difference.any()
    half = at(activation="relu", x0=0.5, w_x=1.0, w_h=1.0, x1=-0.5, x2=0.5)  # the second sum is exactly zero
    assert half.preactivation[1] == 0.0
    np.testing.assert_allclose(half.finite_difference, half.gradients, rtol=1e-8, atol=1e-9)


def test_held_states_stay_at_zero():
    assert unroll(1.0, 1.0, [1.0, 1.0, 1.0], "identity", closed=[1]).state.tolist() == [1.0, 0.0, 1.0]


def test_doctests_run():
    assert doctest.testmod(module).failed == 0


@given(states)
def test_loss_is_half_the_square_of_the_error(values):
    trace = SECTION.trace(values)
    assert trace.loss == pytest.approx(0.5 * (trace.prediction - values["y"]) ** 2, rel=1e-12)


@given(states)
def test_contributions_add_up_to_the_gradients(values):
    trace = SECTION.trace(values)
    np.testing.assert_array_equal(trace.gradients[:2], [trace.contributions_w_x.sum(), trace.contributions_w_h.sum()])


@given(states)
def test_a_step_goes_against_the_gradient_and_its_loss_is_that_of_fresh_states(values):
    trace = SECTION.trace(values)
    weights = np.array([values["w_x"], values["w_h"], values["w_o"]])
    np.testing.assert_array_equal(trace.updated, weights - values["lr"] * trace.gradients)
    inputs = [values["x0"], values["x1"], values["x2"]]
    assert trace.loss_after == forward_pass(*trace.updated, inputs, values["y"], values["activation"]).loss


@settings(max_examples=200)
@given(states)
def test_gradient_is_the_measured_slope_wherever_the_loss_is_smooth(values):
    trace = SECTION.trace(values)
    if values["activation"] == "relu":  # a nudge must not carry a sum over the kink
        assume(all(z == 0 or abs(z) > 1e3 * NUDGE for z in trace.preactivation))
    # A difference of two losses is as exact as they are rounded.
    least = 1e-8 * (1 + float(trace.loss))
    np.testing.assert_allclose(trace.finite_difference, trace.gradients, rtol=1e-6, atol=least)


@given(states)
def test_sensitivities_of_inputs_are_measured_slopes_too(values):
    assume(values["activation"] != "relu")
    trace = SECTION.trace(values)
    weights = [values["w_x"], values["w_h"], values["w_o"]]
    measured = central_difference(
        lambda *inputs: forward_pass(*weights, inputs, values["y"], values["activation"]).loss, [values[f"x{t}"] for t in range(3)]
    )
    np.testing.assert_allclose(measured, trace.g_x, rtol=1e-6, atol=1e-8 * (1 + float(trace.loss)))


@settings(deadline=None, max_examples=60)  # the first example pays for loading torch
@given(states)
def test_everything_agrees_with_autograd(values):
    torch = pytest.importorskip("torch")
    trace = SECTION.trace(values)
    activate = {"identity": lambda z: z.clone(), "tanh": torch.tanh, "sigmoid": torch.sigmoid, "relu": torch.relu}[values["activation"]]
    w_x, w_h, w_o, start, *inputs = (
        torch.tensor(number, dtype=torch.float64, requires_grad=True)
        for number in (values["w_x"], values["w_h"], values["w_o"], 0.0, values["x0"], values["x1"], values["x2"])
    )
    hidden, preactivations, hiddens = start, [], []
    for x in inputs:
        preactivations.append(w_h * hidden + w_x * x)
        hidden = activate(preactivations[-1])
        hiddens.append(hidden)
    loss = 0.5 * (w_o * hidden - values["y"]) ** 2
    told = torch.autograd.grad(loss, [w_x, w_h, w_o, *hiddens, *preactivations, *inputs, start])
    ours = [*trace.gradients, *trace.g_h, *trace.g_z, *trace.g_x, trace.g_start]
    # Sums of large terms may cancel: what is lost is measured against the terms.
    terms = 1e-12 * (1 + max(np.abs(trace.contributions_w_x).max(), np.abs(trace.contributions_w_h).max()))
    np.testing.assert_allclose(ours, told, rtol=1e-12, atol=terms)
    np.testing.assert_allclose(trace.state, torch.stack(hiddens).detach(), rtol=1e-12, atol=1e-12)
    assert trace.loss == pytest.approx(loss.item(), rel=1e-12, abs=1e-12)


def said(result, trace, values):
    """The number that a line of the lab gives when its arithmetic is carried out."""
    known = {**values, **arrays(trace)}
    code = result.numbers.replace("½", "0.5*").replace("²", "**2").replace("·", "*").replace("−", "-")
    code = re.sub(r"\{(\w+)\}", r"float(known['\1'])", code)
    code = re.sub(r"\{(\w+)\[(\d)\]\}", r"known['\1'][\2]", code)
    return eval(code, {"known": known, "φ": ACTIVATIONS[values["activation"]].apply, "float": float})


@pytest.mark.parametrize("values", [SECTION.defaults(), *other_settings(SECTION, 6)], ids=lambda values: values["activation"])
def test_every_line_of_the_lab_is_the_arithmetic_of_its_number(values):
    trace = SECTION.trace(values)
    known = arrays(trace)
    results = [result for row in PASSES for result in row] + [r for one in USES for r in (*one.parts, one.total) if r.numbers]
    assert len(results) == 23
    for result in results:
        name, _, index = result.cell.rstrip("]").partition("[")
        number = known[name][int(index)] if index else known[name]
        assert said(result, trace, values) == pytest.approx(float(number), rel=1e-12, abs=1e-12), result
