"""The codes of all positions, how alike they are, the rotation between two of them, and the check by exchanging two tokens."""

from widgets.heatmap import Heatmap
from widgets.lab import Controls, Fact, Group, Lab, Row, Tab
from widgets.line import Lines
from widgets.matrix import SHARES, Matrix
from widgets.miniature import LINES, Miniature

LAB = Lab(
    controls=("kind", "d", "t", "position", "offset", "base", "seed"),
    views=(
        Group("codes", (Heatmap("encoding", x_label="feature", y_label="place", most=1.0, row="chosen", height=280),)),
        Group("alike", (Lines(("similarity", "offset_dot"), x_label="place", y_label="value", at="chosen", height=210),)),
        Group("turning", (
            Row((
                Matrix("rotation", columns="rotation", most=1.0),
                Matrix("before", columns="pair", most=1.0),
                Matrix("rotated", columns="pair", most=1.0),
                Matrix("after", columns="pair", most=1.0),
                Matrix("rotation_difference", columns="pair", most=1.0, form="e"),
            )),
        ), folded=True),
        Group("check", (
            Controls(("run", "dtype")),
            *(
                Tab("run", (run,), (
                    Fact(f"difference_{fact}", "largest", form="e"),
                    Row((
                        Matrix(f"weights_{key}", rows="tokens", columns="tokens", colours=SHARES, most=0.6),
                        Matrix(f"weights_{key}_swapped", rows="swapped", columns="swapped", colours=SHARES, most=0.6) if key != "carried" else
                        Matrix(f"output_{key}", rows="swapped", most=3.0),
                    )),
                    Matrix(f"difference_{key}", rows="swapped", form="e"),
                ))
                for run, key, fact in (("plain", "plain", "attention"), ("placed", "position", "with_position"), ("carried", "carried", "carried"))
            ),
        )),
    ),
    pulse=(Miniature("similarity", LINES), Fact("similarity_neighbour", "neighbour"), Fact("longest_wavelength", "longest_wave", form="0")),
)  # fmt: skip
