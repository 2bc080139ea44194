"""A small class through the real protocol, at every `make test`: errors and wrong numbers fail, times do not."""

import pytest

pytest.importorskip("psutil")

from tests.bench import cohort
from tests.bench.student import DRAGS, Load


def test_twenty_students_drag_for_ten_seconds_and_every_number_is_right():
    with cohort.server() as served:
        result = cohort.run(served, Load(students=20, hz=10.0, seconds=10.0, ramp=1.0, mix=tuple(DRAGS)))
        tracebacks = served.tracebacks()
    print(cohort.told(result))
    assert result.errors == ()
    assert result.wrong == 0
    assert result.unanswered == 0
    assert result.steps > 0
    assert tracebacks == []
