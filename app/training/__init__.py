"""Training on the server: a desk takes readers' wishes, a cluster of worker processes does the work, a folder keeps the runs.

Nothing is started before the first wish. The web process never imports torch.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import Any, Callable, Mapping

from app import metrics
from app.training.cluster import Cluster
from app.training.desk import Desk
from app.training.meter import Meter
from content.controls import shown
from content.experiments.cue_recall.configuration import Configuration, table

KINDS = ("train", "watch", "cancel", "pause", "measure")
PAGE, MEASURED_PAGE = "cue_recall", "connections"
READER = re.compile(r"[A-Za-z0-9-]{8,64}")
KEY = re.compile(r"[0-9a-f]{16}")
MOST_WATCHED = 64  # runs in one message
CHOICES = ("model", "delay", "seed", "epochs", "learning_rate", "clip")  # controls that make a run

_desk: Desk | None = None
_meter: Meter | None = None
_on_finished: list[Callable[[], Any]] = []


class Malformed(ValueError):
    """A message that cannot be taken; the text says in one line what was wrong."""


def the_desk() -> Desk:
    """The desk of this process, set up at the first message."""
    global _desk
    if _desk is None:
        _desk = Desk(Cluster(os.environ.get("DASK_SCHEDULER_ADDRESS") or None))
        _desk.on_finished = lambda: [call() for call in _on_finished]
        metrics.TRAINING_WAITING.set_function(lambda: _desk.count("queued") if _desk else 0)
        metrics.TRAINING_RUNNING.set_function(lambda: _desk.count("running") if _desk else 0)
    return _desk


def the_meter() -> Meter:
    """The meter of this process, at the same cluster as its desk."""
    global _meter
    if _meter is None or _meter.desk is not the_desk():
        _meter = Meter(the_desk())
    return _meter


def on_finished(call: Callable[[], Any]) -> None:
    """`call` is called whenever this process learns of a finished run."""
    _on_finished.append(call)


def stop() -> None:
    """Keeps what is done and ends the work, for a server that goes down."""
    global _desk
    if _desk is not None:
        _desk.end()
        _desk = None


def answer(message: Mapping[str, Any], values: Mapping[str, Any] | None) -> dict[str, Any]:
    """The answer to a page's message of one of KINDS; `values` are its controls, checked. Raises Malformed."""
    if message["kind"] == "measure" and message["page"] == MEASURED_PAGE:
        if not isinstance(message.get("start"), bool):
            raise Malformed("start is true or false")
        return the_meter().ask(message["start"])
    if message["page"] != PAGE or message["kind"] == "measure":
        raise Malformed(f"section {message['page']} has nothing to {message['kind']}")
    reader = message.get("reader")
    if not isinstance(reader, str) or not READER.fullmatch(reader):
        raise Malformed("reader is a text of 8 to 64 letters, digits and hyphens")
    kind, whole_table = message["kind"], message.get("table", False)
    if not isinstance(whole_table, bool):
        raise Malformed("table is true or false")
    if kind == "watch":
        return the_desk().watch(reader, _watched(message.get("runs")))
    if kind == "train":
        configuration = _configuration(values or {})
        if not whole_table:
            return the_desk().train(reader, configuration)
        common = {name: getattr(configuration, name) for name in ("epochs", "learning_rate", "clip")}
        return the_desk().train_table(reader, [replace(place, **common) for place in table()])
    key = message.get("run")
    if not isinstance(key, str) or not KEY.fullmatch(key):
        raise Malformed("run is the key of a run, 16 hex digits")
    return the_desk().stop(reader, key, {"cancel": "cancelled", "pause": "paused"}[kind], table=whole_table)


def _configuration(values):
    try:
        return Configuration.from_dict({name: values[name] for name in CHOICES})
    except KeyError as missing:
        raise Malformed(f"the control {missing} is missing") from None
    except ValueError as problem:
        raise Malformed(str(problem)) from None


def _watched(seen):
    if not isinstance(seen, dict) or len(seen) > MOST_WATCHED:
        raise Malformed(f"runs is an object of at most {MOST_WATCHED} keys and versions")
    for key, version in seen.items():
        if not KEY.fullmatch(key) or isinstance(version, bool) or not isinstance(version, int | float):
            raise Malformed(f"{shown(key)} with {shown(version)} is not the key of a run with a version")
    return seen
