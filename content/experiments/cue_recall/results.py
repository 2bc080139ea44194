"""Finished runs as JSON: how they are written, read and summarised; and the source's table beside them. No torch."""

from __future__ import annotations

import base64
import json
import platform
import tomllib
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import numpy as np

from content.experiments.cue_recall.checkpoint import CURVES, Checkpoint
from content.experiments.cue_recall.configuration import Configuration
from content.experiments.cue_recall.weights import parameter_count

FOLDER = Path(__file__).parents[1] / "results"
STORED = FOLDER / "cue_recall.json"
SOURCE = FOLDER / "cue_recall_source.toml"
DIGITS = 5  # significant digits of the stored curves


class Run(NamedTuple):
    """One finished run."""

    configuration: Configuration
    curves: dict[str, np.ndarray]  # name from CURVES -> (epochs,)
    best_epoch: int  # counted from 1; its weights were tested and are stored
    test_accuracy: float  # share of test episodes whose cue was recalled
    test_cross_entropy: float  # nats
    weights: np.ndarray  # (P,) float32
    seconds: float  # its share of the time of the runs trained together with it
    versions: dict[str, str]  # of Python and NumPy (and torch, if it gave the gradients), and the engine


class Cell(NamedTuple):
    """One cell of the table: test accuracy over seeds. The spread is over initial weights; it is no confidence interval."""

    mean: float
    sd: float  # sample standard deviation; 0 for a single run
    runs: int


def versions(engine: str = "numpy") -> dict[str, str]:
    """What a run was computed with."""
    known = {"python": platform.python_version(), "numpy": np.__version__, "engine": engine}
    return known | ({"torch": version("torch")} if engine == "torch" else {})


def from_checkpoint(checkpoint: Checkpoint, versions: dict[str, str]) -> list[Run]:
    """The Runs of a finished checkpoint."""
    runs = len(checkpoint.configurations)
    return [
        Run(
            configuration,
            dict(zip(CURVES, checkpoint.curves[:, :, index], strict=True)),
            int(checkpoint.best_epoch[index]),
            float(checkpoint.test[0, index]),
            float(checkpoint.test[1, index]),
            checkpoint.best_weights[index],
            checkpoint.seconds / runs,
            versions,
        )
        for index, configuration in enumerate(checkpoint.configurations)
    ]


def to_dict(run: Run) -> dict:
    """The run as JSON can hold it; curves rounded to five significant digits, weights as base64 of little-endian float32."""
    return {
        "key": run.configuration.key(),
        "configuration": run.configuration.to_dict(),
        "curves": {name: [float(f"{value:.{DIGITS}g}") for value in curve] for name, curve in run.curves.items()},
        "best_epoch": run.best_epoch,
        "test_accuracy": run.test_accuracy,
        "test_cross_entropy": run.test_cross_entropy,
        "weights": base64.b64encode(np.asarray(run.weights, "<f4").tobytes()).decode(),
        "seconds": round(run.seconds, 3),
        "versions": run.versions,
    }


def decode(text: str) -> np.ndarray:
    """Weights (P,) from their base64 text. Raises ValueError with one line when it is none."""
    try:
        return np.frombuffer(base64.b64decode(text, validate=True), "<f4").astype(np.float32)
    except ValueError as error:
        raise ValueError(f"broken run: weights are not base64 of float32 numbers ({error})") from error


def from_dict(values: dict) -> Run:
    """Read what `to_dict` wrote. Raises ValueError with one line when something is missing or of the wrong size."""
    try:
        configuration = Configuration.from_dict(values["configuration"])
        weights = decode(values["weights"])
        curves = {name: np.array(values["curves"][name], float) for name in CURVES}
        run = Run(configuration, curves, weights=weights, **{
            name: values[name] for name in ("best_epoch", "test_accuracy", "test_cross_entropy", "seconds", "versions")
        })  # fmt: skip
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"broken run: {error!r}") from error
    if weights.shape != (parameter_count(configuration),):
        raise ValueError(f"broken run: {weights.size} weights, expected {parameter_count(configuration)}")
    if any(curve.shape != (configuration.epochs,) for curve in curves.values()):
        raise ValueError(f"broken run: a curve does not have {configuration.epochs} epochs")
    return run


def save(runs: list[Run], path: Path, command: str) -> None:
    """Write runs as JSON, one run a line; `command` says what made them."""
    lines = ",\n".join(json.dumps(to_dict(run), separators=(",", ":")) for run in runs)
    Path(path).write_text(f'{{"made_by": {json.dumps(command)}, "runs": [\n{lines}\n]}}\n', encoding="utf-8")


def load(path: Path = STORED) -> list[Run]:
    """The Runs in a file that `save` wrote; the stored table by default. Raises ValueError with one line when it is broken."""
    try:
        return [from_dict(values) for values in json.loads(Path(path).read_text(encoding="utf-8"))["runs"]]
    except (json.JSONDecodeError, KeyError, TypeError) as error:
        raise ValueError(f"broken file of runs: {error!r}") from error


def summarise(runs: list[Run]) -> dict[tuple[str, int], Cell]:
    """Test accuracy by (model, delay): {(model, delay): Cell}, in the order of the runs."""
    accuracies = {}
    for run in runs:
        accuracies.setdefault((run.configuration.model, run.configuration.delay), []).append(run.test_accuracy)
    return {
        place: Cell(float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) > 1 else 0.0, len(values))
        for place, values in accuracies.items()
    }


def source_table() -> dict[tuple[str, int], Cell]:
    """The table as the source prints it: {(model, delay): Cell}. Cited, not computed here."""
    cited = tomllib.loads(SOURCE.read_text(encoding="utf-8"))
    return {
        (model, delay): Cell(mean, sd, cited["runs"])
        for model, cells in cited["accuracy"].items()
        for delay, (mean, sd) in zip(cited["delays"], cells, strict=True)
    }
