"""The words of the frame: the same keys and placeholders in every language, a word for everything the page asks for."""

import re
from collections import Counter
from pathlib import Path
from string import Formatter

import pytest

from content import toc
from content.strings import LANGUAGES, STRINGS

ROOT = Path(__file__).parents[2]
MODULES = [*(ROOT / "widgets").glob("*.js"), *(ROOT / "app" / "static").glob("*.js")]
# Words the modules put together from a beginning and what is known to follow.
MADE = {
    "copy_": ("numpy", "torch"),
    "answer_": ("right", "wrong", "bad"),
    "step_": ("less", "more", "same"),
    "key_": ("help", "lab", "projector", "reset", "previous", "next", "pin", "arrows", "views"),
}


def flat(words, before=""):
    for key, value in words.items():
        if isinstance(value, str):
            yield before + key, value
        else:
            yield from flat(value, f"{before}{key}.")


def placeholders(text):
    return Counter(name for _, name, _, _ in Formatter().parse(text) if name is not None)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_the_same_keys_in_the_same_order(language):
    assert [key for key, _ in flat(STRINGS[language])] == [key for key, _ in flat(STRINGS["en"])]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_has_the_placeholders_of_the_english_one(language):
    english = dict(flat(STRINGS["en"]))
    for key, text in flat(STRINGS[language]):
        assert text.strip() == text != "", key
        assert placeholders(text) == placeholders(english[key]), key


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_part_and_every_planned_section_has_its_title(language):
    assert set(STRINGS[language]["parts"]) == set(toc.PARTS)
    assert list(STRINGS[language]["plan"]) == list(toc.ORDER)


@pytest.mark.parametrize("language", [language for language in LANGUAGES if language != "en"])
def test_a_translation_is_written_in_its_own_letters(language):
    english = dict(flat(STRINGS["en"]))
    same = [key for key, text in flat(STRINGS[language]) if text == english[key]]
    assert not same, f"not translated: {same}"


def test_ukrainian_and_russian_letters_stay_apart():
    for key, text in flat(STRINGS["uk"]):
        assert not set("ыэёъЫЭЁЪ") & set(text), key
    for key, text in flat(STRINGS["ru"]):
        assert not set("іїєґІЇЄҐ") & set(text), key


def test_no_text_shouts_or_holds_markup():
    for language in LANGUAGES:
        for key, text in flat(STRINGS[language]):
            assert "!" not in text and not re.search(r"<\w|&\w+;", text), f"{language} {key}"


def test_every_word_that_a_module_of_the_page_asks_for_exists():
    for module in MODULES:
        text = module.read_text(encoding="utf-8")
        asked = set(re.findall(r"\bwords\.([a-z_]+)\b(?!\()", text)) | set(re.findall(r"\bwords\[\"([a-z_]+)\"\]", text))
        missing = [key for key in asked if not isinstance(STRINGS["en"].get(key), str)]
        assert not missing, f"{module.name}: {missing}"
        for beginning in re.findall(r"\bwords\[`([a-z_]*)\$", text):
            assert beginning in MADE, f"{module.name} makes words from {beginning!r}; name what may follow in this test"


def test_every_word_that_is_put_together_exists():
    for beginning, endings in MADE.items():
        for ending in endings:
            assert beginning + ending in STRINGS["en"]


def test_what_the_help_lists_is_what_there_are_words_for():
    page = (ROOT / "app" / "static" / "page.js").read_text(encoding="utf-8")
    (keys,) = re.findall(r"const keys = (\[\[.*?\]\]);", page)
    assert {name for _, name in re.findall(r'\["([^"]+)", "([a-z]+)"\]', keys)} == set(MADE["key_"])


def test_the_languages_are_read_only():
    with pytest.raises(TypeError):
        STRINGS["en"]["book"] = "Another"
