"""Colours of numbers: text on them can be read, more is darker (or lighter), and each series is told from its ground."""

import re
from pathlib import Path

import pytest

from widgets import palette
from widgets.palette import LOOKS, SERIES, STEPS, css, diverging, mix, sequential

STYLES = (Path(__file__).parents[2] / "app" / "static" / "book.css").read_text(encoding="utf-8")
READABLE = 4.5  # WCAG 2.2, 1.4.3


def linear(colour):
    """Red, green and blue of `#rrggbb` as light, 0 … 1."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]


def luminance(colour):
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear(colour)))


def contrast(one, other):
    bright, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def threshold():
    """The luminance below which the stylesheet writes white on a number's colour."""
    (found,) = re.findall(r"--dark: clamp\(0, \(([\d.]+) - y\) \* \d+, 1\)", STYLES)
    return float(found)


@pytest.mark.parametrize("look", LOOKS)
def test_a_number_can_be_read_on_every_colour_it_may_stand_on(look):
    for colour in {*diverging(look), *sequential(look)}:
        text = "#ffffff" if luminance(colour) < threshold() else "#000000"
        assert contrast(text, colour) >= READABLE, f"{text} on {colour}"


@pytest.mark.parametrize("look", LOOKS)
def test_more_is_always_further_from_the_ground(look):
    downwards = luminance(LOOKS[look]["zero"]) > luminance(LOOKS[look]["share"])
    half = STEPS[look] // 2
    for colours in (sequential(look), diverging(look)[half:], diverging(look)[half::-1]):
        steps = [luminance(colour) for colour in colours]
        pairs = list(zip(steps, steps[1:]))
        assert all((after < before) if downwards else (after > before) for before, after in pairs)


@pytest.mark.parametrize("look", LOOKS)
def test_zero_is_in_the_middle_and_the_poles_at_the_ends(look):
    colours, found = LOOKS[look], diverging(look)
    assert len(found) == len(sequential(look)) == STEPS[look] and STEPS[look] % 2
    assert (found[0], found[len(found) // 2], found[-1]) == (colours["negative"], colours["zero"], colours["positive"])
    assert (sequential(look)[0], sequential(look)[-1]) == (colours["zero"], colours["share"])


def test_the_projector_shows_fewer_steps():
    assert STEPS["projector"] < STEPS["light"] == STEPS["dark"]


@pytest.mark.parametrize("look", LOOKS)
def test_steps_of_the_projector_are_clearly_different(look):
    if look == "projector":
        for colours in (sequential(look), diverging(look)):
            assert min(contrast(one, other) for one, other in zip(colours, colours[1:])) > 1.08


# Machado, Oliveira and Fernandes, A physiologically-based model for simulation of color vision deficiency (2009), severity 1.
BLINDNESS = {
    "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritan": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}


@pytest.mark.parametrize("kind", BLINDNESS)
@pytest.mark.parametrize("look", LOOKS)
def test_plus_and_minus_differ_for_every_common_eye(look, kind):
    def seen(colour):
        return [sum(weight * part for weight, part in zip(row, linear(colour))) for row in BLINDNESS[kind]]

    one, other = seen(LOOKS[look]["positive"]), seen(LOOKS[look]["negative"])
    assert sum((a - b) ** 2 for a, b in zip(one, other)) ** 0.5 > 0.15


@pytest.mark.parametrize("look", LOOKS)
def test_curves_stand_out_from_their_ground(look):
    (ground,) = {"light": ["#ffffff"], "dark": ["#1d2127"], "projector": ["#ffffff"]}[look]
    assert len(set(SERIES[look])) == len(SERIES[look]) >= 5
    for colour in SERIES[look]:
        assert contrast(colour, ground) >= 3.0, colour  # WCAG 2.2, 1.4.11


@pytest.mark.parametrize(("share", "colour"), [(0.0, "#000000"), (1.0, "#ffffff"), (0.5, "#808080")])
def test_colours_mix_in_srgb(share, colour):
    assert mix("#000000", "#ffffff", share) == colour


def test_the_stylesheet_gets_every_colour_of_every_look():
    text = css()
    for look, colours in LOOKS.items():
        (rule,) = re.findall(rf'\[data-look="{look}"\]\{{(.*?)\}}', text)
        for name, colour in colours.items():
            assert f"--c-{name}:{colour};" in rule
        for k, colour in enumerate(SERIES[look]):
            assert f"--s-{k}:{colour};" in rule
    assert set(re.findall(r"var\((--c-\w+)", STYLES)) <= {f"--c-{name}" for name in palette.LOOKS["light"]} | {"--c-steps"}
