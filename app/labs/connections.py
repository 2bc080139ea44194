"""Three layers side by side in work, waiting, distance and memory, the same against the length, and how long they take."""

from content.experiments import layer_times
from content.sections.connections.compute import CITED
from widgets.lab import Controls, Fact, Group, Lab, Legend, Row
from widgets.line import Lines
from widgets.matrix import PLAIN, Matrix
from widgets.measurement import Measurement
from widgets.miniature import LINES, Miniature

LENGTHS = {"x": "lengths", "x_label": "length", "y_label": "", "log": True, "log_x": True, "at": "length"}
COST, PATH = (tuple(f"{curve}[{way}]" for way in range(3)) for curve in ("cost_curve", "path_curve"))
CITED_MS = {"recurrence": CITED["gru_ms"], "attention": CITED["attention_ms"]}

LAB = Lab(
    controls=("log2_t", "log2_d", "k", "dilated"),
    views=(
        Group("layers", (
            Row((Fact("length", "tokens", form="0"), Fact("width", "numbers", form="0"))),
            Matrix("comparison", rows="ways", columns="columns", colours=PLAIN, form=("3g", "0", "3g", "0")),
            Legend(COST, rows="ways"),
            Row((
                Lines(COST, rows="ways", height=230, legend=False, **LENGTHS),
                Lines(PATH, rows="ways", height=230, legend=False, **LENGTHS),
            ), least=16),
        )),
        Group("square", (
            Controls(("bytes",)),
            Matrix("memory", columns="memories", colours=PLAIN, form="4g", across=True),
            Lines(("memory_curve[0]", "memory_curve[1]"), rows="memories", height=190, **LENGTHS),
        )),
        Group("clock", (
            Measurement(
                layer_times.KINDS, "ways", layer_times.LENGTHS,
                cited_at=CITED["length"], cited=[CITED_MS.get(kind) for kind in layer_times.KINDS],
            ),
        )),
    ),
    pulse=(Miniature("path_curve", LINES, log=True), Fact("comparison[0,3]", "path_recurrence", form="0"), Fact("comparison[2,3]", "path_attention", form="0")),
)  # fmt: skip
