"""One row of attention with and without √d_k, the slopes of softmax, and what many draws do at each width."""

from widgets.bars import Bars
from widgets.heatmap import Heatmap
from widgets.lab import Controls, Fact, Group, Lab, Legend, Row
from widgets.line import Lines
from widgets.matrix import SHARES, Matrix
from widgets.miniature import BARS, Miniature

CASES = {"columns": "cases", "colours": SHARES, "across": True}
KEYS = {"y_label": "", "rows": "cases"}
WIDTHS = {
    "x": "widths", "x_label": "width", "y_label": "", "log_x": True, "ticks": True, "rows": "cases", "at": "d_k", "height": 170,
    "legend": False,
}  # fmt: skip
WALKS = tuple(f"walk[{k}]" for k in range(6))

LAB = Lab(
    controls=("d_k", "n", "spread", "seed"),
    views=(
        Group("walk", (Lines(WALKS, x_label="term", y_label="sum", band="envelope", first=1, thin=True, height=190),)),
        Group("row", (
            Bars(("scores[0]", "scores[1]"), x_label="", low=None, height=130, **KEYS),
            Bars(("weights[0]", "weights[1]"), x_label="key", high=1.0, height=170, **KEYS),
            Matrix("largest", most=1.0, **CASES),
            Matrix("entropy", most=3.5, **CASES),
            Matrix("gradient", most=0.75, **CASES),
            Fact("max_entropy", "max_entropy"),
        )),
        Group("slopes", (Controls(("scaled",)), Heatmap("jacobian", x_label="key", y_label="key", most=0.25, height=280))),
        Group("draws", (
            Legend(("variance[0]", "variance[1]"), rows="cases"),
            Row((
                Lines(("variance[0]", "variance[1]"), log=True, **WIDTHS),
                Lines(("gradient_median[0]", "gradient_median[1]"), low=0.0, **WIDTHS),
                Lines(("saturated[0]", "saturated[1]"), low=0.0, **WIDTHS),
            ), least=11),
        )),
    ),
    pulse=(Miniature("weights", BARS, SHARES, most=1.0), Fact("largest[0]", "largest_without"), Fact("largest[1]", "largest_with")),
)  # fmt: skip
