"""`python -m content SECTION name=value …` prints the section's trace and facts as JSON."""

from __future__ import annotations

import json
import sys
from typing import Sequence

from content import toc
from content.controls import check
from content.section import Undefined, arrays


def run(arguments: Sequence[str]) -> str:
    """The JSON text for these arguments. Raises ValueError with one line on bad input."""
    if not arguments:
        raise ValueError(f"name a section: {', '.join(toc.written())}")
    id, *settings = arguments
    try:
        section = toc.load(id)
    except KeyError:
        raise ValueError(f"there is no section {id!r}; sections: {', '.join(toc.written())}") from None
    given = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals:
            raise ValueError(f"{setting!r} is not name=value")
        if name in given:
            raise ValueError(f"{name} is given twice")
        given[name] = value
    values, problems = check(section, given)
    if problems:
        raise ValueError(str(problems[0]))
    trace = section.trace(values)
    shown = {
        "trace": {name: array.tolist() for name, array in arrays(trace).items()},
        "facts": {name: float(fact) for name, fact in section.facts(trace).items()},
    }
    return json.dumps(shown)


def main() -> int:
    try:
        print(run(sys.argv[1:]))
    except (ValueError, Undefined) as problem:
        print(f"content: {problem}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
