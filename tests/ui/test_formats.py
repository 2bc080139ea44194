"""The page writes and reads numbers by the same rules as the server: widgets/format.js against content/numbers.py."""

from __future__ import annotations

import math
from itertools import product

import numpy as np

from content.numbers import read_number, write_number
from tests.ui.reader import LANGUAGES, Reader

FORMS = ("0", "1", "2", "3", "4", "6", "1g", "2g", "3g", "4g", "6g", "e", "full")
WRITE = """async ({url, values, forms, languages}) => {
  const {writeNumber} = await import(url);
  const number = (text) => (text === "inf" ? Infinity : text === "-inf" ? -Infinity : Number(text));
  return values.map((text) => forms.map((form) => languages.map((language) => writeNumber(number(text), form, language))));
}"""
READ = """async ({url, texts}) => {
  const {readNumber} = await import(url);
  return texts.map((text) => { const number = readNumber(text); return Number.isFinite(number) ? String(number) : null; });
}"""


def numbers() -> list[float]:
    """Some three hundred: zeros, ties, carries, neighbours of every power of ten, both ends of float64, and a random crowd."""
    ties = [0.5, 1.5, 2.5, 0.125, 0.375, 0.015625, 0.0078125, 0.53125, 1.25, 12.5, 1024.5, 0.03125]
    carries = [0.995, 9.995, 99.995, 0.9999, 9.99999, 999999.5, 999999.4, 0.00009999, 0.0001, 99999.5, 0.05, 0.005, 0.004999]
    powers = [10.0**k for k in range(-12, 26)] + [3.7 * 10.0**k for k in range(-20, 24, 3)]
    ends = [5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 1e300, 2.0**53, 2.0**53 + 2, 1e21, 123456789012345680000.0, math.inf]
    rng = np.random.default_rng(0)
    crowd = [*rng.normal(size=25), *(rng.normal(size=25) * 10.0 ** rng.integers(-9, 9, 25)), *np.round(rng.uniform(0, 1e5, 15), 2)]
    positive = [0.0, 1.0, 27659.0, 12345.678, 1 / 3, *ties, *carries, *powers, *ends, *crowd]
    return [float(sign * value) for value in positive for sign in (1, -1)] + [math.nan]


def module(reader: Reader) -> str:
    return reader.page.evaluate("""[...document.querySelectorAll("link[rel=modulepreload]")].map((l) => l.href).find((h) => h.endsWith("/format.js"))""")


def test_page_and_server_write_every_number_alike(reader: Reader) -> None:
    reader.open("three_tokens")
    values = numbers()
    assert len(values) > 300
    given = {"url": module(reader), "values": list(map(repr, values)), "forms": FORMS, "languages": LANGUAGES}
    written = np.array(reader.page.evaluate(WRITE, given)).ravel()
    expected = [write_number(value, form, language) for value, form, language in product(values, FORMS, LANGUAGES)]
    cases = product(values, FORMS, LANGUAGES)
    assert [(*case, js, python) for case, js, python in zip(cases, written, expected) if js != python] == []


def test_page_and_server_read_what_a_reader_types_alike(reader: Reader) -> None:
    reader.open("three_tokens")
    texts = ["0.5", "0,5", " −0,5 ", "-2", "+3", "1/3", "1e3", ".5", "5.", "", " ", "-", "1,2,3", "1.2.3", "abc", "1_000", "NaN", "inf", "Infinity"]
    texts += ["1e999", "12 345", "12\u202f345", "1\u00a0000,5", "−−1", "1/0", "0x10", "9" * 40, "٣", "²", "1e-3", "--1", "1 2"]
    read = reader.page.evaluate(READ, {"url": module(reader), "texts": texts})
    expected: list[float | None] = []
    for text in texts:
        try:
            expected.append(read_number(text))
        except ValueError:
            expected.append(None)
    read = [None if text is None else float(text) for text in read]
    assert [(text, js, python) for text, js, python in zip(texts, read, expected) if js != python] == []
