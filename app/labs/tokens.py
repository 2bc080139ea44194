"""Ids of a sentence, the table they pick rows from, and the sum of word and place, on one colour scale."""

from widgets.lab import Controls, Fact, Group, Lab, Row
from widgets.matrix import PLAIN, Matrix
from widgets.miniature import Miniature

ONE_SCALE = {"rows": "ids:vocabulary", "columns": "features", "most": 1.5, "pick": "found"}

LAB = Lab(
    controls=("sentence",),
    views=(
        Group("words", (Matrix("ids", columns="ids:vocabulary", colours=PLAIN, form="0", across=True),), even=True),
        Group("lookup", (
            Controls(("word",)),
            Matrix("table", rows="vocabulary", columns="features", most=1.5, edit="e{row}{column}", pick="word"),
        )),
        Group("sum", (
            Controls(("scaled", "base")),
            Row(tuple(Matrix(array, **ONE_SCALE) for array in ("embedding", "positions", "inputs")), aligned=True),
        )),
    ),
    pulse=(Miniature("inputs", most=1.5), Fact("num_tokens", "num_tokens", form="0"), Fact("num_types", "num_types", form="0")),
)  # fmt: skip
