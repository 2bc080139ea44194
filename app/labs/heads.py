"""What one row takes from every head, one head in full, the way back to five features, and the shapes."""

from widgets.control import Together
from widgets.lab import Controls, Fact, Group, Lab, Row
from widgets.matrix import PLAIN, SHARES, Matrix
from widgets.miniature import Miniature

MOST = {"most": 1.8}
TOKENS = {"rows": "tokens"}
PICK = {**TOKENS, "pick": "row"}
COUNT = {"colours": PLAIN, "form": "0"}

LAB = Lab(
    controls=("num_heads", "projections", Together("drawn", ("d_k", "d_v", "seed"))),
    views=(
        Group("every_head", (
            Controls(("row",)),
            Row((
                Matrix("row_weights", rows="heads", columns="tokens", colours=SHARES, most=0.35),
                Matrix("entropy", rows="heads", colours=SHARES, most=2.81),
            ), aligned=True),
        ), even=True),
        Group("one_head", (
            Controls(("head",)),
            Row((
                Matrix("query", **PICK, **MOST),
                Matrix("key", **TOKENS, **MOST),
                Matrix("value", **TOKENS, **MOST),
            ), aligned=True),
        )),
        Group("squares", (
            Row((Matrix("w_q", **MOST), Matrix("w_k", **MOST), Matrix("w_v", **MOST))),
            Matrix("scores", columns="tokens", **PICK, **MOST),
            Matrix("weights", columns="tokens", colours=SHARES, most=0.35, also="scores", **PICK),
            Matrix("head_output", **PICK, **MOST),
        ), folded=True, even=True),
        Group("way_back", (
            Row((
                Matrix("concat", columns="owner::blocks", **PICK, **MOST),
                Matrix("output", columns="features", **PICK, **MOST),
            ), aligned=True),
            Matrix("w_o", rows="features", columns="owner::blocks", **MOST),
            Matrix("contributions", rows="heads", columns="features", **MOST),
        )),
        Group("nudge", (
            Controls(("x0", "x1", "x2", "x3", "x4")),
            Matrix("inputs", columns="features", **PICK, **MOST),
        ), folded=True),
        Group("sizes", (
            Row((
                Matrix("shapes", rows="stages", columns="sizes", **COUNT),
                Matrix("widths", rows="heads", columns="widths", **COUNT),
                Matrix("parameters", rows="counted::parts", **COUNT),
            )),
            Matrix("remainder", rows="embed_dims", columns="head_counts", colours=SHARES, most=8.0, form="0"),
        ), folded=True),
    ),
    pulse=(Miniature("row_weights", colours=SHARES, most=0.35), Fact("parameters_total", "to_learn", form="0"), Fact("concat_width", "side_by_side", form="0")),
)  # fmt: skip
