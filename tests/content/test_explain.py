"""Every number tells the arithmetic that made it: each rule by itself, and then every array of every section."""

import json
import math
import random
from typing import NamedTuple

import numpy as np
import param
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from content import toc
from content.explain import MOST_LEAVES, MOST_TERMS, Explainer, Traced
from content.section import Section, Undefined, arrays
from tests.content.drawn import WRITTEN, other_settings, values_of

CELLS = 16  # looked at in a larger array
SMALL = {"position": {"d": 4, "t": 8}}  # settings at which a whole page is walked through in little time
DEEPEST = 64  # as `app/steps.py` allows


# One rule at a time


class Controls(param.Parameterized):
    a = param.Number(2.0, bounds=(-9.0, 9.0))
    b = param.Number(3.0, bounds=(-9.0, 9.0))
    c = param.Number(5.0, bounds=(-9.0, 9.0))
    d = param.Number(-1.0, bounds=(-9.0, 9.0))


def explainer(**formulas):
    """An explainer of a section whose arrays are these functions of a row of its four controls."""
    Trace = NamedTuple("Trace", [(name, np.ndarray) for name in formulas])

    def compute(a, b, c, d):
        row = np.stack([a, b, c, d])
        return Trace(**{name: formula(row) for name, formula in formulas.items()})

    section = Section("sample", Controls, compute, lambda trace: {})
    return Explainer(section, section.defaults())


def written(tokens):
    """A line of tokens as a reader sees it; controls by name, numbers short."""
    return "".join(t["text"] if "text" in t else t.get("control") or f"{t['value']:g}" for t in tokens)


def line_of(formula, index=(0,)):
    return written(explainer(x=formula).line(explainer(x=formula).top("x", index)))


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        (lambda r: r[:1] + r[1:2], "a + b"),
        (lambda r: r[:1] - r[1:2] - r[2:3], "a − b − c"),
        (lambda r: r[:1] - (r[1:2] - r[2:3]), "a − (b − c)"),
        (lambda r: (r[:1] + r[1:2]) * r[2:3], "(a + b) · c"),
        (lambda r: r[:1] * r[1:2] + r[2:3], "a · b + c"),
        (lambda r: r[:1] + r[1:2] + r[2:3], "a + b + c"),
        (lambda r: r[:1] * r[1:2] * r[2:3], "a · b · c"),
        (lambda r: r[:1] * (r[1:2] + r[2:3]), "a · (b + c)"),
        (lambda r: (r[:1] ** 2) ** 3, "(a^2)^3"),
        (lambda r: (-r[:1]) ** 2, "(−a)^2"),
        (lambda r: r[:1] / r[1:2] / r[2:3], "a / b / c"),
        (lambda r: r[:1] / (r[1:2] * r[2:3]), "a / (b · c)"),
        (lambda r: r[:1] ** 2, "a^2"),
        (lambda r: (r[:1] + r[1:2]) ** 2, "(a + b)^2"),
        (lambda r: -r[:1], "−a"),
        (lambda r: -(r[:1] + r[1:2]), "−(a + b)"),
        (lambda r: np.sqrt(r[:1]), "√a"),
        (lambda r: np.sqrt(r[:1] + 1), "√(a + 1)"),
        (lambda r: np.exp(r[:1] - r[1:2]), "exp(a − b)"),
        (lambda r: np.log(r[:1]) / np.log2(r[1:2]), "ln(a) / log₂(b)"),
        (lambda r: np.tanh(r[:1]) + np.sin(r[1:2]) + np.cos(r[2:3]), "tanh(a) + sin(b) + cos(c)"),
        (lambda r: np.abs(r[3:]), "abs(d)"),
        (lambda r: np.maximum(r[:1], r[1:2]), "max(a, b)"),
        (lambda r: 1.0 - r[:1] * r[:1], "1 − a · a"),
        (lambda r: r.sum(keepdims=True), "a + b + c + d"),
        (lambda r: r.max(keepdims=True), "max(a, b, c, d)"),
        (lambda r: r[:3].prod(keepdims=True), "a · b · c"),
        (lambda r: r.mean(keepdims=True), "(a + b + c + d) / 4"),
        (lambda r: np.cumsum(r)[2:3], "a + b + c"),
        (lambda r: np.cumprod(r)[1:2], "a · b"),
        (lambda r: r[None, :2] @ r[2:, None], "a · c + b · d"),
        (lambda r: np.where(r > 0, r, 7.0)[:1], "a"),
        (lambda r: np.where(r > 0, r, 7.0)[3:], "7"),
        (lambda r: np.concatenate([r[3:], r[:1]]), "d"),
        (lambda r: r.reshape(2, 2).T.reshape(-1)[1:], "c"),
    ],
)  # fmt: skip
def test_a_cell_tells_its_arithmetic_as_a_person_writes_it(formula, text):
    shape = np.shape(getattr(explainer(x=formula).trace["x"], "value", None))
    assert line_of(formula, (0,) * len(shape)) == text


