"""How long one layer takes to read a sequence on this computer: recurrence, convolution, attention.

With PyTorch a GRU, a convolution and one head of attention as they are; without it the same in NumPy. One thread, one sequence,
forward only.
"""

from __future__ import annotations

import platform
import time
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Callable

import numpy as np

KINDS = ("recurrence", "convolution", "attention")
LENGTHS = (64, 128, 256, 512, 1024, 2048, 4096)  # tokens T
WIDTH = 64  # numbers a token D
TAPS = 3  # of the convolution
REPEATS = (5, 30)  # fewest and most calls that are timed
SECONDS = 0.3  # for one kind and length, after the calls that warm up


def measure(kind: str, length: int) -> list[float]:
    """Seconds that each of several forward passes of one layer took, (n,). Raises ValueError for another kind."""
    if kind not in KINDS:
        raise ValueError(f"{kind!r} is no kind of layer; choose one of {', '.join(KINDS)}")
    forward = (torch_layer if find_spec("torch") else numpy_layer)(kind, length)
    forward()
    times: list[float] = []
    end = time.perf_counter() + SECONDS
    while len(times) < REPEATS[0] or (len(times) < REPEATS[1] and time.perf_counter() < end):
        began = time.perf_counter()
        forward()
        times.append(time.perf_counter() - began)
    return times


def torch_layer(kind: str, length: int) -> Callable[[], object]:
    """A call that runs the layer once, in PyTorch on one thread."""
    import torch
    from torch.nn import functional

    torch.set_num_threads(1)
    tokens = torch.randn(1, length, WIDTH, generator=torch.Generator().manual_seed(0))
    if kind == "attention":
        head = tokens[None]  # (1, heads, T, D)
        run = lambda: functional.scaled_dot_product_attention(head, head, head)  # noqa: E731
    elif kind == "convolution":
        layer, columns = torch.nn.Conv1d(WIDTH, WIDTH, TAPS, padding="same"), tokens.transpose(1, 2).contiguous()
        run = lambda: layer(columns)  # noqa: E731
    else:
        layer = torch.nn.GRU(WIDTH, WIDTH, batch_first=True)
        run = lambda: layer(tokens)  # noqa: E731

    def forward():
        with torch.inference_mode():
            return run()

    return forward


def numpy_layer(kind: str, length: int) -> Callable[[], object]:
    """A call that runs the layer once, in NumPy."""
    rng = np.random.default_rng(0)
    tokens = rng.standard_normal((length, WIDTH), np.float32)
    weights = rng.standard_normal((WIDTH, TAPS * WIDTH), np.float32) / WIDTH
    if kind == "attention":

        def attend():
            scores = tokens @ tokens.T / np.float32(np.sqrt(WIDTH))  # (T, T)
            np.exp(scores - scores.max(axis=1, keepdims=True), out=scores)
            return scores @ tokens / scores.sum(axis=1, keepdims=True)

        return attend
    if kind == "convolution":
        padded = np.pad(tokens, ((TAPS // 2, TAPS // 2), (0, 0)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, TAPS, axis=0)  # (T, D, k)
        return lambda: windows.reshape(length, -1) @ weights.T

    def recur():
        from_input, state = tokens @ weights, np.zeros(WIDTH, np.float32)  # (T, 3D)
        for row in from_input:
            reset, update = 1 / (1 + np.exp(-(row[: 2 * WIDTH] + state @ weights[:, : 2 * WIDTH]))).reshape(2, WIDTH)
            candidate = np.tanh(row[2 * WIDTH :] + reset * (state @ weights[:, 2 * WIDTH :]))
            state = (1 - update) * candidate + update * state
        return state

    return recur


def computed_with() -> dict[str, str]:
    """What `measure` computes with here."""
    known = {"python": platform.python_version(), "numpy": np.__version__, "processor": platform.machine()}
    try:
        return known | {"torch": version("torch")}
    except PackageNotFoundError:
        return known
