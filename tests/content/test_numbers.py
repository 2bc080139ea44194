"""How numbers are written and read: decimals, digits, powers of ten, and the marks of three languages."""

import doctest
import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from content import numbers
from content.numbers import check_format, read_number, write_number
from content.strings import LANGUAGES

finite = st.floats(allow_nan=False, allow_infinity=False)
moderate = st.floats(-1e9, 1e9)
languages = st.sampled_from(list(LANGUAGES))


@pytest.mark.parametrize(
    ("value", "form", "text"),
    [
        (0.5, "2", "0.50"), (-0.5, "2", "−0.50"), (0.0, "2", "0.00"), (-0.0, "2", "0.00"), (-0.001, "2", "0.00"),
        (2.675, "0", "3"),
        (0.005, "3g", "0.00500"), (1.584962500721156, "3g", "1.58"), (0.0, "3g", "0.00"), (999.5, "3g", "1000"),
        (0.99999, "3g", "1.00"),
        (1e-5, "3g", "1.00·10⁻⁵"), (123456789.0, "4g", "1.235·10⁸"), (-2e-7, "2g", "−2.0·10⁻⁷"), (7.0, "1g", "7"),
        (7.0, "0g", "7"),
        (1.2e-7, "e", "1.2·10⁻⁷"), (0.0, "e", "0"), (-1234.5, "e", "−1.2·10³"), (5e-324, "e", "4.9·10⁻³²⁴"),
        (0.1, "full", "0.1"), (3.0, "full", "3"), (0.1 + 0.2, "full", "0.30000000000000004"), (1e-7, "full", "1·10⁻⁷"),
        (1e22, "full", "1·10²²"),
        (1234.0, "0", "1234"), (12345.0, "0", "12,345"), (27659, "0", "27,659"), (1234567.25, "2", "1,234,567.25"),
        (math.inf, "2", "∞"), (-math.inf, "full", "−∞"), (math.nan, "3g", "?"),
    ],
)  # fmt: skip
def test_a_number_is_written_as_a_book_writes_it(value, form, text):
    assert write_number(value, form) == text


@pytest.mark.parametrize("language", ["ru", "uk"])
@pytest.mark.parametrize(
    ("value", "form", "text"),
    [
        (0.5, "2", "0,50"), (-1.6, "1", "−1,6"), (12345.5, "1", "12\u202f345,5"), (1234.5, "1", "1234,5"),
        (1.2e-7, "e", "1,2·10⁻⁷"), (1 / 3, "full", "0,3333333333333333"),
    ],
)  # fmt: skip
def test_russian_and_ukrainian_have_a_decimal_comma_and_thin_spaces(language, value, form, text):
    assert write_number(value, form, language) == text


@pytest.mark.parametrize("form", ["", "x", "2.5", "-1", "g", "3gg", "E", "full ", "e3", " 2"])
def test_a_format_that_does_not_exist_is_refused_by_name(form):
    with pytest.raises(ValueError, match="is not a number format"):
        check_format(form)
    with pytest.raises(ValueError):
        write_number(1.0, form)


@pytest.mark.parametrize(
    ("text", "number"),
    [("0.5", 0.5), (" −0,5 ", -0.5), ("-2", -2.0), ("1/3", 1 / 3), ("−1/4", -0.25), ("1e-3", 0.001),
     ("12\u202f345,5", 12345.5), ("+7", 7.0), ("1 / 4", 0.25), ("0,5/0,25", 2.0)],
)  # fmt: skip
def test_a_typed_number_is_read_with_point_or_comma_or_as_a_fraction(text, number):
    assert read_number(text) == number


@pytest.mark.parametrize(
    "text",
    ["", " ", "half", "1/0", "0/0", "1/2/3", "nan", "inf", "-Infinity", "1e999", "1e308/1e-308",
     "1_000", "1.2.3", "1,234.5", "0x10", "--1", "/2", "9" * 33, "9" * 10_000_000, "\x00"],
)  # fmt: skip
def test_what_is_no_finite_number_is_refused(text):
    with pytest.raises(ValueError):
        read_number(text)


@given(moderate, st.integers(0, 8), languages)
def test_what_was_written_with_decimals_is_read_back_within_half_a_unit(value, decimals, language):
    text = write_number(value, str(decimals), language)
    plain = text.replace(",", "") if language == "en" else text
    assume(len(plain) <= 32)
    assert abs(read_number(plain) - value) <= 0.5 * 10.0**-decimals * (1 + 1e-9) + abs(value) * 1e-15


@given(finite, languages)
def test_full_digits_give_the_very_number_back(value, language):
    text = write_number(value, "full", language)
    plain = text.replace(",", "" if language == "en" else ".").replace("\u202f", "").replace("−", "-").replace("·10", "e")
    assert float(plain.translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-"))) == value


@given(finite, st.sampled_from(["0", "2", "4", "1g", "3g", "6g", "e", "full"]), languages)
def test_a_written_number_has_a_true_minus_and_no_zero_below_nothing(value, form, language):
    text = write_number(value, form, language)
    assert "-" not in text and "e" not in text
    assert not text.startswith("−") or any(digit in text for digit in "123456789")
    assert ("." in text) <= (language == "en")


@given(st.floats(1e-4, 999999, exclude_max=True), st.integers(1, 8))
def test_significant_digits_are_as_many_as_asked_for(value, digits):
    text = write_number(value, f"{digits}g")
    shown = text.replace(",", "").replace(".", "").lstrip("0")
    whole = text.replace(",", "").partition(".")[0]
    assert len(shown) == max(digits, len(whole.lstrip("0")))
    assert float(text.replace(",", "")) == pytest.approx(value, rel=0.5 * 10.0 ** (1 - digits) * (1 + 1e-9))


@given(finite, st.sampled_from(["2", "4", "3g", "e", "full"]))
def test_the_languages_differ_by_their_marks_only(value, form):
    english, russian, ukrainian = (write_number(value, form, language) for language in LANGUAGES)
    assert russian == ukrainian
    assert english.replace(",", "\u202f").replace(".", ",") == russian


@given(st.text())
def test_reading_any_text_gives_a_finite_number_or_a_value_error(text):
    try:
        assert math.isfinite(read_number(text))
    except ValueError:
        pass


def test_doctests_run():
    assert doctest.testmod(numbers).failed == 0
