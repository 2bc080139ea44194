"""A message and its answer: steps, explanations and checks, and one line for everything that is none of them."""

import json
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app import prose, steps
from content import toc
from content.explain import Explainer
from content.numbers import write_number
from content.section import Undefined, arrays
from tests.content.drawn import WRITTEN, other_settings, values_of

MOST = 100_000  # characters of an answer to a bad message
KINDS = ("step", "explain", "check")  # training is tested by itself
DEFAULTS = {id: toc.load(id).defaults() for id in WRITTEN}


def ask(message):
    """Head (as JSON without NaN and Infinity) and body of the answer to a message."""
    text = message if isinstance(message, str) else json.dumps(message)
    head, body = steps.answer(text)
    assert "\n" not in head
    return json.loads(head, parse_constant=lambda name: pytest.fail(f"{name} in the head")), body


def refused(message):
    """The one line with which a bad message is answered."""
    head, body = ask(message)
    assert body == b""
    assert set(head) == {"id", "error"}
    assert len(json.dumps(head)) < MOST
    assert head["error"].isprintable()
    return head["error"]


def unpack(head, body):
    """The arrays of an answer by name, read as the page reads them."""
    found, start = {}, 0
    for name, shape, digest, sent in head["arrays"]:
        if sent:
            size = int(np.prod(shape, dtype=int))
            found[name] = np.array(struct.unpack_from(f"<{size}d", body, start)).reshape(shape)
            start += 8 * size
    assert start == len(body)
    return found


def step(page, /, **changes):
    return {"id": 1, "kind": "step", "page": page, "values": DEFAULTS[page], **changes}


# Steps


@pytest.mark.parametrize("id", WRITTEN)
def test_a_step_brings_every_array_and_fact_of_the_state(id):
    section = toc.load(id)
    for values in (DEFAULTS[id], *other_settings(section, 1)):
        head, body = ask(step(id, values=values, id=7))
        trace = section.trace(values)
        assert head["id"] == 7
        assert head["facts"] == {name: float(fact) for name, fact in section.facts(trace).items()}
        found = unpack(head, body)
        assert list(found) == list(arrays(trace))
        for name, array in arrays(trace).items():
            np.testing.assert_array_equal(found[name], array, err_msg=name)


def test_the_order_of_the_values_in_a_message_does_not_matter():
    values = dict(reversed(DEFAULTS["three_tokens"].items()))
    assert ask(step("three_tokens", values=values)) == ask(step("three_tokens"))


def test_a_golden_number_comes_out_of_a_step():
    head, body = ask(step("three_tokens", values={**DEFAULTS["three_tokens"], "q20": 3}))
    assert unpack(head, body)["weights"][2, 2].round(2) == 0.99


def test_large_arrays_carry_a_digest_and_are_not_sent_to_who_holds_them():
    head, body = ask(step("position"))
    digests = {name: digest for name, _, digest, _ in head["arrays"] if digest}
    assert "encoding" in digests
    again, rest = ask(step("position", have=digests))
    assert {name for name, _, _, sent in again["arrays"] if not sent} == set(digests)
    assert len(rest) == len(body) - sum(8 * int(np.prod(shape)) for _, shape, digest, _ in head["arrays"] if digest)
    assert again["facts"] == head["facts"]


def test_small_arrays_carry_none():
    head, _ = ask(step("three_tokens"))
    assert all(digest is None and sent for _, _, digest, sent in head["arrays"])


def test_a_changed_array_is_sent_whatever_the_page_holds():
    digests = {name: digest for name, _, digest, _ in ask(step("position"))[0]["arrays"] if digest}
    head, body = ask(step("position", values={**DEFAULTS["position"], "base": 100.0}, have=digests))
    assert "encoding" in unpack(head, body)


@pytest.mark.parametrize("have", [{"encoding": 1}, {"encoding": None}, {"encoding": ["x"]}, {"nothing": "x"}, {}])
def test_digests_that_are_none_are_no_digests(have):
    assert "encoding" in unpack(*ask(step("position", have=have)))


def test_the_same_state_is_computed_once(monkeypatch):
    steps.step.cache_clear()
    for _ in range(5):
        ask(step("three_tokens"))
    assert (steps.step.cache_info().misses, steps.step.cache_info().hits) == (1, 4)


def test_true_and_one_are_not_taken_for_each_other_in_the_cache():
    ask(step("three_tokens"))
    assert "is not a choice" in refused(step("three_tokens", values={**DEFAULTS["three_tokens"], "scaled": True}))


def test_a_state_without_numbers_names_its_reason():
    values = {**DEFAULTS["masks"], "kind": "custom", "visible": "000"}
    assert ask(step("masks", values=values)) == ({"id": 1, "undefined": "all_masked"}, b"")
    assert ask(step("masks", kind="explain", values=values, array="weights", index=[0, 0])) == (
        {"id": 1, "undefined": "all_masked"},
        b"",
    )


# Explanations