def test_a_number_on_show_is_named_by_its_place_and_not_followed_further():
    made = explainer(double=lambda r: 2 * r)
    Trace = NamedTuple("Trace", [("double", object), ("total", object)])

    def compute(a, b, c, d):
        double = 2 * np.stack([a, b, c, d])
        return Trace(double, double.sum(keepdims=True))

    section = Section("sample", Controls, compute, lambda trace: {})
    made = Explainer(section, section.defaults())
    tokens = made.line(made.top("total", (0,)))
    assert [(t["array"], t["index"], t["value"]) for t in tokens if "value" in t] == [
        ("double", [k], 2 * v) for k, v in enumerate([2.0, 3.0, 5.0, -1.0])
    ]


def test_a_recurrence_reads_its_last_state_as_an_element_of_the_same_array():
    Trace = NamedTuple("Trace", [("state", object)])

    def compute(a, b, c, d):
        states = [a]
        for _ in range(3):
            states.append(b * states[-1] + c)
        return Trace(np.stack(states))

    section = Section("sample", Controls, compute, lambda trace: {})
    made = Explainer(section, section.defaults())
    tokens = made.line(made.top("state", (3,)))
    assert [t.get("control") or (t.get("array"), t.get("index")) for t in tokens if "value" in t] == ["b", ("state", [2]), "c"]


def test_a_masked_score_is_a_sign_and_not_a_number():
    masked = explainer(x=lambda r: np.exp(r + np.array([0.0, -np.inf, 0.0, 0.0])))
    tokens = masked.line(masked.top("x", (1,)))
    assert written(tokens) == "exp(b + −∞)"
    assert all(math.isfinite(token["value"]) for token in tokens if "value" in token)


def test_a_long_sum_shows_its_beginning_its_end_and_how_many_lie_between():
    long = explainer(x=lambda r: np.tile(r, 5).sum(keepdims=True))
    tokens = long.line(long.top("x", (0,)))
    assert sum("value" in t for t in tokens) == MOST_TERMS - 1
    assert {"text": f"… ({20 - MOST_TERMS + 1})"} in tokens


def test_a_line_holds_few_numbers_and_what_it_leaves_out_can_be_followed():
    deep = explainer(x=lambda r: np.exp(np.sin(r * r + r / 3) @ np.cos(r - 1)).reshape(1))
    tokens = deep.line(deep.top("x", (0,)))
    assert sum("value" in t for t in tokens) <= MOST_LEAVES + 2
    (first, *_) = [t for t in tokens if "path" in t]
    assert deep.go("x", (0,), first["path"]).value == first["value"]


