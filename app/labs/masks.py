"""One query's row under three rules with the sums they leave, and who may see whom for all queries at once."""

from widgets.control import When
from widgets.lab import Fact, Group, Lab, Row
from widgets.matrix import SHARES, Matrix, Toggle
from widgets.miniature import Miniature

TOGGLE = Toggle(bits="visible", row="query", sets=("kind", "custom"), by_column=("kind", "padding"))
SHARE = {"colours": SHARES, "most": 0.6}

LAB = Lab(
    controls=(
        "example", "kind",
        When("example", "three", ("s0", "s1", "s2", "x0", "x1", "x2")),
        "query", "visible",
    ),
    views=(
        Group("rules", (
            Matrix("scores", most=3.0, across=True),
            Matrix("visible", colours=SHARES, most=2.0, form="0", across=True),
            Matrix("weights_full", across=True, **SHARE),
            Matrix("weights_masked", across=True, **SHARE),
            Matrix("weights_zeroed", across=True, **SHARE),
            Matrix("weights_rescaled", across=True, **SHARE),
            Matrix("row_sums", columns="rules", colours=SHARES, most=1.8, across=True),
            Matrix("output_full", most=5.0, across=True),
            Matrix("output_masked", most=5.0, across=True),
            Matrix("output_zeroed", most=5.0, across=True),
            Matrix("output_rescaled", most=5.0, across=True),
        )),
        Group("square", (
            Row((
                Matrix("visibility", colours=SHARES, most=2.0, form="0", pick="position", toggle=TOGGLE),
                Matrix("weights", pick="position", seen="visibility", **SHARE),
                Matrix("value", most=5.0),
            )),
        ), note="click"),
    ),
    pulse=(Miniature("weights", colours=SHARES, most=0.6), Fact("row_sums[1]", "sum_before"), Fact("row_sums[2]", "sum_after")),
)  # fmt: skip
