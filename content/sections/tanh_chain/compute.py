"""A chain of tanh: one recurrent number, and how far a change of it is felt."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import param

from content.section import Section
from content.sections.scalar_rnn.compute import ACTIVATIONS, unroll

FLOOR = -324.0  # stands for log10 of zero: 5·10⁻³²⁴ is the smallest positive float64


def running_product(factors: np.ndarray) -> np.ndarray:
    """Sizes of the products of none, one, two … of the factors: (n,) -> (n + 1,), from 1 on.

    >>> running_product(np.array([0.5, -4.0, 3.0])).tolist()
    [1.0, 0.5, 2.0, 6.0]
    """
    return np.cumprod(np.concatenate([np.ones(1), np.abs(factors)]))


def zero_from(factors: np.ndarray) -> np.ndarray:
    """Which of these running products hold a factor that is exactly zero: (n,) -> (n + 1,) of bool.

    >>> zero_from(np.array([0.5, 0.0, 3.0])).tolist()
    [False, False, True, True]
    """
    return np.logical_or.accumulate(np.concatenate([[False], factors == 0]))


def log10_or_floor(size: np.ndarray) -> np.ndarray:
    """log10 of sizes (non-negative, any shape); where a size is zero, `FLOOR`.

    >>> log10_or_floor(np.array([100.0, 0.0])).round(6).tolist()
    [2.0, -324.0]
    """
    return np.where(size > 0, np.log(np.where(size > 0, size, 1.0)) / np.log(10.0), FLOOR)


class Controls(param.Parameterized):
    """A chain h_t = φ(w_h h_{t−1} + w_x x), and a fixed factor to set beside it."""

    w_h = param.Number(1.2, bounds=(-2.0, 2.0), step=0.05, doc="Recurrent weight.")
    w_x = param.Number(1.0, bounds=(-2.0, 2.0), step=0.05, doc="Input weight.")
    x = param.Number(0.06, bounds=(-3.0, 3.0), step=0.01, doc="Input, the same at every step.")
    t = param.Integer(60, bounds=(1, 60), step=1, doc="Number of steps T.")
    activation = param.Selector(default="tanh", objects=list(ACTIVATIONS), doc="Activation φ.")
    factor = param.Number(0.9, bounds=(0.5, 1.5), step=0.05, doc="Fixed factor, raised to the number of transitions.")


class Trace(NamedTuple):
    # Indexed by the step s = 0 … T−1.
    preactivation: np.ndarray  # (T,) z_s
    state: np.ndarray  # (T,) h_s
    slope: np.ndarray  # (T,) φ'(z_s)
    transition: np.ndarray  # (T,) ∂h_s/∂h_{s−1} = w_h φ'(z_s), signed
    product: np.ndarray  # (T,) |∂h_s/∂h_0|
    product_log10: np.ndarray  # (T,) FLOOR where the product is zero
    product_zero: np.ndarray  # (T,) 1 where a factor is exactly zero
    product_underflow: np.ndarray  # (T,) 1 where the product is too small for float64, though no factor is zero
    power: np.ndarray  # (T,) factor^s
    power_08: np.ndarray  # (T,) 0.8^s
    power_1: np.ndarray  # (T,) 1^s
    power_12: np.ndarray  # (T,) 1.2^s
    # Indexed by the distance d = 0 … T−1 back from the last step.
    backward: np.ndarray  # (T,) |∂h_{T−1}/∂h_{T−1−d}|
    input_gradient: np.ndarray  # (T,) |∂h_{T−1}/∂x_{T−1−d}|
    input_gradient_log10: np.ndarray  # (T,) FLOOR where the gradient is zero
    input_gradient_zero: np.ndarray  # (T,) 1 where a factor is exactly zero
    input_gradient_underflow: np.ndarray  # (T,) 1 where it is too small for float64, though no factor is zero
    average_gradient: np.ndarray  # (T,) |∂y/∂x_{T−1−d}| of the average y of the inputs
    chain_steps: np.ndarray  # (T,) steps from that input to h_{T−1}
    direct_steps: np.ndarray  # (T,) steps from that input to y


def compute(*, w_h, w_x, x, t, activation, factor) -> Trace:
    """The chain unrolled over `t` steps, what each step does to a small change, and what is left of it at the end."""
    preactivation, state = unroll(w_h, w_x, [x] * t, activation)
    slope = ACTIVATIONS[activation].slope(preactivation, state)
    transition = w_h * slope

    # Forward from h_0: the transition into h_0 starts at the fixed h_{−1} and belongs to no product.
    product = running_product(transition[1:])
    product_zero = zero_from(transition[1:])

    # Backward from h_{T−1}: the same transitions, last one first. An input enters through w_x and one slope.
    last_first = transition[:0:-1]  # (T−1,)
    entry = np.abs(w_x * slope[::-1])
    backward = running_product(last_first)
    input_gradient = backward * entry
    input_gradient_zero = zero_from(last_first) | (entry == 0)

    exponent = np.arange(t)
    return Trace(
        preactivation,
        state,
        slope,
        transition,
        product,
        log10_or_floor(product),
        product_zero.astype(float),
        ((product == 0) & ~product_zero).astype(float),
        factor**exponent,
        0.8**exponent,
        1.0**exponent,
        1.2**exponent,
        backward,
        input_gradient,
        log10_or_floor(input_gradient),
        input_gradient_zero.astype(float),
        ((input_gradient == 0) & ~input_gradient_zero).astype(float),
        np.full(t, 1.0 / t),
        exponent + 1.0,
        np.ones(t),
    )


def facts(trace: Trace) -> dict[str, float]:
    """Numbers the prose quotes by name: mostly ends of arrays whose length follows `t`."""
    return {
        "transitions": len(trace.state) - 1,
        "state_last": trace.state[-1],
        "slope_last": trace.slope[-1],
        "transition_last": trace.transition[-1],
        "product_last": trace.product[-1],
        "product_largest": trace.product.max(),
        "product_largest_step": trace.product.argmax(),
        "zeros": trace.product_zero.sum(),
        "underflows": trace.product_underflow.sum(),
        "power_last": trace.power[-1],
        "gradient_near": trace.input_gradient[0],
        "gradient_far": trace.input_gradient[-1],
        "gradient_orders": trace.input_gradient_log10[0] - trace.input_gradient_log10[-1],
        "average_each": trace.average_gradient[0],
    }


SECTION = Section("tanh_chain", Controls, compute, facts)