@pytest.mark.parametrize(
    ("index", "path"),
    [
        ((1,), ()),
        ((-1,), ()),
        ((), ()),
        ((0, 0), ()),
        ((0,), (4,)),
        ((0,), (-1,)),
        ((0,), (0, 0)),
        ((10**30,), ()),
        ((0,), (10**30,)),
    ],
)
def test_there_is_nothing_beyond_the_ends(index, path):
    with pytest.raises(IndexError):
        explainer(x=lambda r: r.sum(keepdims=True)).go("x", index, path)


def test_an_array_that_does_not_exist_is_a_key_error():
    with pytest.raises(KeyError):
        explainer(x=lambda r: r).top("y", (0,))


@pytest.mark.parametrize(
    "formula",
    [
        lambda r: np.arctan(r),
        lambda r: np.sort(r),
        lambda r: np.fmod(r, 2),
        lambda r: np.add.at(r, [0], 1),
        lambda r: np.add.outer(r, r),
    ],
)
def test_what_has_no_rule_says_so(formula):
    with pytest.raises((TypeError, NotImplementedError)):
        explainer(x=formula)


def test_comparisons_and_shapes_are_plain_for_they_decide_and_do_not_compute():
    row = Traced([1.0, -2.0], "control", name="x")
    for plain in (row > 0, row == 1, np.isfinite(row), np.shape(row), np.zeros_like(row), len(row), float(row[0])):
        assert not isinstance(plain, Traced)
    assert (row.shape, row.ndim, row.size, row.dtype) == ((2,), 1, 2, np.dtype(float))


OPERATIONS = {
    "sum of rows": lambda x: x.sum(axis=1),
    "sum kept": lambda x: x.sum(axis=-1, keepdims=True) * x,
    "np.sum": lambda x: np.sum(x),
    "np.prod": lambda x: np.prod(x, axis=0),
    "largest": lambda x: x - x.max(axis=0),
    "np.min": lambda x: np.min(x, axis=1, keepdims=True),
    "mean": lambda x: np.mean(x, axis=0),
    "transpose": lambda x: x.T,
    "product": lambda x: x @ x.T,
    "product with a row": lambda x: x[0] @ x.T,
    "product with a column": lambda x: x @ x[1],
    "dot": lambda x: x[0] @ x[1],
    "batched product": lambda x: x.reshape(2, 3, 1) @ x.reshape(2, 1, 3),
    "stack": lambda x: np.stack([x[0], x[1]], axis=1),
    "concatenate": lambda x: np.concatenate([x, 2 * x], axis=1),
    "roll": lambda x: np.roll(x, 1, axis=1),
    "flip": lambda x: np.flip(x, 0),
    "repeat": lambda x: np.repeat(x, 2, axis=0),
    "tile": lambda x: np.tile(x, (2, 1)),
    "take": lambda x: np.take(x, [2, 0], axis=1),
    "index": lambda x: x[[1, 0, 1]],
    "new axis": lambda x: x[:, None] - x[None],
    "where": lambda x: np.where(np.eye(2, 3) > 0, x, -x),
    "broadcast": lambda x: np.broadcast_to(x[0], (4, 3)),
    "cumsum": lambda x: np.cumsum(x, axis=1),
    "cumprod": lambda x: np.cumprod(x, axis=0),
    "diagonal": lambda x: np.diagonal(x),
    "squeeze": lambda x: np.squeeze(x[:, :1]),
    "expand": lambda x: np.expand_dims(x, 0),
    "swap": lambda x: np.swapaxes(x, 0, 1),
    "ravel": lambda x: np.ravel(x),
    "softmax": lambda x: np.exp(x - x.max(-1, keepdims=True)) / np.exp(x - x.max(-1, keepdims=True)).sum(-1, keepdims=True),
    "power": lambda x: (x * x + 1) ** -1.5,
    "from the right": lambda x: 2 - 3 / (x * x + 1),
    "columns": lambda x: np.column_stack([x[0], x[1]]),
    "rows": lambda x: np.vstack([x, x[:1]]),
    "beside": lambda x: np.hstack([x, x]),
}


