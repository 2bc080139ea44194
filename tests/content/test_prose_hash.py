"""The hash by which a translation says which English text it was made from."""

import subprocess
import sys

from content import toc
from content.prose_hash import prose_hash


def test_the_hash_changes_with_the_english_text_and_with_nothing_else(tmp_path, monkeypatch):
    monkeypatch.setattr("content.prose_hash.FOLDER", tmp_path)
    (tmp_path / "sample").mkdir()
    english = tmp_path / "sample" / "en.md"
    english.write_text("One.", encoding="utf-8")
    before = prose_hash("sample")
    (tmp_path / "sample" / "uk.md").write_text("Один.", encoding="utf-8")
    assert prose_hash("sample") == before
    english.write_text("One", encoding="utf-8")
    assert prose_hash("sample") != before


def test_it_is_twelve_hex_digits_and_the_same_everywhere(tmp_path, monkeypatch):
    monkeypatch.setattr("content.prose_hash.FOLDER", tmp_path)
    (tmp_path / "sample").mkdir()
    (tmp_path / "sample" / "en.md").write_bytes(b"abc")
    assert prose_hash("sample") == "ba7816bf8f01"  # SHA-256 of "abc", FIPS 180-2, appendix B.1


def test_the_command_prints_it_for_each_section_named():
    done = subprocess.run(
        [sys.executable, "-m", "content.prose_hash", *toc.written()[:2]], capture_output=True, text=True, timeout=60
    )
    assert done.stdout.split() == [prose_hash(id) for id in toc.written()[:2]]
