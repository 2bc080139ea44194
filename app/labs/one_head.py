"""One input in three roles, what each query asks of each key, and the mixture that comes out."""

from widgets.lab import Controls, Fact, Group, Lab, Row, Stack, Tab
from widgets.matrix import SHARES, Matrix
from widgets.miniature import Miniature

MOST = {"most": 1.4}
TOKENS = {"rows": "tokens"}
PICK = {**TOKENS, "pick": "row"}
SQUARE = {**PICK, "columns": "tokens"}

LAB = Lab(
    controls=("row",),
    views=(
        Group("roles", (
            Row((
                Matrix("inputs", columns="inputs", **PICK, **MOST),
                Stack((
                    Controls(("matrix",)),
                    *(
                        Tab("matrix", (m,), (
                            Matrix(f"w_{m}", rows=rows, columns="inputs", edit=f"w{m}{{row}}{{column}}", **MOST),
                        ))
                        for m, rows in (("q", "queries"), ("k", "keys"), ("v", "values"))
                    ),
                )),
            ), aligned=True),
            Row((
                Matrix("query", columns="queries", **PICK, **MOST),
                Matrix("key", columns="keys", **TOKENS, **MOST),
                Matrix("value", columns="values", **TOKENS, **MOST),
            ), aligned=True),
        )),
        Group("asking", (
            Matrix("dots", columns="tokens", across=True, **MOST),
            Matrix("scores", most=1.0, **SQUARE),
            Controls(("temperature", "causal")),
            Row((
                Matrix("weights", colours=SHARES, most=0.35, also="scores", seen="visible", **SQUARE),
                Matrix("entropy", colours=SHARES, most=2.81, **PICK),
            ), aligned=True),
        ), even=True),
        Group("mixing", (
            Row((
                Matrix("contributions", columns="values", most=0.6, **TOKENS),
                Matrix("output", columns="outputs", most=0.6, **PICK),
            )),
        ), note="chosen"),
    ),
    pulse=(Miniature("weights", colours=SHARES, most=0.35), Fact("positive", "positive"), Fact("negative", "negative"), Fact("total", "total")),
)  # fmt: skip