@pytest.mark.parametrize("name", OPERATIONS)
@settings(max_examples=15)
@given(numbers=st.lists(st.floats(-8, 8), min_size=6, max_size=6))
def test_an_operation_gives_the_plain_numbers_and_every_cell_evaluates_to_its_own(name, numbers):
    plain = OPERATIONS[name](np.array(numbers).reshape(2, 3))
    Trace = NamedTuple("Trace", [("x", object)])
    lifted = [Traced(number, "control", name=f"n{k}") for k, number in enumerate(numbers)]
    section = Section(
        "sample", Controls, lambda **values: Trace(OPERATIONS[name](np.stack(lifted).reshape(2, 3))), lambda trace: {}
    )
    made = Explainer(section, {})
    np.testing.assert_array_equal(made.trace["x"].value, plain)
    for index in np.ndindex(np.shape(plain)):
        follow(made, "x", index, set())


# Every array of every section


def magnitude(expression, operands):
    """The size against which an error of the expression's own arithmetic is held: its largest term."""
    numbers = [abs(operand.value) for operand in operands if math.isfinite(operand.value)]
    if expression.form == ("pairs",):
        numbers = [a * b for a, b in zip(numbers[0::2], numbers[1::2])] or [0.0]
    elif expression.form not in (("fold", np.add), np.add, np.subtract):
        numbers = []
    return max([abs(expression.value), 1e-290, *numbers])


def follow(made, name, index, seen):
    """Walks from a cell down every operand; each evaluates to its number and ends in a place, a control or a constant."""
    waiting = [made.top(name, index)]
    while waiting:
        expression = waiting.pop()
        if expression.place is None and (id(expression.cell.array), expression.cell.at) in seen:
            continue
        seen.add((id(expression.cell.array), expression.cell.at))
        assert not math.isnan(expression.value)
        assert len(expression.path) <= DEEPEST
        if expression.form is None:
            constant = not isinstance(expression.cell.array, Traced)
            assert constant or expression.place is not None, f"{name}{list(index)} ends in nothing at {expression.path}"
            continue
        operands = made.operands(expression)
        assert operands
        tolerance = 1e-12 if np.asarray(made_of(expression)).dtype == np.float64 else 1e-5  # float32 in `position`
        got = made.evaluate(expression)
        assert got == expression.value or abs(got - expression.value) <= tolerance * magnitude(expression, operands), (
            name,
            index,
            expression.path,
            expression.form,
        )
        waiting += operands


def made_of(expression):
    array = expression.cell.array
    return array.value if isinstance(array, Traced) else array


def read(made, name, index, trace, values, chance):
    """Walks down as a reader does, choosing a number of each line, and checks every token on the way."""
    path, expected = (), trace[name][index]
    while path is not None:
        expression = made.go(name, index, path)
        assert expression.value == expected
        tokens = json.loads(json.dumps(made.line(expression), allow_nan=False))
        assert tokens
        for token in tokens:
            if "text" in token:
                assert set(token) == {"text"} and token["text"]
                continue
            assert math.isfinite(token["value"])
            if "array" in token:
                assert token["value"] == trace[token["array"]][tuple(token["index"])], (
                    f"{name}{list(index)} points at the wrong cell: {token}"
                )
                assert path or (token["array"], tuple(token["index"])) != (name, index), "a cell explained by itself"
            elif "control" in token:
                assert token["value"] == values[token["control"]]
            elif "path" in token:
                assert len(path) < len(token["path"]) <= DEEPEST
        deeper = [token for token in tokens if "path" in token]
        chosen = chance.choice(deeper) if deeper else {"path": None, "value": None}
        path, expected = chosen["path"], chosen["value"]


def some_cells(array, count, chance):
    cells = list(np.ndindex(array.shape))
    return cells if len(cells) <= count else chance.sample(cells, count)


