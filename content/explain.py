"""Traced numbers: any number on show tells the arithmetic that made it.

A section's `compute` is run once more with its controls lifted to `Traced` arrays. NumPy calls back into
`Traced` for every operation (NEP 13 and NEP 18), which keeps the plain result and remembers how it was made.
A single cell is then followed backwards through these arrays, so that a large array costs no more than the
operations on the path to the cell. The arithmetic shown is thus derived from the code that computed it.
"""

from __future__ import annotations

import operator
from functools import cached_property
from typing import Any, Callable, Iterator, Mapping, NamedTuple, Sequence

import numpy as np

from content.section import Section

# How each elementwise operation is written. Numbers are the binding strength, for brackets.
INFIX = {np.add: (" + ", 1), np.subtract: (" − ", 1), np.multiply: (" · ", 2), np.divide: (" / ", 2), np.power: ("^", 4)}
PREFIX = {np.negative: ("−", 3), np.sqrt: ("√", 3)}
CALL = {
    np.exp: "exp", np.log: "ln", np.log2: "log₂", np.log10: "log₁₀", np.tanh: "tanh", np.sin: "sin", np.cos: "cos",
    np.absolute: "abs", np.maximum: "max", np.minimum: "min", np.floor: "floor",
}  # fmt: skip
REDUCE = {np.add: "sum", np.multiply: "product", np.maximum: "max", np.minimum: "min"}
FOLDS = {
    np.sum: np.add, np.prod: np.multiply, np.max: np.maximum, np.amax: np.maximum, np.min: np.minimum,
    np.amin: np.minimum,
}  # fmt: skip
EXTREMES = {("fold", np.maximum), ("fold", np.minimum)}  # inside a line their value says enough
RUNNING = {np.cumsum: np.add, np.cumprod: np.multiply}
# Functions that only move numbers: where each result came from is found by moving indices the same way.
MOVES_FIRST = {
    np.reshape, np.transpose, np.broadcast_to, np.expand_dims, np.squeeze, np.take, np.repeat, np.tile, np.roll,
    np.diagonal, np.swapaxes, np.flip, np.ravel, np.atleast_2d,
}  # fmt: skip
MOVES_LIST = {np.stack, np.concatenate, np.vstack, np.hstack, np.column_stack}
MOST_TERMS = 8  # of a sum or product on one line
MOST_LEAVES = 16  # numbers on one line


