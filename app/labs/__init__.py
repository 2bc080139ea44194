"""One module a section: which views show which arrays."""

from __future__ import annotations

import importlib
from functools import cache

from widgets.lab import Lab


@cache
def load(id: str) -> Lab:
    """The lab of a section."""
    return importlib.import_module(f"app.labs.{id}").LAB
