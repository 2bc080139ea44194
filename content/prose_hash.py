"""`python -m content.prose_hash SECTION` prints the hash that a translation of this section carries as `source:`."""

from __future__ import annotations

import hashlib
import sys

from content.toc import FOLDER


def prose_hash(id: str) -> str:
    """First 12 hex digits of the SHA-256 of a section's English text."""
    return hashlib.sha256((FOLDER / id / "en.md").read_bytes()).hexdigest()[:12]


if __name__ == "__main__":
    for id in sys.argv[1:]:
        print(prose_hash(id))
