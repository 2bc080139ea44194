"""The files of the project, as they would be committed."""

from __future__ import annotations

import ast
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OURS = ("content", "widgets", "app")


@cache
def tracked() -> tuple[Path, ...]:
    """Files that git knows or would add; without git, all but what it would ignore."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"], cwd=ROOT, capture_output=True
    )
    if listed.returncode == 0:
        paths = [ROOT / name for name in listed.stdout.decode().split("\0") if name]
    else:
        paths = [
            path
            for path in ROOT.rglob("*")
            if not {".git", ".venv", ".venv-next", "__pycache__", ".hypothesis", ".pytest_cache"} & set(path.parts)
        ]
    return tuple(path for path in paths if path.is_file())


@cache
def text_of(path: Path) -> str:
    """The text of a file; empty for one that is not text."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""


@cache
def tree_of(path: Path) -> ast.Module:
    """A module's syntax tree."""
    return ast.parse(text_of(path))


@cache
def modules(*folders: str) -> tuple[Path, ...]:
    """Python files below these folders of the project."""
    return tuple(path for path in tracked() if path.suffix == ".py" and path.relative_to(ROOT).parts[0] in folders)