@pytest.mark.parametrize("id", WRITTEN)
def test_a_cell_of_every_array_is_explained_and_its_operands_can_be_followed(id):
    section = toc.load(id)
    for name, array in arrays(section.trace(DEFAULTS[id])).items():
        index = [n - 1 for n in array.shape]
        message = {"id": 3, "kind": "explain", "page": id, "values": DEFAULTS[id], "array": name, "index": index}
        head, body = ask(message)
        assert body == b"" and head["id"] == 3
        assert head["value"] == array[tuple(index)]
        assert head["line"] == ask({**message, "path": []})[0]["line"]
        deeper = [token for token in head["line"] if "path" in token]
        if deeper:
            assert ask({**message, "path": deeper[-1]["path"]})[0]["value"] == deeper[-1]["value"]


def test_an_explanation_is_the_explainers_line():
    section, values = toc.load("three_tokens"), DEFAULTS["three_tokens"]
    explainer = Explainer(section, values)
    head, _ = ask({"id": 1, "kind": "explain", "page": "three_tokens", "values": values, "array": "output", "index": [0, 0]})
    assert head["line"] == explainer.line(explainer.top("output", (0, 0)))
    assert [t["index"] for t in head["line"] if t.get("array") == "weights"] == [[0, 0], [0, 1], [0, 2]]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"array": "nothing"}, "there is no array nothing"), ({"array": None}, "there is no array"),
        ({"array": ["weights"]}, "there is no array"),
        ({"array": "x" * 10_000}, "there is no array"), ({"array": "a\nb"}, "there is no array"),
        ({"index": None}, "whole numbers"), ({"index": "00"}, "whole numbers"),
        ({"index": [0]}, "has shape"), ({"index": []}, "has shape"), ({"index": [0, 3]}, "has shape"),
        ({"index": [0, 0, 0]}, "has shape"), ({"index": [0, -1]}, "whole numbers"),
        ({"index": [0, 0.0]}, "whole numbers"), ({"index": [0, True]}, "whole numbers"),
        ({"index": [0, 10**4000]}, "whole numbers"), ({"index": [0] * 1000}, "whole numbers"),
        ({"path": [99]}, "nothing at"), ({"path": [0] * 64}, "nothing at"), ({"path": [0] * 65}, "whole numbers"),
        ({"path": ["0"]}, "whole numbers"), ({"path": {}}, "whole numbers"),
        ({"path": [10**4000] * 60}, "whole numbers"), ({"path": None}, "whole numbers"),
    ],
)  # fmt: skip
def test_a_bad_question_about_a_cell_gets_one_line(changes, says):
    message = {
        "id": 1,
        "kind": "explain",
        "page": "three_tokens",
        "values": DEFAULTS["three_tokens"],
        "array": "weights",
        "index": [0, 0],
    }
    assert says in refused({**message, **changes})


# Checks


@pytest.mark.parametrize("id", WRITTEN)
def test_every_exercise_takes_its_own_answer_and_refuses_one_that_is_off(id):
    exercises = prose.load(id, "en").exercises
    assert len(exercises) >= 2
    for name, exercise in exercises.items():
        right = prose.quote(prose.quotable_at(id, exercise.setting), exercise.name)

        def verdict(answer):
            head, _ = ask({"id": 1, "kind": "check", "page": id, "exercise": name, "answer": answer})
            assert head.get("tolerance", exercise.tolerance) == exercise.tolerance
            return head["verdict"]

        for language in ("en", "uk"):
            full = (
                write_number(right, "full", language).replace("·10", "e").translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-"))
            )
            assert verdict(full.replace(",", "") if language == "en" else full) == "right"
        assert verdict(repr(right + 0.99 * exercise.tolerance)) == "right"
        assert verdict(repr(right + 1.01 * exercise.tolerance + 1e-9)) == "wrong"
        assert verdict(repr(right - 1.01 * exercise.tolerance - 1e-9)) == "wrong"
        for typed in ("", "cat", "nan", "inf", "1/0", "9" * 50_000):
            assert verdict(typed) == "bad"


@pytest.mark.parametrize(
    ("changes", "says"),
    [({"exercise": "nothing"}, "there is no exercise nothing in masks"),
     ({"exercise": None}, "are texts"), ({"answer": 0.5}, "are texts"), ({"answer": None}, "are texts"),
     ({"exercise": "x" * 50_000}, "there is no exercise")],
)  # fmt: skip
def test_a_bad_answer_to_a_question_gets_one_line(changes, says):
    assert says in refused({"id": 1, "kind": "check", "page": "masks", "exercise": "zeroed_output", "answer": "1", **changes})


# Everything else


