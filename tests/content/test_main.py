"""`python -m content SECTION name=value …`: JSON on the one hand, one line and exit status 2 on the other."""

import json
import math
import os
import subprocess
import sys

import numpy as np
import pytest

from content import __main__ as command
from content import toc
from content.section import arrays
from tests.content.drawn import WRITTEN, other_settings


def call(*arguments, **options):
    """The command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "content", *arguments], capture_output=True, text=True, encoding="utf-8", timeout=60, **options
    )


@pytest.fixture
def refused(monkeypatch, capsys):
    """What the command says to these arguments, which it must refuse."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["content", *arguments])
        assert command.main() == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith("content: ") and err.endswith("\n") and err.count("\n") == 1
        assert err.strip().isprintable() and len(err) < 2000
        return err

    return run


def strict(text):
    """JSON without NaN and Infinity, which JSON does not have."""
    return json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} in the output"))


def assert_is_trace(said, section, values):
    trace = section.trace(values)
    for name, array in arrays(trace).items():
        np.testing.assert_array_equal(np.asarray(said["trace"].pop(name)), array, err_msg=name)
    assert said["facts"] == {name: float(fact) for name, fact in section.facts(trace).items()}
    assert said["trace"] == {}


@pytest.mark.parametrize("id", WRITTEN)
def test_the_command_prints_every_array_and_fact_of_every_section(id):
    section = toc.load(id)
    assert_is_trace(strict(command.run([id])), section, section.defaults())


@pytest.mark.parametrize("id", WRITTEN)
def test_settings_on_the_command_line_are_those_of_the_section(id):
    section = toc.load(id)
    for values in other_settings(section, 2):
        assert_is_trace(strict(command.run([id, *(f"{name}={value}" for name, value in values.items())])), section, values)


def test_a_process_of_its_own_prints_json_and_ends_well():
    done = call("three_tokens", "q20=3")
    assert (done.returncode, done.stderr) == (0, "")
    said = strict(done.stdout)
    assert round(said["trace"]["weights"][2][2], 2) == 0.99
    assert math.isclose(said["facts"]["max_entropy"], math.log2(3))


def test_a_process_of_its_own_ends_with_two_and_one_line_on_bad_input():
    done = call("three_tokens", "q20=cat")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "content: q20=cat is not of the right kind; allowed: -3 … 3\n"


def test_a_reader_who_has_seen_enough_gets_no_traceback():
    written, read = os.pipe()[::-1]
    os.close(read)
    done = subprocess.run([sys.executable, "-m", "content", "position"], stdout=written, stderr=subprocess.PIPE, timeout=60)
    os.close(written)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "name a section: "), (("nothing",), "there is no section 'nothing'"), (("bag_of_words",), "there is no section"),
        (("../masks",), "there is no section"), (("x\ny",), "there is no section"), (("s" * 100_000,), "there is no section"),
        (("masks", "causal"), "'causal' is not name=value"), (("masks", "kind=causal", "kind=none"), "kind is given twice"),
        (("masks", "colour=red"), "there is no control 'colour'"), (("masks", "=1"), "there is no control ''"),
        (("masks", "a\nb=1"), "there is no control"), (("masks", "a\nb=1", "a\nb=1"), "is given twice"),
        (("masks", "kind=Causal"), "is not a choice; allowed: none, causal, padding, custom"),
        (("masks", "s0=nan"), "out of range"),
        (("masks", "s0=inf"), "out of range"), (("masks", "s0=1e308"), "out of range; allowed: -5 … 5"),
        (("masks", "query=1.5"), "not of the right kind"),
        (("masks", "s0=" + "9" * 100_000), "not of the right kind"), (("masks", "s0=[1]"), "not of the right kind"),
        (("masks", "s0=True"), "not of the right kind"),
        (("masks", "visible=11"), "is not a choice"), (("masks", "kind=custom", "visible=000"), "at least one visible score"),
    ],
)  # fmt: skip
def test_bad_input_is_answered_with_one_line_that_says_what_is_wrong(refused, arguments, says):
    assert says in refused(*arguments)


def test_the_refusal_names_what_there_is(refused):
    for id in WRITTEN:
        assert id in refused("nothing")


@pytest.mark.parametrize("id", WRITTEN)
def test_every_control_of_every_section_refuses_nan(refused, id):
    for name in toc.load(id).defaults():
        assert f"{name}=nan" in refused(id, f"{name}=nan") or id == "tokens"  # `nan` is a word, if an unknown one
