"""How a number is written for a reader: decimals, significant digits or a power of ten, in one of three languages.

`widgets/format.js` holds the same rules for numbers that change while the page is open; a browser test compares the two.
"""

from __future__ import annotations

import math
import re
from decimal import ROUND_HALF_UP, Context, Decimal

SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
DEFAULT = "2"
HUGE = 1e21  # from here on decimals mean nothing
PLAIN = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
ROUNDING = Context(prec=100, rounding=ROUND_HALF_UP)  # a tie goes away from zero, as in a browser


def check_format(form: str) -> None:
    """Raises ValueError when `form` is not `2`, `3g`, `e` or `full`."""
    if not (form in ("e", "full") or form.removesuffix("g").isdigit()):
        raise ValueError(f"{form!r} is not a number format; allowed: 2 (decimals), 3g (digits), e, full")


def write_number(value: float, form: str = DEFAULT, language: str = "en") -> str:
    """`value` as text. `form`: "2" decimals, "3g" significant digits, "e" power of ten, "full" every digit.

    >>> write_number(-0.5), write_number(1.604, "3", "uk"), write_number(1.2e-7, "e"), write_number(27659, "0")
    ('−0.50', '1,604', '1.2·10⁻⁷', '27,659')
    """
    check_format(form)
    value = float(value)
    if not math.isfinite(value):
        return ("−" if value < 0 else "") + "∞" if not math.isnan(value) else "?"
    if form == "e" and value != 0:
        return _scientific(value, 1, language)
    if form == "full":
        text = repr(value).removesuffix(".0")
        mantissa, e, power = text.partition("e")
        text = mantissa + (f"·10{str(int(power)).translate(SUPERSCRIPTS)}" if e else "")
        return _local(text, language)
    if form.endswith("g"):
        digits = max(1, int(form[:-1]))
        if value != 0 and not 1e-4 <= abs(value) < 1e6:
            return _scientific(value, digits - 1, language)
        size = int(_power(value, digits - 1).split("e")[1]) if value else 0
        return _fixed(value, max(0, digits - 1 - size), language)
    return _fixed(value, 0 if form == "e" else int(form), language)


def _fixed(value: float, decimals: int, language: str) -> str:
    if abs(value) >= HUGE:
        return _scientific(value, decimals, language)
    return _local(f"{Decimal(value).quantize(Decimal(1).scaleb(-decimals), context=ROUNDING):f}", language)


def _power(value: float, decimals: int) -> str:
    return f"{Context(prec=decimals + 1, rounding=ROUND_HALF_UP).create_decimal(value):.{decimals}e}"


def _scientific(value: float, decimals: int, language: str) -> str:
    mantissa, power = _power(value, decimals).split("e")
    return _local(mantissa, language) + "·10" + str(int(power)).translate(SUPERSCRIPTS)


def _local(text: str, language: str) -> str:
    """Minus sign, decimal mark and groups of thousands (from five digits on) of the language."""
    sign = "−" if text.startswith("-") and text.strip("-0.") else ""
    whole, point, fraction = text.lstrip("-").partition(".")
    if len(whole) > 4 and whole.isdigit():
        whole = f"{int(whole):,}"
    if language == "en":
        return sign + whole + point + fraction
    return sign + whole.replace(",", "\u202f") + point.replace(".", ",") + fraction


def read_number(text: str) -> float:
    """The finite number a reader typed, with a decimal point or comma. Raises ValueError otherwise.

    >>> read_number(" −0,5 ")
    -0.5
    """
    plain = text.strip().replace("−", "-").replace(",", ".").replace("\u202f", "").replace("\u00a0", "")
    parts = [part.strip() for part in plain.split("/")]
    if len(plain) > 32 or len(parts) > 2 or not all(PLAIN.fullmatch(part) for part in parts):
        raise ValueError("not a number")
    number, *bottom = map(float, parts)
    if bottom:
        if not bottom[0]:
            raise ValueError("division by zero")
        number /= bottom[0]
    if not math.isfinite(number):
        raise ValueError("not a finite number")
    return number
