"""`python -m content SECTION name=value …` prints the section's trace and facts as JSON."""

from __future__ import annotations

import json
import os
import sys
from typing import Sequence

from content import toc
from content.controls import check, shown
from content.section import arrays


def run(arguments: Sequence[str]) -> str:
    """The JSON text for these arguments. Raises ValueError with one line on bad input."""
    if not arguments:
        raise ValueError(f"name a section: {', '.join(toc.written())}")
    id, *settings = arguments
    try:
        section = toc.load(id)
    except KeyError:
        raise ValueError(f"there is no section {shown(id)!r}; sections: {', '.join(toc.written())}") from None
    given = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals:
            raise ValueError(f"{shown(setting)!r} is not name=value")
        if name in given:
            raise ValueError(f"{shown(name)} is given twice")
        given[name] = value
    values, problems = check(section, given)
    if problems:
        raise ValueError(str(problems[0]))
    trace = section.trace(values)
    output = {
        "trace": {name: array.tolist() for name, array in arrays(trace).items()},
        "facts": {name: float(fact) for name, fact in section.facts(trace).items()},
    }
    return json.dumps(output)


def main() -> int:
    """Prints the JSON, or one line that says what is wrong, and gives the exit status."""
    try:
        print(run(sys.argv[1:]), flush=True)
    except ValueError as problem:  # `Undefined` is one
        print(f"content: {problem}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader of the pipe, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # where Python's own last flush goes
    return 0


if __name__ == "__main__":
    sys.exit(main())
