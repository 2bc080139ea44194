"""A step of descent with its history, forward and backward pass side by side, what each use of a weight adds, and a check."""

from widgets.cell import Result
from widgets.control import Together
from widgets.lab import Fact, Group, Lab
from widgets.ledger import Ledger
from widgets.matrix import PLAIN, Matrix
from widgets.miniature import BARS, Miniature
from widgets.steps import Steps
from widgets.waterfall import Sum, Waterfall

WEIGHT = {"columns": "weights", "most": 2.0, "across": True}

PASSES = (
    (
        Result("preactivation[0]", "z_0", "w_h·h_−1 + w_x·x_0", "{w_h}·0 + {w_x}·{x0}"),
        Result("g_start", "g^h_−1", "g^z_0·w_h", "{g_z[0]}·{w_h}"),
    ),
    (
        Result("state[0]", "h_0", "φ(z_0)", "φ({preactivation[0]})"),
        Result("g_z[0]", "g^z_0", "g^h_0·φ′(z_0)", "{g_h[0]}·{slope[0]}"),
    ),
    (
        Result("preactivation[1]", "z_1", "w_h·h_0 + w_x·x_1", "{w_h}·{state[0]} + {w_x}·{x1}"),
        Result("g_h[0]", "g^h_0", "g^z_1·w_h", "{g_z[1]}·{w_h}"),
    ),
    (
        Result("state[1]", "h_1", "φ(z_1)", "φ({preactivation[1]})"),
        Result("g_z[1]", "g^z_1", "g^h_1·φ′(z_1)", "{g_h[1]}·{slope[1]}"),
    ),
    (
        Result("preactivation[2]", "z_2", "w_h·h_1 + w_x·x_2", "{w_h}·{state[1]} + {w_x}·{x2}"),
        Result("g_h[1]", "g^h_1", "g^z_2·w_h", "{g_z[2]}·{w_h}"),
    ),
    (
        Result("state[2]", "h_2", "φ(z_2)", "φ({preactivation[2]})"),
        Result("g_z[2]", "g^z_2", "g^h_2·φ′(z_2)", "{g_h[2]}·{slope[2]}"),
    ),
    (
        Result("prediction", "ŷ", "w_o·h_2", "{w_o}·{state[2]}"),
        Result("g_h[2]", "g^h_2", "e·w_o", "{error}·{w_o}"),
    ),
    (
        Result("loss", "L", "½(ŷ − y)²", "½({prediction} − {y})²"),
        Result("error", "e", "ŷ − y", "{prediction} − {y}"),
    ),
)

USES = (
    Sum(
        tuple(Result(f"contributions_w_x[{t}]", "", f"g^z_{t}·x_{t}", f"{{g_z[{t}]}}·{{x{t}}}") for t in range(3)),
        Result("gradients[0]", "∂L/∂w_x", "", ""),
    ),
    Sum(
        (
            Result("contributions_w_h[0]", "", "g^z_0·h_−1", "{g_z[0]}·0"),
            Result("contributions_w_h[1]", "", "g^z_1·h_0", "{g_z[1]}·{state[0]}"),
            Result("contributions_w_h[2]", "", "g^z_2·h_1", "{g_z[2]}·{state[1]}"),
        ),
        Result("gradients[1]", "∂L/∂w_h", "", ""),
    ),
    Sum((), Result("gradients[2]", "∂L/∂w_o", "e·h_2", "{error}·{state[2]}")),
)

LAB = Lab(
    controls=(
        "activation",
        Together(None, ("x0", "w_x", "x1", "w_h", "x2", "w_o"), columns=True),
        "y", "lr",
    ),
    views=(
        Steps("descent", sets=("w_x", "w_h", "w_o"), to="updated", number="loss", after="loss_after", keep=("lr",)),
        Ledger("passes", columns=("forward", "backward"), rows=PASSES),
        Waterfall("uses", sums=USES),
        Group("check", (
            Matrix("gradients", **WEIGHT),
            Matrix("finite_difference", **WEIGHT),
            Matrix("relative_error", columns="weights", colours=PLAIN, form="e", across=True),
            Matrix("updated", **WEIGHT),
        )),
    ),
    pulse=(Miniature("contributions_w_h", BARS), Fact("loss", "loss"), Fact("gradients[1]", "gradient_w_h")),
)  # fmt: skip
