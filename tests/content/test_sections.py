"""Whatever the controls are set to, a reader sees finite numbers, or is told in their language why there are none."""

import ast

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from app import prose
from content import toc
from content.section import Undefined, arrays
from content.strings import LANGUAGES
from tests.content.drawn import WRITTEN, other_settings, values_of


def explained(id, reason):
    """Languages in which the section does not say what this reason means."""
    return [language for language in LANGUAGES if not (prose.load(id, language).labels.get("undefined") or {}).get(reason)]


@pytest.mark.parametrize("id", WRITTEN)
@settings(max_examples=60)
@given(st.data())
def test_numbers_are_finite_over_all_controls_or_their_absence_is_explained(id, data):
    section = toc.load(id)
    values = data.draw(values_of(section))
    with np.errstate(all="ignore"):
        try:
            trace = section.trace(values)
        except Undefined as undefined:
            event(undefined.reason)
            assert not explained(id, undefined.reason), undefined.reason
            assert str(undefined).isprintable()
            return
        facts = section.facts(trace)
    for name, array in arrays(trace).items():
        assert np.isfinite(array).all(), name
    for name, fact in facts.items():
        assert np.isfinite(float(fact)), name


@pytest.mark.parametrize("id", WRITTEN)
def test_shapes_follow_the_controls_and_names_never_change(id):
    section = toc.load(id)
    default = section.trace(section.defaults())
    for values in other_settings(section, 3):
        trace = section.trace(values)
        assert trace._fields == default._fields
        assert list(section.facts(trace)) == list(section.facts(default))
        for name, array in arrays(trace).items():
            assert array.ndim == np.ndim(getattr(default, name)), f"{name} changes its number of axes"


def reasons_raised(path):
    """Reasons of every `Undefined("reason", …)` that a module raises itself."""
    calls = [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
    return {
        node.args[0].value
        for node in calls
        if getattr(node.func, "id", "") == "Undefined" and isinstance(node.args[0], ast.Constant)
    }


RAISED = {id: reasons_raised(toc.FOLDER / id / "compute.py") for id in WRITTEN}


@pytest.mark.parametrize("id", WRITTEN)
def test_every_explanation_of_what_is_undefined_belongs_to_a_reason_that_exists(id):
    known = set().union(*RAISED.values())
    for language in LANGUAGES:
        said = set(prose.load(id, language).labels.get("undefined") or {})
        assert said <= known
        assert said == set(prose.load(id, "en").labels.get("undefined") or {})


def test_reasons_that_readers_are_known_to_meet_are_raised_and_explained():
    for id, values, reason in (
        ("masks", {"kind": "custom", "visible": "000"}, "all_masked"),
        ("tokens", {"sentence": " ... "}, "no_word"),
        ("tokens", {"sentence": "a giraffe"}, "unknown_word"),
    ):
        with pytest.raises(Undefined) as undefined:
            toc.load(id).trace({**toc.load(id).defaults(), **values})
        assert undefined.value.reason == reason
        assert not explained(id, reason)
