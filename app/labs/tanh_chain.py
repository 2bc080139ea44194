"""States and slopes along the chain, the product of its factors on a log axis, and the gradient of each input by distance."""

from widgets.control import Buttons
from widgets.lab import Fact, Lab
from widgets.line import Lines
from widgets.miniature import LINES, Miniature

TEXTBOOK = "w_h=1.2&w_x=1&t=60"

LAB = Lab(
    controls=(
        Buttons((
            ("textbook", f"{TEXTBOOK}&x=0.06&activation=tanh"),
            ("input_zero", f"{TEXTBOOK}&x=0&activation=tanh"),
            ("input_one", f"{TEXTBOOK}&x=1&activation=tanh"),
            ("cut", f"{TEXTBOOK}&x=-1&activation=relu"),
            ("saturated", "w_h=2&w_x=2&x=3&t=60&activation=tanh"),
        )),
        "activation", "w_h", "w_x", "x", "t", "factor",
    ),
    views=(
        Lines(("state", "slope", "transition"), x_label="step", y_label="value", height=190),
        Lines(("product", "power", "power_08", "power_1", "power_12"), x_label="step", y_label="size", log=True, height=240),
        Lines(("input_gradient", "average_gradient"), x_label="distance", y_label="size", log=True, height=220),
        Lines(("chain_steps", "direct_steps"), x_label="distance", y_label="steps", height=170),
    ),
    pulse=(Miniature("product", LINES, log=True), Fact("product_last", "product_last", form="e"), Fact("state_last", "state_last")),
)  # fmt: skip
