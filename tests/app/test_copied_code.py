"""The code that a reader copies: run as it is, it prints the numbers on show and names its arrays as the page does."""

import contextlib
import io
import re

import numpy as np
import param
import pytest

from app import prose
from content import toc
from content.section import arrays, control_parameters
from tests.content.drawn import WRITTEN, other_settings

KINDS = ("numpy", "torch")
TRAINED = {"cue_recall"}  # their numbers come from trained weights, which the book's folder holds
WITH_CODE = [(id, kind) for id in WRITTEN for kind in KINDS if kind in prose.load(id, "en").code]


def filled_in(code, section, values):
    """The code of a state, as `code` of `widgets/lab.js` writes it: whole values of `param.Number` as `1.0`."""
    parameters = control_parameters(section.controls)

    def written(match):
        name = match[1]
        if name not in values:
            return match[0]
        number = isinstance(parameters[name], param.Number) and not isinstance(parameters[name], param.Integer)
        if number and float(values[name]).is_integer():
            return f"{int(values[name])}.0"
        return repr(values[name]) if number else str(values[name])

    return re.sub(r"\{\{(\w+)\}\}", written, code)


def run(code):
    """The names that the code defines, in a namespace of its own, and what it prints."""
    namespace, printed = {"__name__": "__main__"}, io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "copied", "exec"), namespace)
    return namespace, printed.getvalue()


@pytest.fixture
def torch():
    """Torch, with its default precision put back: the code sets it."""
    torch = pytest.importorskip("torch")
    before = torch.get_default_dtype()
    yield torch
    torch.set_default_dtype(before)


def assert_prints_the_state(id, kind, values):
    section = toc.load(id)
    code = filled_in(prose.load(id, "en").code[kind], section, values)
    assert "{{" not in code and "}}" not in code
    namespace, printed = run(code)
    same = 0
    for name, array in arrays(section.trace(values)).items():
        if name not in namespace:
            continue
        found = np.asarray(namespace[name], dtype=float)
        assert found.shape == array.shape, f"{name} has shape {found.shape}, the page's {array.shape}"
        # Single precision, which `position` offers, adds up in another order in torch.
        tolerance = {"rtol": 1e-9, "atol": 1e-9} if array.dtype != np.float32 else {"rtol": 1e-4, "atol": 1e-5}
        np.testing.assert_allclose(found, array, err_msg=name, **tolerance)
        same += 1
    assert same >= 3
    assert re.search(r"\d", printed), "it prints nothing"


@pytest.mark.parametrize("id", WRITTEN)
def test_every_section_offers_its_state_as_numpy_and_as_torch(id):
    assert set(prose.load(id, "en").code) == set(KINDS)
    for language in ("ru", "uk"):
        assert not prose.load(id, language).code, "code stands in en.md alone"


@pytest.mark.parametrize(("id", "kind"), WITH_CODE)
def test_the_code_of_the_textbook_setting_gives_the_numbers_on_show(id, kind, request):
    if kind == "torch":
        request.getfixturevalue("torch")
    assert_prints_the_state(id, kind, toc.load(id).defaults())


@pytest.mark.parametrize(("id", "kind"), WITH_CODE)
def test_the_code_of_other_settings_gives_their_numbers(id, kind, request):
    if kind == "torch":
        request.getfixturevalue("torch")
    for values in other_settings(toc.load(id), 3):
        assert_prints_the_state(id, kind, values)


@pytest.mark.parametrize(("id", "kind"), WITH_CODE)
def test_the_code_asks_for_controls_that_exist_and_needs_nothing_but_its_library(id, kind):
    code = prose.load(id, "en").code[kind]
    assert set(re.findall(r"\{\{(\w+)\}\}", code)) <= set(toc.load(id).defaults())
    assert len(re.findall(r"\{\{", code)) == len(re.findall(r"\{\{\w+\}\}", code))
    own = {"content"} if id in TRAINED else set()
    assert set(re.findall(r"^\s*(?:import|from) (\w+)", code, re.M)) <= {
        "numpy",
        "torch",
        "re",
        "math",
        *(["numpy"] if kind == "torch" else []),
        *own,
    }


@pytest.mark.parametrize("id", WRITTEN)
def test_every_control_that_changes_a_number_stands_in_the_code(id):
    section, code = toc.load(id), prose.load(id, "en").code["numpy"]
    base = {name: array for name, array in arrays(section.trace(section.defaults())).items()}
    namespace, _ = run(filled_in(code, section, section.defaults()))
    for name, parameter in control_parameters(section.controls).items():
        if f"{{{{{name}}}}}" in code or isinstance(parameter, param.String):
            continue
        for other in parameter.objects if isinstance(parameter, param.Selector) else parameter.bounds:
            moved = arrays(section.trace({**section.defaults(), name: other}))
            changed = [key for key in base if key in namespace and not np.array_equal(base[key], moved[key])]
            assert not changed, f"{name} changes {changed}, but the code does not ask for it"


def test_the_rule_that_fills_in_values_is_the_pages():
    section = toc.load("masks")
    text = filled_in(
        "{{s0}} {{s1}} {{query}} {{kind}} {{visible}} {{nothing}}", section, {**section.defaults(), "s0": 1.0, "s1": -0.05}
    )
    assert text == "1.0 -0.05 1 causal 110 {{nothing}}"
