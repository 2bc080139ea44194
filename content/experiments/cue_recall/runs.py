"""Runs kept in the data directory, one file each: found, read, written whole, set aside when broken. No torch.

The directory is `runs` under BOOK_DATA (default `data`). A file holds one line of JSON, what the run was computed with, and
then the checkpoint; an unfinished run and a finished one look the same.
"""

from __future__ import annotations

import json
import logging
import os
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from content.experiments.cue_recall import results
from content.experiments.cue_recall.checkpoint import Checkpoint, from_bytes, to_bytes
from content.experiments.cue_recall.configuration import Configuration
from content.experiments.cue_recall.results import Run

log = logging.getLogger(__name__)

MOST = 2000  # files; the oldest make room, so that the directory stays below 100 MB


class Kept(NamedTuple):
    """A run as it was found in the data directory."""

    checkpoint: Checkpoint
    versions: dict[str, str]  # of Python and NumPy, and the engine


def folder() -> Path:
    """Where runs are kept; it need not exist."""
    return Path(os.environ.get("BOOK_DATA") or "data") / "runs"


def run_path(configuration: Configuration) -> Path:
    """The file of this run."""
    return folder() / f"{configuration.key()}.run"


def find_run(configuration: Configuration) -> Run | None:
    """The finished run of this configuration, from the stored table or the data directory; None when there is none.

    Quick when asked again: a file is read once, as long as it does not change.
    """
    stored = stored_runs().get(configuration.key())
    if stored:
        return stored
    kept = read(configuration)
    return results.from_checkpoint(kept.checkpoint, kept.versions)[0] if kept and kept.checkpoint.finished else None


@cache
def stored_runs() -> dict[str, Run]:
    """The runs of the stored table by their key."""
    return {run.configuration.key(): run for run in results.load()}


def read(configuration: Configuration) -> Kept | None:
    """The run of this configuration in the data directory, finished or not. A broken file is set aside and said in the log."""
    path = run_path(configuration)
    try:
        status = path.stat()
        return _read(path, configuration, status.st_mtime_ns, status.st_size)
    except FileNotFoundError:
        return None
    except OSError as problem:
        log.warning("run %s cannot be read: %s", path.name, problem.strerror)
        return None
    except ValueError as problem:
        _set_aside(path, problem)
        return None


@lru_cache(maxsize=128)
def _read(path, configuration, _changed, _size):
    return parse(path.read_bytes(), configuration)


def parse(content: bytes, configuration: Configuration) -> Kept:
    """What `pack` made. Raises ValueError with one line when it is broken or another run's."""
    head, _, rest = content.partition(b"\n")
    checkpoint = from_bytes(rest)
    if checkpoint.configurations != (configuration,):
        raise ValueError("the file holds another run")
    versions = json.loads(head)
    if not isinstance(versions, dict):
        raise ValueError("its first line does not say what it was computed with")
    return Kept(checkpoint, versions)


def pack(checkpoint: bytes, versions: dict[str, str]) -> bytes:
    """The content of a run's file from a checkpoint's bytes."""
    return json.dumps(versions).encode() + b"\n" + checkpoint


def _set_aside(path, problem):
    aside = path.with_suffix(".broken")
    try:
        path.replace(aside)
    except OSError as failure:
        log.warning("run %s is broken (%s) and cannot be set aside: %s", path.name, problem, failure.strerror)
    else:
        log.warning("run %s is broken (%s); set aside as %s", path.name, problem, aside.name)


def write(configuration: Configuration, checkpoint: bytes | Checkpoint, versions: dict[str, str]) -> None:
    """Keep a run. Whoever reads meanwhile finds the old file or the new one, also after a power cut. Raises OSError."""
    content = pack(checkpoint if isinstance(checkpoint, bytes) else to_bytes(checkpoint), versions)
    path = run_path(configuration)
    _make_room()
    write_whole(path, content)


def check_writable() -> None:
    """Raises OSError when runs cannot be kept."""
    folder().mkdir(parents=True, exist_ok=True)
    probe = folder() / "probe"
    write_whole(probe, b"?")
    probe.unlink(missing_ok=True)


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that it is the old one or the new one, never half. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except OSError:
        part.unlink(missing_ok=True)
        raise


def _make_room():
    """Delete the oldest files when there are too many."""
    if not folder().is_dir():
        return
    with os.scandir(folder()) as entries:
        files = [entry for entry in entries if entry.is_file()]
    if len(files) < MOST:
        return
    ages = []
    for file in files:
        try:
            ages.append((file.stat().st_mtime_ns, file.path))
        except FileNotFoundError:
            pass  # another process made room
    for _, path in sorted(ages)[: len(ages) - MOST * 9 // 10]:
        Path(path).unlink(missing_ok=True)
