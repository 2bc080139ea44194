"""Words that are switched on and judged, two series with one mean, and what four forecasters make of them."""

from widgets.control import Buttons
from widgets.figure import HEIGHT
from widgets.lab import Controls, Fact, Group, Lab, Row
from widgets.line import Lines
from widgets.matrix import SHARES, Matrix
from widgets.miniature import LINES, Miniature
from widgets.switches import Switches

WORDS = [f"use{k}" for k in range(7)]

LAB = Lab(
    controls=("task", "cut"),
    views=(
        Switches("input_set", WORDS, verdict="verdict", verdicts="verdicts", at="cut", also=("allowed", "chosen")),
        Controls((Buttons((
            ("everything", "&".join(f"{name}=1" for name in WORDS)),
            ("nothing", "&".join(f"{name}=0" for name in WORDS)),
        )),)),
        Row((Fact("allowed_count", "may_use", "0"), Fact("leak_count", "leaks", "0"), Fact("left_out_count", "left_out", "0"))),
        Group("two_series", (
            Controls(("climb", "wobble")),
            Lines(("series[0]", "series[1]"), x_label="reading", y_label="degrees", at="cut", rows="series", height=HEIGHT - 60),
            Controls(("answer",)),
            Row((
                Matrix("predictions", rows="forecasters", columns="series", colours="plain"),
                Matrix("errors", rows="forecasters", columns="series", colours=SHARES, most=6.0),
            ), aligned=True),
            Row((
                Matrix("means", rows="series", colours="plain"),
                Matrix("following", rows="series", colours="plain"),
            )),
        ), note="seen_left"),
    ),
    pulse=(Miniature("series", LINES), Fact("allowed_count", "may_use", form="0"), Fact("leak_count", "leaks", form="0")),
)  # fmt: skip
