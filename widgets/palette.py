"""Colours of numbers: diverging around zero for signed values, sequential for shares; both safe for colour blindness.

One source for the tables (CSS custom properties, mixed by the browser) and for the Bokeh pictures (lists of colours).
"""

from __future__ import annotations

from typing import Mapping, Sequence

# Blue and orange keep apart in every common kind of colour blindness and in greyscale against the middle.
LOOKS: Mapping[str, Mapping[str, str]] = {
    "light": {"zero": "#f6f4ef", "positive": "#2463ae", "negative": "#c2591b", "share": "#1f5fa8"},
    "dark": {"zero": "#262a31", "positive": "#5b9df0", "negative": "#e98a4b", "share": "#5b9df0"},
    "projector": {"zero": "#ffffff", "positive": "#003f8a", "negative": "#a83c00", "share": "#003f8a"},
}
SERIES: Mapping[str, Sequence[str]] = {  # Okabe and Ito (2008), darkened or lightened for the ground they stand on
    "light": ("#1f5fa8", "#b4531a", "#0b7a5b", "#8a4f9e", "#6b6200"),
    "dark": ("#7db2f0", "#f0a06a", "#4fc3a1", "#cf9be0", "#d8cc55"),
    "projector": ("#003f8a", "#8a2f00", "#00563e", "#5d2473", "#4a4300"),
}
STEPS = {"light": 65, "dark": 65, "projector": 11}  # the projector shows few, clearly different colours


def mix(low: str, high: str, share: float) -> str:
    """The colour `share` of the way from `low` to `high`, mixed in sRGB as the stylesheet does."""
    pairs = [(int(low[i : i + 2], 16), int(high[i : i + 2], 16)) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def diverging(look: str) -> list[str]:
    """Colours from the most negative to the most positive value."""
    colours, half = LOOKS[look], STEPS[look] // 2
    down = [mix(colours["zero"], colours["negative"], k / half) for k in range(half, 0, -1)]
    up = [mix(colours["zero"], colours["positive"], k / half) for k in range(half + 1)]
    return down + up


def sequential(look: str) -> list[str]:
    """Colours from nothing to the largest value."""
    last = STEPS[look] - 1
    return [mix(LOOKS[look]["zero"], LOOKS[look]["share"], k / last) for k in range(last + 1)]


def css() -> str:
    """The colours as custom properties for each look."""
    rules = []
    for look, colours in LOOKS.items():
        names = "".join(f"--c-{name}:{colour};" for name, colour in colours.items())
        series = "".join(f"--s-{k}:{colour};" for k, colour in enumerate(SERIES[look]))
        rules.append(f'[data-look="{look}"]{{{names}{series}--c-steps:{STEPS[look] // 2};}}')
    return "\n".join(rules)
