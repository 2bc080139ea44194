"""Files of the front end, kept in memory, compressed once and cached by browsers for good.

Every address carries a digest of all files, so a new version is a new address.
"""

from __future__ import annotations

import gzip
import hashlib
from functools import cache
from pathlib import Path
from typing import NamedTuple

from bokeh.settings import settings

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = {"static": ROOT / "app" / "static", "widgets": ROOT / "widgets"}
SERVED = {".js", ".css", ".woff2", ".svg"}
TYPES = {".js": "text/javascript", ".css": "text/css", ".woff2": "font/woff2", ".svg": "image/svg+xml"}


class Asset(NamedTuple):
    """A file as it is sent."""

    type: str
    plain: bytes
    gzipped: bytes | None  # None where it would not be smaller


def bokeh_js() -> Path:
    """The minified BokehJS that belongs to the installed Bokeh."""
    return Path(settings.bokehjs_path()) / "js" / "bokeh.min.js"


@cache
def paths() -> dict[str, Path]:
    """Every served file by the name it has below `/assets/<digest>/`."""
    found = {"bokeh.min.js": bokeh_js()}
    for name, folder in FOLDERS.items():
        for path in sorted(folder.rglob("*")):
            if path.suffix in SERVED and path.is_file():
                found[f"{name}/{path.relative_to(folder).as_posix()}"] = path
    return found


@cache
def digest() -> str:
    """Twelve hex digits that change with any served file."""
    mix = hashlib.sha256()
    for name, path in paths().items():
        mix.update(name.encode())
        mix.update(hashlib.sha256(path.read_bytes()).digest())
    return mix.hexdigest()[:12]


@cache
def read(name: str) -> Asset:
    """A served file. Raises KeyError for any other name."""
    path = paths()[name]
    plain = path.read_bytes()
    squeezed = gzip.compress(plain, 9, mtime=0) if path.suffix != ".woff2" else plain
    return Asset(TYPES[path.suffix], plain, squeezed if len(squeezed) < len(plain) else None)


def url(name: str) -> str:
    """Address of a served file, relative to the page at `/app`. Raises KeyError for an unknown name."""
    paths()[name]
    return f"assets/{digest()}/{name}"
