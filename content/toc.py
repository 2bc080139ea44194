"""The book in order: parts and section ids. The one registry; a section with a folder is written, the rest is planned."""

from __future__ import annotations

import importlib
from functools import cache
from pathlib import Path

from content.section import Section

PARTS: dict[str, tuple[str, ...]] = {
    "recurrence": (
        "available_input",
        "scalar_rnn",
        "tanh_chain",
        "vector_rnn",
        "clipping",
        "gates",
        "rnn_in_torch",
    ),
    "attention": (
        "connections",
        "tokens",
        "weighted_average",
        "three_tokens",
        "one_head",
        "scaling",
        "masks",
        "heads",
    ),
    "encoder": (
        "order_blindness",
        "position",
        "encoder_block",
        "norm_placement",
        "architectures",
        "image_tokens",
    ),
    "practice": (
        "task_heads",
        "next_token",
        "generation",
        "cue_recall",
        "copying",
        "reversal",
        "bag_of_words",
        "misconceptions",
    ),
}
FOLDER = Path(__file__).parent / "sections"
ORDER = tuple(id for part in PARTS.values() for id in part)


@cache
def written() -> tuple[str, ...]:
    """Ids of the sections that can be read, in the order of the book."""
    return tuple(id for id in ORDER if (FOLDER / id / "en.md").exists())


@cache
def load(id: str) -> Section:
    """The section with this id. Raises KeyError when there is none (yet)."""
    if id not in written():
        raise KeyError(id)
    return importlib.import_module(f"content.sections.{id}.compute").SECTION


def part_of(id: str) -> str:
    """Key of the part that holds a section."""
    return next(part for part, ids in PARTS.items() if id in ids)


def neighbours(id: str) -> tuple[str | None, str | None]:
    """The written sections before and after this one."""
    ids = written()
    at = ids.index(id)
    return (ids[at - 1] if at else None, ids[at + 1] if at + 1 < len(ids) else None)
