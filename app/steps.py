"""One message from a page and its answer: a step of the lab, the arithmetic of a number, a checked exercise, a wish to train.

Nothing is remembered between messages, but for training, which has its own desk. A step carries every control, its
answer every array, so a dropped socket, another process or a restart loses nothing.
"""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache
from typing import Any, Mapping, NamedTuple

import numpy as np

from app import prose, training
from content import toc
from content.controls import check, shown
from content.explain import Explainer
from content.section import Section, Undefined, arrays

LARGE = 1024  # bytes; the page says which arrays of this size it already holds
KINDS = ("step", "explain", "check", *training.KINDS)


class Refused(ValueError):
    """A message that cannot be taken; the text says in one line what was wrong and what is allowed."""


class Step(NamedTuple):
    """A computed state, ready to send: what stands in the head, and each array's bytes."""

    facts: Mapping[str, float]
    arrays: tuple[tuple[str, list[int], str | None, bytes], ...]  # name, shape, digest of a large one, float64


def answer(text: Any) -> tuple[str, bytes]:
    """The answer to a page's message (JSON text): a JSON head, and the arrays it announces as little-endian float64.

    Never raises for what a reader sends: a bad message gets a head with "error".
    """
    try:
        message = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        message = None
    id = message.get("id") if isinstance(message, dict) else None
    id = id if isinstance(id, int) and not isinstance(id, bool) and abs(id) < 2**53 else None
    try:
        head, body = take(message)
    except Undefined as undefined:
        head, body = {"undefined": undefined.reason}, b""
    except (Refused, training.Malformed) as refused:
        head, body = {"error": str(refused)}, b""
    return json.dumps({"id": id, **head}), body


def take(message: Any) -> tuple[dict[str, Any], bytes]:
    """Checks a message and answers it. Raises `Refused`, or `Undefined` where the state has no numbers."""
    if not isinstance(message, dict):
        raise Refused("a message is the JSON text of an object with id, kind and page")
    kind, page = message.get("kind"), message.get("page")
    if kind not in KINDS:
        raise Refused(f"there is no message kind {shown(kind)}; allowed: {', '.join(KINDS)}")
    if not isinstance(page, str) or page not in toc.written():
        raise Refused(f"there is no section {shown(page)}; allowed: {', '.join(toc.written())}")
    section = toc.load(page)
    if kind == "check":
        return judge(section, message), b""
    if kind in training.KINDS and kind != "train":
        return training.answer(message, None), b""
    given = message.get("values")
    if not isinstance(given, dict) or len(given) > 200:
        raise Refused("values is an object with every control of the section")
    values, problems = check(section, given, complete=True)
    if problems:
        raise Refused(str(problems[0]))
    if kind == "train":
        return training.answer(message, values), b""
    if kind == "explain":
        return explain(section, values, message), b""
    have = message.get("have", {})
    if not isinstance(have, dict):
        raise Refused("have is an object of array names and digests")
    return pack(step(page, tuple(values.items())), have)


@lru_cache(maxsize=512)
def step(page: str, values: tuple[tuple[str, Any], ...]) -> Step:
    """The state of a section at these values. Cached: when a class follows one link, it is computed once."""
    section = toc.load(page)
    trace = section.trace(dict(values))
    packed = []
    for name, array in arrays(trace).items():
        data = np.ascontiguousarray(array, dtype="<f8").tobytes()
        digest = hashlib.blake2b(data, digest_size=8).hexdigest() if len(data) > LARGE else None
        packed.append((name, list(array.shape), digest, data))
    return Step({name: float(fact) for name, fact in section.facts(trace).items()}, tuple(packed))


training.on_finished(step.cache_clear)  # a section may show the run


def pack(state: Step, have: Mapping[str, Any]) -> tuple[dict[str, Any], bytes]:
    """Head and body of a step's answer; a large array that the page holds already is named but not sent."""
    listed, body = [], []
    for name, shape, digest, data in state.arrays:
        known = digest is not None and have.get(name) == digest
        listed.append([name, shape, digest, not known])
        if not known:
            body.append(data)
    return {"facts": state.facts, "arrays": listed}, b"".join(body)


def explain(section: Section, values: Mapping[str, Any], message: Mapping[str, Any]) -> dict[str, Any]:
    """One level of the arithmetic behind a cell, as tokens."""
    name, index, path = message.get("array"), message.get("index"), message.get("path", [])
    for numbers in (index, path):
        if not isinstance(numbers, list) or len(numbers) > 64 or not all(type(i) is int and 0 <= i < 2**31 for i in numbers):
            raise Refused("index and path are short lists of whole numbers from 0")
    explainer = Explainer(section, values)
    if not isinstance(name, str) or name not in explainer.trace:
        raise Refused(f"there is no array {shown(name)}; allowed: {', '.join(explainer.trace)}")
    try:
        expression = explainer.go(name, index, path)
    except IndexError as error:
        raise Refused(str(error)) from None
    return {"line": explainer.line(expression), "value": expression.value}


def judge(section: Section, message: Mapping[str, Any]) -> dict[str, Any]:
    """Whether an answer to an exercise is right."""
    name, typed = message.get("exercise"), message.get("answer")
    if not isinstance(name, str) or not isinstance(typed, str):
        raise Refused("exercise and answer are texts")
    try:
        right, tolerance = prose.judge(section.id, name, typed)
    except KeyError:
        raise Refused(f"there is no exercise {shown(name)} in {section.id}") from None
    except ValueError:
        return {"verdict": "bad"}
    return {"verdict": "right" if right else "wrong", "tolerance": tolerance}