@pytest.mark.parametrize(
    ("message", "says"),
    [
        ("", "JSON text of an object"), ("null", "JSON text of an object"), ("[]", "JSON text of an object"),
        ("{", "JSON text of an object"), ("NaN", "JSON text of an object"),
        ("[" * 100_000, "JSON text of an object"), ('{"a":' * 100_000, "JSON text of an object"),
        ("1" * 100_000, "JSON text of an object"), ("{}", "there is no message kind None"),
        (step("masks", kind="run"), "there is no message kind run; allowed: step, explain, check"),
        (step("masks", kind=["step"]), "there is no message kind"),
        (step("masks", page="nothing"), "there is no section nothing; allowed: "),
        (step("masks", page="misconceptions"), "there is no section"),
        (step("masks", page=None), "there is no section"), (step("masks", page=["masks"]), "there is no section"),
        (step("masks", page="../masks"), "there is no section"),
        (step("masks", values=None), "values is an object"), (step("masks", values=[]), "values is an object"),
        (step("masks", values={f"v{k}": 1 for k in range(300)}), "values is an object"),
        (step("masks", values={}), "is missing"), (step("masks", have=[]), "have is an object"),
        (step("masks", have=None), "have is an object"),
    ],
)  # fmt: skip
def test_a_message_that_is_none_gets_one_line(message, says):
    assert says in refused(message)


@pytest.mark.parametrize("id", WRITTEN)
def test_a_missing_an_unknown_and_an_illegal_control_are_named(id):
    for name in DEFAULTS[id]:
        assert refused(step(id, values={k: v for k, v in DEFAULTS[id].items() if k != name})).startswith(
            f"{name} is missing; allowed: "
        )
    assert "there is no control 'colour'" in refused(step(id, values={**DEFAULTS[id], "colour": 1}))
    for wrong in (None, [], [1.0], {}, float("nan"), float("inf"), 1e308, True, "9" * 1000, "1\n2", "<b>"):
        for name in DEFAULTS[id]:
            if id != "tokens" or name != "sentence":
                assert f"{name}=" in refused(step(id, values={**DEFAULTS[id], name: wrong}))


@pytest.mark.parametrize("id", [1, 0, -1, 2**53 - 1])
def test_the_answer_carries_the_number_of_the_question(id):
    assert ask(step("masks", id=id))[0]["id"] == id


@pytest.mark.parametrize("id", [None, True, "1", 1.5, [], {}, 2**53, 10**60])
def test_what_is_no_number_of_a_question_is_not_said_back(id):
    assert ask(step("masks", id=id))[0]["id"] is None


@pytest.mark.parametrize("depth", [10, 100, 300, 500, 900, 980, 990, 1000, 5000])
@pytest.mark.parametrize("key", ["kind", "page", "values", "have", "id", "index", "path", "array"])
def test_deep_nesting_anywhere_is_answered(key, depth):
    message = json.dumps({**step("masks", kind="explain", array="weights", index=[0, 0]), key: "HERE"})
    head, _ = ask(message.replace('"HERE"', "[" * depth + "]" * depth))
    assert "error" in head or key in ("have", "id")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=200)
@given(st.text(max_size=300) | json_values.map(json.dumps))
def test_no_text_raises(text):
    refused(text)


@given(json_values)
def test_what_is_no_text_is_refused_too(value):
    head, body = steps.answer(value)
    assert body == b"" and "error" in json.loads(head)


keys = ["id", "kind", "page", "values", "have", "array", "index", "path", "exercise", "answer"]


@settings(max_examples=200)
@given(st.data())
def test_a_good_message_with_anything_put_into_it_gets_an_answer(data):
    id = data.draw(st.sampled_from(WRITTEN))
    message = {
        "id": 1, "kind": data.draw(st.sampled_from(KINDS)), "page": id, "values": dict(DEFAULTS[id]),
        "array": data.draw(st.sampled_from(list(arrays(toc.load(id).trace(DEFAULTS[id]))))),
        "index": data.draw(st.lists(st.integers(0, 3), max_size=2)), "path": [], "exercise": "x", "answer": "1",
    }  # fmt: skip
    for key in data.draw(st.lists(st.sampled_from(keys), max_size=3)):
        message[key] = data.draw(json_values)
    for key in data.draw(st.lists(st.sampled_from(list(DEFAULTS[id])), max_size=2)):
        if isinstance(message["values"], dict):
            message["values"][key] = data.draw(json_values)
    head, body = ask(json.dumps(message))
    if "error" in head:
        assert head["error"].isprintable() and len(json.dumps(head)) < MOST and body == b""
    else:
        assert set(head) in (
            {"id", "facts", "arrays"},
            {"id", "line", "value"},
            {"id", "verdict"},
            {"id", "verdict", "tolerance"},
            {"id", "undefined"},
        )


@pytest.mark.parametrize("id", WRITTEN)
@settings(max_examples=10)
@given(st.data())
def test_any_legal_state_is_answered_with_its_numbers(id, data):
    section, values = toc.load(id), data.draw(values_of(toc.load(id)))
    head, body = ask(step(id, values=values))
    try:
        trace = section.trace(values)
    except Undefined as undefined:
        assert head == {"id": 1, "undefined": undefined.reason}
        return
    for name, array in arrays(trace).items():
        np.testing.assert_array_equal(unpack(head, body)[name], array, err_msg=name)
