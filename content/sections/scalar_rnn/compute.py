"""A recurrent network of one number: three steps forward, every step back, and one step of gradient descent."""

from __future__ import annotations

from typing import Callable, Collection, NamedTuple, Sequence

import numpy as np
import param

from content.section import Section

NUDGE = 1e-6  # how far each weight is moved either way to measure a slope


class Activation(NamedTuple):
    """A function of one number, and its slope told from the number put in (z) and the number that came out (h)."""

    apply: Callable
    slope: Callable


ACTIVATIONS = {
    "identity": Activation(lambda z: z, lambda z, h: np.ones_like(h)),
    "tanh": Activation(np.tanh, lambda z, h: 1.0 - h * h),
    "sigmoid": Activation(lambda z: 1.0 / (1.0 + np.exp(-z)), lambda z, h: h * (1.0 - h)),
    "relu": Activation(lambda z: np.maximum(z, 0.0), lambda z, h: np.where(z > 0, 1.0, 0.0)),  # 0 at the kink, as torch
}


class Unrolled(NamedTuple):
    """A recurrence written out step by step."""

    preactivation: np.ndarray  # (T,) z_t
    state: np.ndarray  # (T,) h_t


def unroll(w_h: float, w_x: float, inputs: Sequence[float], activation: str, closed: Collection[int] = ()) -> Unrolled:
    """The states h_t = φ(z_t) with z_t = w_h h_{t−1} + w_x x_t, from h_{−1} = 0.

    `inputs` (T,). The states of the steps in `closed` are held at zero.
    Source: the scalar RNN of week 6, zero biases.

    >>> unroll(2.0, 1.0, [1.0, 1.0, 1.0], "identity").state.tolist()
    [1.0, 3.0, 7.0]
    """
    hidden, preactivations, states = 0.0, [], []
    for t, x in enumerate(inputs):
        preactivation = w_h * hidden + w_x * x
        hidden = np.zeros_like(preactivation) if t in closed else ACTIVATIONS[activation].apply(preactivation)
        preactivations.append(preactivation)
        states.append(hidden)
    return Unrolled(np.stack(preactivations), np.stack(states))


class Forward(NamedTuple):
    """What the network computed on its way down to the loss."""

    preactivation: np.ndarray  # (T,)
    state: np.ndarray  # (T,)
    prediction: np.ndarray  # () ŷ, read from the last state
    error: np.ndarray  # () ŷ − y
    loss: np.ndarray  # ()


def forward_pass(
    w_x: float, w_h: float, w_o: float, inputs: Sequence[float], target: float, activation: str, closed: Collection[int] = ()
) -> Forward:
    """States of all inputs, the prediction ŷ = w_o h_{T−1} and the loss ½(ŷ − y)².

    Source: week 6, the scalar model with three steps.
    """
    preactivation, state = unroll(w_h, w_x, inputs, activation, closed)
    prediction = w_o * state[-1]
    error = prediction - target
    return Forward(preactivation, state, prediction, error, 0.5 * error**2)


class Sensitivities(NamedTuple):
    """How the loss answers to a small change of each state and each preactivation."""

    state: np.ndarray  # (T,) g_h = ∂L/∂h_t
    preactivation: np.ndarray  # (T,) g_z = ∂L/∂z_t


def backward_pass(signal: float, slope: np.ndarray, w_h: float) -> Sensitivities:
    """Carries `signal`, the sensitivity to the last state, back to the first step.

    `slope` (T,) holds φ'(z_t). Passing an activation multiplies by its slope, passing to the state before by `w_h`.
    Source: week 6, table of the backward pass.

    >>> backward_pass(1.0, np.array([1.0, 1.0, 0.5]), 2.0).state.tolist()
    [2.0, 1.0, 1.0]
    """
    g_h, g_z = [], []
    for t in reversed(range(len(slope))):
        g_h.append(signal)
        g_z.append(signal * slope[t])
        signal = g_z[-1] * w_h
    return Sensitivities(np.stack(g_h[::-1]), np.stack(g_z[::-1]))


def central_difference(function: Callable, at: Sequence[float], nudge: float = NUDGE) -> np.ndarray:
    """The slope of `function` along each of its arguments, measured by moving one of them `nudge` up and down.

    `at` (n,) are the arguments; `function` takes n arrays of 2 n places at once. Returns (n,).

    >>> central_difference(lambda a, b: a * b, [2.0, 3.0]).round(6).tolist()
    [3.0, 2.0]
    """
    n = len(at)
    moves = nudge * np.concatenate([np.eye(n), -np.eye(n)], axis=1)  # (n, 2n) each argument up, then each down
    found = function(*(np.stack(at).reshape(n, 1) + moves))  # (2n,)
    return (found[:n] - found[n:]) / (2 * nudge)


