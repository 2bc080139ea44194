"""The weights of the three models as one flat vector with names: shapes, counts, initial values.

The names are those of the PyTorch modules in `model`, so `load_state_dict` takes `unpack`'s result as it is.
"""

from __future__ import annotations

import math

import numpy as np

from content.experiments.cue_recall.configuration import SIZES, Configuration
from content.experiments.cue_recall.data import VOCABULARY

GATES = {"rnn": 1, "gru": 3}  # rows of a recurrent weight matrix, in units of the hidden width


def shapes(configuration: Configuration) -> dict[str, tuple[int, ...]]:
    """Name and shape of every weight array, in the order of the flat vector.

    Both recurrent models follow PyTorch and carry two bias vectors, one beside the input weights and one beside the
    hidden weights: with a biased output layer these give exactly 1,943 and 2,023 parameters.
    """
    size, vocabulary = SIZES[configuration.model], len(VOCABULARY)
    if configuration.model == "transformer":
        width, mlp = size["width"], size["mlp"]
        return {
            "embedding.weight": (vocabulary, width),
            "position.weight": (configuration.positions, width),
            "block.self_attn.in_proj_weight": (3 * width, width),
            "block.self_attn.in_proj_bias": (3 * width,),
            "block.self_attn.out_proj.weight": (width, width),
            "block.self_attn.out_proj.bias": (width,),
            "block.linear1.weight": (mlp, width),
            "block.linear1.bias": (mlp,),
            "block.linear2.weight": (width, mlp),
            "block.linear2.bias": (width,),
            "block.norm1.weight": (width,),
            "block.norm1.bias": (width,),
            "block.norm2.weight": (width,),
            "block.norm2.bias": (width,),
            "norm.weight": (width,),
            "norm.bias": (width,),
            "head.weight": (vocabulary, width),
            "head.bias": (vocabulary,),
        }
    embedding, hidden = size["embedding"], size["hidden"]
    rows = GATES[configuration.model] * hidden
    return {
        "embedding.weight": (vocabulary, embedding),
        "cell.weight_ih_l0": (rows, embedding),
        "cell.weight_hh_l0": (rows, hidden),
        "cell.bias_ih_l0": (rows,),
        "cell.bias_hh_l0": (rows,),
        "head.weight": (vocabulary, hidden),
        "head.bias": (vocabulary,),
    }


def parameter_count(configuration: Configuration) -> int:
    """Number of trained parameters.

    >>> from content.experiments.cue_recall.configuration import Configuration
    >>> [parameter_count(Configuration(model)) for model in ("rnn", "gru", "transformer")]
    [1943, 2023, 1915]
    """
    return sum(math.prod(shape) for shape in shapes(configuration).values())


def unpack(configuration: Configuration, vector: np.ndarray) -> dict[str, np.ndarray]:
    """Named views into flat vectors: (..., P) gives a dict of arrays (..., *shape); writing to them writes the vector."""
    named, start = {}, 0
    for name, shape in shapes(configuration).items():
        stop = start + math.prod(shape)
        named[name] = vector[..., start:stop].reshape(*vector.shape[:-1], *shape)
        start = stop
    return named


def initial_weights(configuration: Configuration, dtype: type = np.float32) -> np.ndarray:
    """Initial weights as one flat vector (P,): what `torch.manual_seed(seed)` gives a freshly built module of `model`.

    Embeddings: standard normal. Recurrent weights and biases: uniform within 1/√hidden. Linear layers: uniform within
    1/√fan-in. Attention's input projection: Xavier uniform; attention's biases 0. LayerNorm: gain 1, shift 0.
    """
    draws = MersenneTwister(configuration.seed)
    vector = np.zeros(parameter_count(configuration), dtype)
    named = unpack(configuration, vector)
    for name in _order_of_drawing(configuration):
        array = named[name]
        if name in ("embedding.weight", "position.weight"):
            array[...] = draws.normal(array.shape)
        elif "norm" in name:
            array[...] = name.endswith("weight")
        else:
            array[...] = draws.uniform(array.shape, _bound(configuration, name, named))
        if name == "block.self_attn.out_proj.bias":
            array[...] = 0  # drawn with its layer, then set to zero by the attention
    return vector


class MersenneTwister:
    """The random numbers of PyTorch's CPU generator, float32, without PyTorch: `torch.manual_seed(seed)`, then one call a tensor.

    Source: PyTorch 2.13, aten/src/ATen/core/DistributionsHelper.h and native/cpu/DistributionTemplates.h.
    """

    def __init__(self, seed: int):
        self.generator = np.random.RandomState(seed)  # the same MT19937 with the same seeding

    def uniform(self, shape: int | tuple[int, ...], bound: float | None = None) -> np.ndarray:
        """Uniform within ± bound, or in [0, 1) without one: the low 24 bits of each 32-bit draw."""
        bits = self.generator.randint(0, 2**32, size=shape, dtype=np.uint32) & np.uint32(2**24 - 1)
        share = bits * 2.0**-24
        if bound is not None:
            bound = float(np.float32(bound))
            share = share * (2 * bound) - bound
        return share.astype(np.float32)

    def normal(self, shape: tuple[int, ...]) -> np.ndarray:
        """Standard normal by Box and Muller: eight radii and eight angles make sixteen numbers. At least 16 numbers."""
        size = math.prod(shape)
        numbers = self.uniform(size)
        whole = size // 16 * 16
        numbers[:whole] = _box_muller(numbers[:whole])
        if whole < size:
            numbers[-16:] = _box_muller(self.uniform(16))  # the last sixteen are drawn again
        return numbers.reshape(shape)


def _box_muller(uniform):
    radius, angle = uniform.reshape(-1, 2, 8).swapaxes(0, 1)  # (n/16, 8) each
    radius, angle = np.sqrt(-2 * np.log(1 - radius)), np.float32(2 * math.pi) * angle
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1).ravel()


def _order_of_drawing(configuration):
    """Names in the order in which PyTorch's constructors draw: attention draws its output projection first."""
    names = [name for name in shapes(configuration) if name != "block.self_attn.in_proj_bias"]
    if configuration.model == "transformer":
        names.remove("block.self_attn.in_proj_weight")
        names.insert(names.index("block.self_attn.out_proj.bias") + 1, "block.self_attn.in_proj_weight")
    return names


def _bound(configuration, name, named):
    """Half width of the uniform distribution that `name` is drawn from."""
    if name.startswith("cell."):
        return 1 / math.sqrt(SIZES[configuration.model]["hidden"])
    if name == "block.self_attn.in_proj_weight":
        return math.sqrt(6 / sum(named[name].shape))
    fan_in = named[name.replace("bias", "weight")].shape[1]
    return 1 / math.sqrt(fan_in)
