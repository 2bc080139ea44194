"""Training on the server and its curves, the answer to an edited episode, what stands behind it, and the table of stored runs."""

import math

from widgets.bars import Bars
from widgets.heatmap import Heatmap
from widgets.lab import Controls, Fact, Group, Lab, Row, Tab
from widgets.line import Lines
from widgets.matrix import SHARES, Matrix
from widgets.miniature import Miniature
from widgets.training import Curve, Training

RUN = ("model", "delay", "seed", "epochs", "learning_rate", "clip")
TOKENS = "tokens:signs"
PLACES = {"x_label": "place", "at": "recall", "height": 170}
ACCURACY = {"rows": "model", "columns": "delays", "colours": SHARES, "most": 1.0}
SEEN = {"x_label": "read", "y_label": "place", "row_names": TOKENS, "column_names": TOKENS}
LOOKS = {"signed": False, "most": 1.0, "height": 270, **SEEN}
READ = {"x_label": "read", "y_label": "weight", "names": TOKENS, "rows": "heads", "high": 1.0, "height": 170}
CURVES = (
    Curve("validation_recall_accuracy", "stored_accuracy", "accuracy", mark=0.25, mark_word="chance_accuracy", high=1.0),
    Curve(
        "validation_recall_cross_entropy", "stored_cross_entropy", "cross_entropy", mark=math.log(4),
        mark_word="chance_cross_entropy", high=1.5,
    ),
    Curve("train_loss", "stored_loss", "loss", high=1.5),
)  # fmt: skip

LAB = Lab(
    controls=RUN,
    views=(
        Group("training", (
            Training(
                curves=CURVES, defines=RUN, about=RUN[:4], shared=RUN[3:], variant="model", compare="stored_runs", x="epoch",
                x_label="epoch", own="own_run", not_own="not_trained", result="accuracy",
            ),
        )),
        Group("episode", (
            Controls(("cue", "fillers")),
            Bars(("prediction",), x_label="", y_label="probability", names="signs", high=1.0, height=150),
            Matrix("answers", rows="cues", columns="vocabulary", colours=SHARES, most=1.0, pick="cue"),
            Row((Fact("followed", "followed", form="0"), Fact("test_accuracy", "test_accuracy", form="3"))),
        )),
        Group("inside", (
            Tab("model", ("transformer",), (
                Bars(("answer_attention[0]", "answer_attention[1]"), **READ),
                Row((Heatmap("attention_0", **LOOKS), Heatmap("attention_1", **LOOKS)), least=15),
            )),
            Tab("model", ("rnn", "gru"), (
                Heatmap("hidden", x_label="unit", y_label="place", row_names=TOKENS, most=1.0, height=290),
                Lines(("gradient_norm",), y_label="length", **PLACES),
            )),
            Lines(("cue_spread",), y_label="distance", **PLACES),
        )),
        Group("table", (
            Row((
                Matrix("table_mean", form="3", **ACCURACY),
                Matrix("table_sd", form="3", **ACCURACY),
                Matrix("source_mean", form="3", **ACCURACY),
                Matrix("source_sd", form="3", **ACCURACY),
            )),
            Matrix("seed_accuracy", rows="model", columns="seeds", colours=SHARES, most=1.0, form="3"),
        )),
    ),
    pulse=(Miniature("answers", colours=SHARES, most=1.0), Fact("followed", "followed_of_four", form="0"), Fact("test_accuracy", "accuracy_now", form="3")),
)  # fmt: skip