class Traced(np.lib.mixins.NDArrayOperatorsMixin):
    """An array that remembers how it was made.

    `value` is the plain array; `rule` says how `operands` (arrays, traced or not) give it:
    "control", "elementwise", "reduce", "accumulate", "matmul" or "move".
    """

    __array_priority__ = 1000

    def __init__(
        self, value: Any, rule: str, operands: Sequence[Any] = (), function: Any = None, options: Any = None, name: str = ""
    ) -> None:
        self.value = np.asarray(value)
        self.rule, self.operands, self.function, self.options, self.name = rule, tuple(operands), function, options, name

    shape = property(lambda self: self.value.shape)
    ndim = property(lambda self: self.value.ndim)
    size = property(lambda self: self.value.size)
    dtype = property(lambda self: self.value.dtype)

    @property
    def T(self) -> Traced:
        return np.transpose(self)

    def __len__(self) -> int:
        return len(self.value)

    def __iter__(self) -> Iterator[Traced]:
        return (self[i] for i in range(len(self)))

    def __float__(self) -> float:
        return float(self.value)

    def __getitem__(self, key: Any) -> Traced:
        return _move(operator.getitem, (self, key), {}, [self])

    def reshape(self, *shape: Any) -> Traced:
        return np.reshape(self, shape[0] if len(shape) == 1 else shape)

    def astype(self, dtype: Any) -> Traced:
        """The same numbers, rounded to `dtype`."""
        moved = _move(operator.getitem, (self, ...), {}, [self])
        moved.value = self.value.astype(dtype)
        return moved

    def sum(self, axis: int | None = None, keepdims: bool = False) -> Traced:
        return _reduce(np.add, self, axis, keepdims)

    def max(self, axis: int | None = None, keepdims: bool = False) -> Traced:
        return _reduce(np.maximum, self, axis, keepdims)

    def min(self, axis: int | None = None, keepdims: bool = False) -> Traced:
        return _reduce(np.minimum, self, axis, keepdims)

    def prod(self, axis: int | None = None, keepdims: bool = False) -> Traced:
        return _reduce(np.multiply, self, axis, keepdims)

    def mean(self, axis: int | None = None, keepdims: bool = False) -> Traced:
        total = _reduce(np.add, self, axis, keepdims)
        return total / (self.size // max(total.size, 1))

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        plain = getattr(ufunc, method)(*map(_plain, inputs), **kwargs)
        if method == "__call__" and ufunc is np.matmul:
            return Traced(plain, "matmul", inputs)
        if method == "__call__" and (ufunc in INFIX or ufunc in PREFIX or ufunc in CALL):
            return Traced(plain, "elementwise", inputs, ufunc)
        if method == "reduce" and ufunc in REDUCE:
            return _reduce(ufunc, inputs[0], kwargs.get("axis", 0), kwargs.get("keepdims", False))
        if method == "accumulate" and ufunc in REDUCE:
            return Traced(plain, "accumulate", inputs, ufunc, kwargs.get("axis", 0))
        if method == "__call__" and np.asarray(plain).dtype == bool:
            return plain  # a comparison decides, it does not compute
        raise TypeError(f"explain.py has no rule for {ufunc.__name__}.{method}")

    def __array_function__(self, function: Callable, types: Any, args: tuple, kwargs: Mapping[str, Any]) -> Any:
        if function in MOVES_FIRST:
            return _move(function, args, kwargs, [args[0]])
        if function in MOVES_LIST:
            return _move(function, (tuple(args[0]), *args[1:]), kwargs, list(args[0]))
        if function is np.where:
            return _move(function, args, kwargs, list(args[1:3]))
        if function in FOLDS:
            return _reduce(FOLDS[function], *args, **{"axis": None, **kwargs})
        if function in RUNNING:
            return RUNNING[function].accumulate(*args, **kwargs)
        if function is np.mean:
            return args[0].mean(*args[1:], **kwargs)
        if function in (np.zeros_like, np.ones_like, np.shape, np.ndim, np.size):
            return function(*map(_plain, args), **kwargs)
        raise TypeError(f"explain.py has no rule for {function.__name__}")

    @cached_property
    def sources(self) -> np.ndarray:
        """For a "move": which element of which operand each element is, as offsets into all operands laid end to end."""
        function, args, kwargs = self.options
        numbers, start = [], 0
        for operand in self.operands:
            size = np.size(_plain(operand))
            numbers.append(np.arange(start, start + size).reshape(np.shape(_plain(operand))))
            start += size
        if function in MOVES_LIST:
            args = (tuple(numbers), *args[1:])
        elif function is np.where:
            args = (_plain(args[0]), *numbers)
        else:
            args = (numbers[0], *map(_plain, args[1:]))
        return np.asarray(function(*args, **kwargs))


def _plain(operand: Any) -> Any:
    return operand.value if isinstance(operand, Traced) else operand


def _move(function: Callable, args: tuple, kwargs: Mapping[str, Any], operands: Sequence[Any]) -> Traced:
    plain = [tuple(map(_plain, a)) if isinstance(a, tuple) else _plain(a) for a in args]
    return Traced(function(*plain, **kwargs), "move", operands, function, (function, args, dict(kwargs)))


def _axis(stacked: Traced) -> int:
    """The axis along which `np.stack` joined its parts."""
    _, args, kwargs = stacked.options
    return kwargs.get("axis", args[1] if len(args) > 1 else 0)


def _reduce(ufunc: np.ufunc, operand: Traced, axis: int | None = None, keepdims: bool = False) -> Traced:
    value = ufunc.reduce(operand.value, axis=axis, keepdims=keepdims)
    return Traced(value, "reduce", [operand], ufunc, (axis, keepdims))


class Cell(NamedTuple):
    """One element of an array: the array (traced or plain) and its flat index."""

    array: Any
    at: int

    @property
    def value(self) -> float:
        return np.asarray(_plain(self.array)).reshape(-1)[self.at].item()

    def moved(self) -> Cell:
        """The element one step back through an array that only moves numbers."""
        offset = int(self.array.sources.reshape(-1)[self.at])
        for operand in self.array.operands:
            size = np.size(_plain(operand))
            if offset < size:
                return Cell(operand, offset)
            offset -= size
        raise IndexError(offset)

    def parts(self) -> list[Cell]:
        """The elements this one was computed from, in the order a person would write them."""
        array = self.array
        index = np.unravel_index(self.at, array.shape)
        if array.rule == "elementwise":
            return [_element(operand, index) for operand in array.operands]
        if array.rule == "matmul":
            return _matmul_terms(array, index)
        operand = array.operands[0]
        if array.rule == "accumulate":
            axis = array.options
            return [_element(operand, (*index[:axis], k, *index[axis + 1 :])) for k in range(index[axis] + 1)]
        axis, keepdims = array.options
        return [Cell(operand, int(at)) for at in _summed(operand.shape, axis, keepdims, index)]


def _element(operand: Any, index: Sequence[int]) -> Cell:
    """The element that broadcasting pairs with `index` of the result."""
    shape = np.shape(_plain(operand))
    own = [0 if n == 1 else int(i) for n, i in zip(shape, index[len(index) - len(shape) :])]
    return Cell(operand, int(np.ravel_multi_index(own, shape)) if shape else 0)


def _matmul_terms(array: Traced, index: Sequence[int]) -> list[Cell]:
    """Pairs of factors, left and right in turn."""
    left, right = array.operands
    a, b = np.ndim(_plain(left)), np.ndim(_plain(right))
    row = index[: len(index) - (b > 1)] if a > 1 else ()
    column = index[-1:] if b > 1 else ()
    batch = index[:-2] if a > 1 and b > 1 else index[:-1]
    cells = []
    for k in range(np.shape(_plain(left))[-1]):
        cells.append(_element(left, (*row, k)))
        cells.append(_element(right, (*(batch if b > 2 else ()), k, *column) if b > 1 else (k,)))
    return cells


def _summed(shape: Sequence[int], axis: int | None, keepdims: bool, index: Sequence[int]) -> np.ndarray:
    """Flat indices of the elements that a reduction over `axis` folded into the element at `index`."""
    flat = np.arange(int(np.prod(shape))).reshape(shape)
    if axis is None:
        return flat.reshape(-1)
    axis %= len(shape)
    kept = [*index[:axis], slice(None), *index[axis + keepdims :]]
    return flat[tuple(kept)]


class Place(NamedTuple):
    """Where a number stands on the page: an element of an array on show, or a control."""

    kind: str  # "array" or "control"
    name: str
    index: tuple[int, ...] = ()


class Expression(NamedTuple):
    """Arithmetic of one cell: `form` and its `operands`, or a leaf with the place where its number stands."""

    cell: Cell
    place: Place | None
    form: Any  # None for a leaf; a ufunc, or ("fold", ufunc) for sums and products, ("pairs",) for a dot product
    path: tuple[int, ...]  # operand numbers from the top, for going deeper

    @property
    def value(self) -> float:
        return self.cell.value


class Explainer:
    """The traced run of a section at one setting; answers questions about single cells."""

    def __init__(self, section: Section, values: Mapping[str, Any]) -> None:
        lifted = {name: Traced(v, "control", name=name) if isinstance(v, float) else v for name, v in values.items()}
        self.trace = section.trace(lifted)._asdict()
        traced = {name: array for name, array in self.trace.items() if isinstance(array, Traced)}
        # A plain number has no place: equal constants are one object.
        self.places = {id(array): name for name, array in self.trace.items() if isinstance(array, Traced) or np.ndim(array)}
        # The parts of a stacked sequence stand on the page as well: a recurrence then reads h_3 as `state[3]`.
        self.parts = {
            id(part): (name, k)
            for name, array in traced.items() if array.function is np.stack and not _axis(array)
            for k, part in enumerate(array.operands) if isinstance(part, Traced)
        }  # fmt: skip

    def top(self, name: str, index: Sequence[int]) -> Expression:
        """The cell `name[index]`. Raises KeyError or IndexError when it does not exist."""
        array = self.trace[name]
        shape = np.shape(_plain(array))
        if len(index) != len(shape) or not all(0 <= i < n for i, n in zip(index, shape)):
            raise IndexError(f"{name} has shape {shape}")
        at = int(np.ravel_multi_index(tuple(index), shape)) if shape else 0
        return self._expression(Cell(array, at), (), own=Place("array", name, tuple(map(int, index))))

    def _place(self, cell: Cell) -> Place | None:
        """Where on the page a cell stands as an element of an array of the trace."""
        if id(cell.array) not in self.places and id(cell.array) not in self.parts:
            return self._behind(cell.array, cell.at)
        index = tuple(map(int, np.unravel_index(cell.at, np.shape(_plain(cell.array)))))
        if id(cell.array) in self.places:
            return Place("array", self.places[id(cell.array)], index)
        name, k = self.parts[id(cell.array)]
        return Place("array", name, (k, *index))

    def _behind(self, view: Any, at: int) -> Place | None:
        """Where an element of a plain array that is only a view (a transpose, a slice) stands in the array behind it."""
        behind = view.base if isinstance(view, np.ndarray) else None
        if behind is None or id(behind) not in self.places:
            return None
        start = view.__array_interface__["data"][0] - behind.__array_interface__["data"][0]  # bytes
        offset = start + int(np.dot(np.unravel_index(at, view.shape), view.strides))
        index = np.unravel_index(offset // behind.itemsize, behind.shape)
        return Place("array", self.places[id(behind)], tuple(map(int, index)))

    def _expression(self, cell: Cell, path: tuple[int, ...], own: Place | None = None) -> Expression:
        """Follow moves back to a place on the page (other than its `own`), a control, a constant or an operation."""
        while True:
            array = cell.array
            place = self._place(cell)
            if place and place != own:
                return Expression(cell, place, None, path)
            if not isinstance(array, Traced):
                return Expression(cell, None, None, path)
            if array.rule == "control":
                return Expression(cell, Place("control", array.name), None, path)
            if array.rule != "move":
                break
            cell = cell.moved()
        if array.rule == "matmul":
            return Expression(cell, None, ("pairs",), path)
        if array.rule in ("reduce", "accumulate"):
            return Expression(cell, None, ("fold", array.function), path)
        return Expression(cell, None, array.function, path)

    def operands(self, expression: Expression) -> list[Expression]:
        """One level deeper."""
        cells = expression.cell.parts()
        return [self._expression(cell, (*expression.path, k)) for k, cell in enumerate(cells)]

    def go(self, name: str, index: Sequence[int], path: Sequence[int]) -> Expression:
        """The expression at `path` below a cell. Raises IndexError when there is none."""
        here = self.top(name, index)
        for k in path:
            if here.form is None or not 0 <= k < len(below := self.operands(here)):
                raise IndexError(f"nothing at {list(path)} below {name}{list(index)}")
            here = below[k]._replace(path=(*here.path, k))
        return here

    def evaluate(self, expression: Expression) -> float:
        """The number that the expression's own arithmetic gives, from its operands' values; for the tests."""
        if expression.form is None:
            return expression.value
        numbers = [operand.value for operand in self.operands(expression)]
        if expression.form == ("pairs",):
            return float(np.dot(numbers[0::2], numbers[1::2]))
        if isinstance(expression.form, tuple):
            return float(expression.form[1].reduce(numbers))
        with np.errstate(all="ignore"):
            return float(expression.form(*numbers))

    def line(self, expression: Expression) -> list[dict[str, Any]]:
        """One level of arithmetic as tokens: {"text"}, or {"value"} with "array"+"index" and/or "control", or "path"."""
        if expression.form is None:
            return [self._leaf(expression)]
        return self._write(expression, 0, MOST_LEAVES, depth=0)[0]

    def _leaf(self, expression: Expression) -> dict[str, Any]:
        if not np.isfinite(expression.value):  # a masked score: −∞ is a sign, not a number
            return {"text": "−∞" if expression.value < 0 else "∞"}
        token: dict[str, Any] = {"value": expression.value}
        if expression.place and expression.place.kind == "array":
            token |= {"array": expression.place.name, "index": list(expression.place.index)}
            behind = self._expression(expression.cell, expression.path, own=expression.place)
            if behind.place and behind.place.kind == "control":  # the page may show its slider and not the array
                token["control"] = behind.place.name
        elif expression.place:
            token["control"] = expression.place.name
        elif expression.form is not None:
            token["path"] = list(expression.path)
        return token

    def _write(self, expression: Expression, strength: int, budget: int, depth: int) -> tuple[list[dict[str, Any]], int]:
        """Tokens of an expression inside one of binding `strength`, and what is left of the budget of numbers."""
        form = expression.form
        if form is None or depth > 3 or (depth and (budget <= 1 or form in EXTREMES)):
            return [self._leaf(expression)], budget - 1
        operands = self.operands(expression)
        if form == ("pairs",):
            groups = list(zip(operands[0::2], operands[1::2]))
            joint, own = " + ", 1
        elif isinstance(form, tuple):
            if depth and len(operands) > MOST_TERMS:
                return [self._leaf(expression)], budget - 1
            groups = [(operand,) for operand in operands]
            joint, own = {np.add: (" + ", 1), np.multiply: (" · ", 2)}.get(form[1], (", ", 0))
        elif form in INFIX:
            joint, own = INFIX[form]
            if form in (np.subtract, np.divide):
                left, budget = self._write(operands[0], own - 1, budget, depth + 1)
                right, budget = self._write(operands[1], own, budget, depth + 1)
                return self._bracket([*left, {"text": joint}, *right], own, strength), budget
            groups = [(operand,) for operand in operands]
        elif form in PREFIX:
            sign, own = PREFIX[form]
            inner, budget = self._write(operands[0], own, budget, depth + 1)
            return self._bracket([{"text": sign}, *inner], own, strength), budget
        else:
            groups, joint, own = [(operand,) for operand in operands], ", ", 0
        tokens: list[dict[str, Any]] = []
        shown = groups if len(groups) <= MOST_TERMS else [*groups[: MOST_TERMS - 2], None, groups[-1]]
        each = max(1, budget // sum(len(group) for group in shown if group))  # all terms are told as far as the others
        for k, group in enumerate(shown):
            tokens += [{"text": joint}] if k else []
            if group is None:
                tokens.append({"text": f"… ({len(groups) - MOST_TERMS + 1})"})
                continue
            for f, factor in enumerate(group):
                tokens += [{"text": " · "}] if f else []
                inside = 2 if len(group) > 1 else (own if form in INFIX or isinstance(form, tuple) else 0)
                inside -= k == 0 and form in (np.add, np.multiply)  # a + b + c is read from the left
                written, left = self._write(factor, inside if own or len(group) > 1 else 0, each, depth + 1)
                budget -= each - left
                tokens += written
        name = CALL.get(form) if not isinstance(form, tuple) else ({"max": "max", "min": "min"}.get(REDUCE.get(form[1], "")) if form[0] == "fold" else None)
        if name:
            return [{"text": f"{name}("}, *tokens, {"text": ")"}], budget
        return self._bracket(tokens, own, strength), budget

    @staticmethod
    def _bracket(tokens: list[dict[str, Any]], own: int, strength: int) -> list[dict[str, Any]]:
        return [{"text": "("}, *tokens, {"text": ")"}] if own <= strength and len(tokens) > 1 else tokens