def assert_explained(id, values, count):
    section, chance = toc.load(id), random.Random(id)
    with np.errstate(all="ignore"):
        made, trace = Explainer(section, values), arrays(section.trace(values))
        assert list(made.trace) == list(trace)
        seen = set()
        for name, array in trace.items():
            traced = made.trace[name]
            np.testing.assert_array_equal(traced.value if isinstance(traced, Traced) else np.asarray(traced), array, err_msg=name)
            for index in some_cells(array, count, chance):
                follow(made, name, index, seen)
            for index in some_cells(array, count, chance):
                read(made, name, index, trace, values, chance)


@pytest.mark.parametrize("id", WRITTEN)
def test_every_array_at_the_textbook_setting_explains_itself(id):
    assert_explained(id, toc.load(id).defaults(), CELLS)


@pytest.mark.parametrize("id", WRITTEN)
def test_every_array_away_from_the_textbook_setting_explains_itself(id):
    for values in other_settings(toc.load(id), 2):
        assert_explained(id, values, 6)


@pytest.mark.parametrize("id", WRITTEN)
@settings(max_examples=5)
@given(st.data())
def test_every_array_explains_itself_wherever_the_controls_stand(id, data):
    try:
        assert_explained(id, data.draw(values_of(toc.load(id))), 2)
    except Undefined:
        pass  # no numbers, nothing to explain


def places(made, cell):
    """The cells that a cell's arithmetic names, down to controls and constants."""
    return {(place.name, place.index) for place in leaves(made, *cell) if place.kind == "array"} - {cell}


def leaves(made, name, index):
    """The places in which a cell's arithmetic ends: cells of arrays, and controls."""
    waiting, seen, found = [made.top(name, index)], set(), set()
    while waiting:
        expression = waiting.pop()
        if expression.place is not None:
            found.add(expression.place)
        elif expression.form is not None and (id(expression.cell.array), expression.cell.at) not in seen:
            seen.add((id(expression.cell.array), expression.cell.at))
            waiting += made.operands(expression)
    return found


@pytest.mark.parametrize("id", WRITTEN)
def test_places_lead_from_cell_to_cell_and_never_in_a_circle(id):
    section, chance = toc.load(id), random.Random(id)
    made, done = Explainer(section, {**section.defaults(), **SMALL.get(id, {})}), set()
    for name, array in arrays(section.trace({**section.defaults(), **SMALL.get(id, {})})).items():
        (start,) = chance.sample([(name, index) for index in np.ndindex(array.shape)], 1)
        way = [(start, iter(places(made, start)))]
        while way:
            cell, rest = way[-1]
            following = next((next_cell for next_cell in rest if next_cell not in done), None)
            if following is None:
                done.add(way.pop()[0])
            else:
                assert following not in [passed for passed, _ in way], f"{following} is explained by itself"
                way.append((following, iter(places(made, following))))


@pytest.mark.parametrize("id", WRITTEN)
def test_something_on_every_page_leads_down_to_a_slider(id):
    section, chance = toc.load(id), random.Random(id)
    floats = {name for name, value in section.defaults().items() if isinstance(value, float)}
    made = Explainer(section, section.defaults())
    cells = [
        (name, index)
        for name, array in arrays(section.trace(section.defaults())).items()
        for index in some_cells(array, CELLS, chance)
    ]
    reached = {place.name for cell in cells for place in leaves(made, *cell) if place.kind == "control"}
    assert reached <= floats
    assert reached or not floats


def test_every_activation_of_the_chain_explains_itself():
    defaults = toc.load("tanh_chain").defaults()
    for activation in ("identity", "tanh", "sigmoid", "relu"):
        assert_explained("tanh_chain", {**defaults, "activation": activation, "t": 7, "x": -1.0}, 7)


def test_single_precision_is_explained_too():
    assert_explained("position", {**toc.load("position").defaults(), "dtype": "float32"}, 3)


def test_other_settings_are_really_others():
    for id in WRITTEN:
        defaults = toc.load(id).defaults()
        assert all(values != defaults for values in other_settings(toc.load(id), 3))
