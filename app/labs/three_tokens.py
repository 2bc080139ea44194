"""Scores, weights and output of three tokens; the sliders of one token at a time."""

from widgets.control import When
from widgets.lab import Fact, Lab, Row
from widgets.matrix import SHARES, Matrix
from widgets.miniature import Miniature

LAB = Lab(
    controls=(
        "token",
        *(When("token", k, (f"q{k}0", f"q{k}1", f"v{k}0", f"v{k}1")) for k in range(3)),
        "scaled",
    ),
    views=(
        Row((
            Matrix("scores", rows="tokens", columns="tokens", most=2.0, pick="token"),
            Matrix("weights", rows="tokens", columns="tokens", colours=SHARES, most=0.7, pick="token"),
        )),
        Row((
            Matrix("output", rows="tokens", columns="coordinates", most=3.0, pick="token"),
            Matrix("entropy", rows="tokens", colours=SHARES, most=1.6, pick="token"),
        )),
    ),
    pulse=(Miniature("weights", colours=SHARES, most=0.7), Fact("weights[2,2]", "milk_to_milk"), Fact("entropy[2]", "milk_entropy")),
)  # fmt: skip