def relative_difference(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """How far two arrays are apart in parts of the larger of each pair; 0 where both are 0.

    >>> relative_difference(np.array([2.0, 0.0]), np.array([1.0, 0.0])).tolist()
    [0.5, 0.0]
    """
    size = np.maximum(np.abs(a), np.abs(b))
    return np.abs(a - b) / np.where(size > 0, size, 1.0)


def observed(default: float, doc: str) -> param.Number:
    return param.Number(default, bounds=(-2.0, 2.0), step=0.05, doc=doc)


def weight(default: float, doc: str) -> param.Number:
    return param.Number(default, bounds=(-4.0, 4.0), step=0.05, doc=doc)


class Controls(param.Parameterized):
    """Three inputs and a target, three weights, an activation, and how far a step goes."""

    x0 = observed(1.0, "First input.")
    x1 = observed(-0.5, "Second input.")
    x2 = observed(0.5, "Third input.")
    y = observed(-0.5, "Target.")
    w_x = weight(0.8, "Input weight, used at all three steps.")
    w_h = weight(0.9, "Recurrent weight, used at all three steps.")
    w_o = weight(1.5, "Output weight, used once.")
    activation = param.Selector(default="tanh", objects=list(ACTIVATIONS), doc="Activation φ.")
    lr = param.Number(0.1, bounds=(0.0, 5.0), step=0.05, doc="Learning rate η.")


class Trace(NamedTuple):
    preactivation: np.ndarray  # (3,) z_t
    state: np.ndarray  # (3,) h_t
    prediction: np.ndarray  # () ŷ
    error: np.ndarray  # () ŷ − y, also ∂L/∂ŷ
    loss: np.ndarray  # () ½(ŷ − y)²
    slope: np.ndarray  # (3,) φ'(z_t)
    g_h: np.ndarray  # (3,) ∂L/∂h_t
    g_z: np.ndarray  # (3,) ∂L/∂z_t
    g_x: np.ndarray  # (3,) ∂L/∂x_t
    g_start: np.ndarray  # () ∂L/∂h_{−1}
    contributions_w_x: np.ndarray  # (3,) what each use of w_x adds to its gradient
    contributions_w_h: np.ndarray  # (3,) the same for w_h; the first is 0, since h_{−1} = 0
    gradients: np.ndarray  # (3,) of w_x, w_h, w_o
    updated: np.ndarray  # (3,) the weights one step of gradient descent later
    loss_after: np.ndarray  # () the loss with them
    finite_difference: np.ndarray  # (3,) the gradients, measured
    relative_error: np.ndarray  # (3,) gradients against finite differences


def compute(*, x0, x1, x2, y, w_x, w_h, w_o, activation, lr) -> Trace:
    """Forward pass, backward pass, one step of gradient descent, and the gradients measured without any of it."""
    inputs = np.stack([x0, x1, x2])
    preactivation, state, prediction, error, loss = forward_pass(w_x, w_h, w_o, inputs, y, activation)
    slope = ACTIVATIONS[activation].slope(preactivation, state)
    g_h, g_z = backward_pass(error * w_o, slope, w_h)

    # A weight that is used three times gets three contributions: the sensitivity there times what it multiplied.
    before = np.concatenate([np.zeros(1), state[:-1]])  # (3,) h_{t−1}
    contributions_w_x = g_z * inputs
    contributions_w_h = g_z * before
    gradients = np.stack([contributions_w_x.sum(), contributions_w_h.sum(), error * state[-1]])
    updated = np.stack([w_x, w_h, w_o]) - lr * gradients

    # ReLU has no slope at 0 and is given 0 there; what is measured keeps to that when it holds such states still.
    kinks = np.flatnonzero(preactivation == 0) if activation == "relu" else ()
    measured = central_difference(lambda *weights: forward_pass(*weights, inputs, y, activation, kinks).loss, [w_x, w_h, w_o])
    return Trace(
        preactivation=preactivation,
        state=state,
        prediction=prediction,
        error=error,
        loss=loss,
        slope=slope,
        g_h=g_h,
        g_z=g_z,
        g_x=g_z * w_x,
        g_start=g_z[0] * w_h,
        contributions_w_x=contributions_w_x,
        contributions_w_h=contributions_w_h,
        gradients=gradients,
        updated=updated,
        loss_after=forward_pass(*updated, inputs, y, activation).loss,
        finite_difference=measured,
        relative_error=relative_difference(measured, gradients),
    )


def facts(trace: Trace) -> dict[str, float]:
    """Numbers the prose quotes by name; any array element can be quoted as `state[2]`."""
    return {
        "nudge": NUDGE,
        "largest_error": trace.relative_error.max(),
        "contributions_size": np.abs(trace.contributions_w_x).sum(),
    }


SECTION = Section("scalar_rnn", Controls, compute, facts)
