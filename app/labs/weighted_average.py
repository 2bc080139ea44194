"""Scores become shares, and the shares mix points of the plane that can be dragged."""

from widgets.bars import Bars
from widgets.control import When
from widgets.lab import Fact, Group, Lab, Row, Stack
from widgets.matrix import SHARES, Matrix
from widgets.miniature import BARS, Miniature
from widgets.plane import Plane

WORDS = {"rows": "words"}
POINT = {"columns": "coordinates", "most": 4.0}

LAB = Lab(
    controls=("n", "d_k", "score_0", "score_1", When("n", (3, 4), ("score_2",)), When("n", 4, ("score_3",))),
    views=(
        Group("shares", (
            Row((
                Matrix("scores", most=160.0, form="0", **WORDS),
                Matrix("scaled", most=20.0, **WORDS),
                Matrix("weights", colours=SHARES, most=1.0, **WORDS),
                Bars(("weights",), x_label="", y_label="", names="words", high=1.0, height=150),
            ), aligned=True, least=12),
        )),
        Group("mixture", (
            Row((
                Plane(
                    "values", move=("x_{row}", "y_{row}"), sizes="weights", hull="hull", path="contributions",
                    marks=("output", "centre"), names="words", title="plane",
                ),
                Stack((
                    Matrix("values", edit=("x_{row}", "y_{row}"), **POINT, **WORDS),
                    Matrix("contributions", **POINT, **WORDS),
                    Matrix("output", across=True, **POINT),
                    Matrix("centre", across=True, **POINT),
                )),
            )),
        )),
    ),
    pulse=(Miniature("weights", BARS, SHARES, most=1.0), Fact("weights[0]", "first_share"), Fact("ratio", "ratio", form="3g")),
)  # fmt: skip
