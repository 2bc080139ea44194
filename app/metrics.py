"""What an operator can watch: sockets, steps and their time, refusals, memory. No reader is told apart."""

from __future__ import annotations

from prometheus_client import CONTENT_TYPE_LATEST as CONTENT_TYPE
from prometheus_client import Counter, Gauge, Histogram, generate_latest

SOCKETS = Gauge("book_sockets", "Pages with an open line to their lab")
STEP_SECONDS = Histogram(
    "book_step_seconds", "Time to compute and pack one answer", buckets=(0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3)
)
TRAINING_WAITING = Gauge("book_training_waiting", "Training runs that wait for their first slice")
TRAINING_RUNNING = Gauge("book_training_running", "Training runs at work")
REFUSED = Counter("book_refused_lines", "Lines closed because of what came over them")


def text() -> bytes:
    """Everything in Prometheus' text format; process_* figures of memory and CPU among it."""
    return generate_latest()
