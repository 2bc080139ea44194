"""What one training run of the cue-recall experiment is: a validated, frozen value with a stable key."""

import hashlib
import json
import math
from dataclasses import asdict, dataclass, fields, replace

MODELS = ("rnn", "gru", "transformer")
DELAYS = (8, 16, 32)
SEEDS = (6206, 6207, 6208)
BATCHES = (32, 64, 128, 256, 512)

# Widths that bring the three models to about 2,000 parameters each.
SIZES = {
    "rnn": {"embedding": 16, "hidden": 32},
    "gru": {"embedding": 16, "hidden": 17},
    "transformer": {"width": 12, "heads": 2, "mlp": 24},
}
LAYER_NORM_EPSILON = 1e-5  # added to the variance, as PyTorch does
POSITIONS = 36  # learned positions of the Transformer: the inputs of an episode with delay 32

# Field: (smallest, largest) value allowed.
BOUNDS = {
    "delay": (1, 64),
    "seed": (0, 2**31 - 1),
    "epochs": (1, 500),
    "learning_rate": (1e-5, 1.0),
    "clip": (1e-3, 1e3),
    "train_size": (32, 16_384),
    "validation_size": (32, 16_384),
    "test_size": (32, 16_384),
    "data_seed": (0, 2**31 - 1),
}


@dataclass(frozen=True)
class Configuration:
    """One run: model, delay and seed of the initial weights; how to train; how much data.

    `data_seed` draws the episodes and the order of the batches, so that runs which differ only in `model` or `seed` see
    the same batches in the same order. Sizes count episodes, `learning_rate` is Adam's, `clip` bounds the gradient's norm.

    Raises ValueError with one line saying which field was wrong and what is allowed.

    >>> Configuration("gru", delay=16).key()
    '9f6516f6848b7656'
    >>> Configuration(delay=65)
    Traceback (most recent call last):
    ValueError: delay: 65 is not allowed; choose a whole number from 1 to 64
    """

    model: str = "transformer"
    delay: int = 8
    seed: int = SEEDS[0]
    epochs: int = 60
    batch: int = 128
    learning_rate: float = 0.003
    clip: float = 1.0
    train_size: int = 4096
    validation_size: int = 512
    test_size: int = 1024
    data_seed: int = 2026

    def __post_init__(self):
        if self.model not in MODELS:
            raise ValueError(f"model: {self.model!r} is not allowed; choose one of {', '.join(MODELS)}")
        if type(self.batch) is not int or self.batch not in BATCHES:
            raise ValueError(f"batch: {self.batch!r} is not allowed; choose one of {', '.join(map(str, BATCHES))}")
        for field in fields(self):
            if field.name in BOUNDS:
                object.__setattr__(self, field.name, _checked(field.name, field.type, getattr(self, field.name)))
        if self.train_size % self.batch:
            raise ValueError(f"train_size: {self.train_size} is not allowed; choose a multiple of the batch, {self.batch}")

    @classmethod
    def from_dict(cls, values: dict) -> "Configuration":
        """Configuration from a mapping of field names (from JSON, a form or a file); missing fields keep their defaults.

        Raises ValueError with one line for an unknown field or a value that is not allowed.
        """
        if not isinstance(values, dict):
            raise ValueError(f"a configuration is a mapping of field names, not {type(values).__name__}")
        names = [field.name for field in fields(cls)]
        for name in values:
            if name not in names:
                raise ValueError(f"{name!r} is no field of a configuration; choose from {', '.join(names)}")
        return cls(**values)

    def to_dict(self) -> dict:
        """The fields as a dict that JSON can hold; `from_dict` reads it back."""
        return asdict(self)

    def key(self) -> str:
        """Sixteen hex digits that name this run: equal configurations have equal keys, on every machine."""
        return hashlib.sha256(json.dumps(self.to_dict(), sort_keys=True).encode()).hexdigest()[:16]

    def with_seed(self, seed: int) -> "Configuration":
        """The same run from other initial weights."""
        return replace(self, seed=seed)

    @property
    def inputs(self) -> int:
        """Tokens the model reads in one episode: all but the closing EOS."""
        return self.delay + 4

    @property
    def positions(self) -> int:
        """Rows of the Transformer's position table: 36, or more when the episode is longer."""
        return max(POSITIONS, self.inputs)

    @property
    def steps_per_epoch(self) -> int:
        """Updates in one pass over the training episodes."""
        return self.train_size // self.batch

    @property
    def total_steps(self) -> int:
        """Updates in the whole run."""
        return self.epochs * self.steps_per_epoch


def table() -> list[Configuration]:
    """The 27 configurations of the stored table: three models, three delays, three seeds."""
    return [Configuration(model, delay, seed) for model in MODELS for delay in DELAYS for seed in SEEDS]


def _checked(name, kind, value):
    """The value as `kind` (int or float) when it lies within BOUNDS; otherwise ValueError."""
    low, high = BOUNDS[name]
    whole = kind is int
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not math.isfinite(value) or not low <= value <= high or (whole and value != int(value)):
        wanted = "whole number" if whole else "number"
        raise ValueError(f"{name}: {value!r} is not allowed; choose a {wanted} from {low:g} to {high:,}".replace(",", ""))
    return kind(value)
