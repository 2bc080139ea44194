"""Vectors of the plane as arrows from the origin, each with a tip to drag or to move with the arrow keys."""

from __future__ import annotations

from html import escape
from typing import Any, Mapping, NamedTuple, Sequence

from widgets.text import Text, attributes


class Arrows(NamedTuple):
    """`controls`: for each arrow the controls of its two coordinates. `names`: the axis that names the arrows. `reach`: the largest coordinate."""

    controls: Sequence[tuple[str, str]]
    names: str
    reach: float

    def html(self, values: Mapping[str, Any], text: Text) -> str:
        """The drawing at these control values; `arrows.js` moves it."""
        words = text.headers(self.names, len(self.controls), None)
        frame = self.reach * 1.16
        grid = "".join(
            f'<path class="grid" d="M{k} {-self.reach}V{self.reach}M{-self.reach} {k}H{self.reach}"/>'
            for k in range(-int(self.reach), int(self.reach) + 1)
            if k
        )
        made = []
        for k, ((across, up), word) in enumerate(zip(self.controls, words)):
            x, y = values[across], values[up]
            told = f"{text.number(x, '2')}; {text.number(y, '2')}"
            data = attributes(
                class_=f"arrow a{k}", tabindex=0, role="slider", aria_label=word, aria_valuemin=-self.reach, aria_valuemax=self.reach,
                aria_valuenow=x, aria_valuetext=told, data_x=across, data_y=up,
            )  # fmt: skip
            made.append(
                f'<g {data}><line x2="{x:g}" y2="{-y:g}"/><circle class="touch" cx="{x:g}" cy="{-y:g}" r="0.7"/>'
                f'<circle class="tip" cx="{x:g}" cy="{-y:g}" r="0.17"/><text {attributes(**word_place(x, y))}>{escape(word)}</text></g>'
            )
        axes = f'<path class="axes" d="M0 {-self.reach}V{self.reach}M{-self.reach} 0H{self.reach}"/>'
        box = f"{-frame:g} {-frame:g} {2 * frame:g} {2 * frame:g}"
        return f'<svg class="arrows" viewBox="{box}" data-reach="{self.reach:g}" role="group" aria-label="{escape(text.label("arrays", "query"))}">{grid}{axes}{"".join(made)}</svg>'


def word_place(x: float, y: float) -> dict[str, str]:
    """Where an arrow's word stands: beyond the tip, on its outer side. `arrows.js` has the same.

    >>> word_place(1, 0), word_place(0, -1)
    ({'x': '1.28', 'y': '0.14', 'text_anchor': 'start'}, {'x': '0', 'y': '1.62', 'text_anchor': 'middle'})
    """
    if abs(x) > 0.3:
        return {"x": f"{x + (0.28 if x > 0 else -0.28):g}", "y": f"{0.14 - y:g}", "text_anchor": "start" if x > 0 else "end"}
    return {"x": f"{x:g}", "y": f"{-y - 0.34 if y >= 0 else -y + 0.62:g}", "text_anchor": "middle"}
