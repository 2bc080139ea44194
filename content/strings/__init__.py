"""The words of the frame in three languages: buttons, notices, titles of what is planned."""

from __future__ import annotations

import tomllib
from pathlib import Path
from types import MappingProxyType
from typing import Mapping

LANGUAGES = {"en": "English", "ru": "Русский", "uk": "Українська"}


def _read(language: str) -> Mapping[str, str]:
    return MappingProxyType(tomllib.loads((Path(__file__).parent / f"{language}.toml").read_text(encoding="utf-8")))


STRINGS: Mapping[str, Mapping] = MappingProxyType({language: _read(language) for language in LANGUAGES})
