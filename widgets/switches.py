"""A row of places that the reader switches on and off, each with a verdict that follows the state."""

from __future__ import annotations

from html import escape
from typing import Any, Mapping, NamedTuple, Sequence

from widgets.ledger import twins_html
from widgets.text import Text, attributes


CODES = 4  # of a verdict: 0 left out, 1 in use, 2 closed, 3 a leak; the stylesheet colours them


class Switches(NamedTuple):
    """Controls of 0 and 1 in a row, each labelled as the control is and judged by an element of the array `verdict`.

    `verdicts`: axis that words its four codes. `at`: a control that holds the place the reader has come to; it is
    marked. `also`: arrays of the same length that stand in the table beside it. `title` is the key of the label and note.
    `switches.js` keeps the verdicts up to date.
    """

    title: str
    names: Sequence[str]
    verdict: str
    verdicts: str
    at: str
    also: Sequence[str] = ()

    def arrays(self) -> Sequence[str]:
        return [self.verdict, *self.also]

    def html(self, trace: Any, values: Mapping[str, Any], text: Text) -> str:
        title, note = escape(text.label("arrays", self.title)), escape(text.note(self.title))
        words = text.headers(self.verdicts, CODES)
        places = "".join(self._place(k, trace, values, text, words) for k in range(len(self.names)))
        data = attributes(class_="view switches", data_switches=self.verdict, data_verdicts=self.verdicts, data_at=self.at, data_save=self.title)
        return (
            f"<figure {data}><figcaption><b>{title}</b> <span>{note}</span></figcaption>"
            f'<ol class="places">{places}</ol>{twins_html(self.arrays(), trace, text)}</figure>'
        )

    def _place(self, k: int, trace: Any, values: Mapping[str, Any], text: Text, words: Sequence[str]) -> str:
        name = self.names[k]
        code = None if trace is None else int(getattr(trace, self.verdict)[k])
        box = attributes(type="checkbox", role="switch", data_control=name, checked=values[name] == 1, aria_describedby=f"verdict-{name}")
        place = attributes(data_verdict=code, class_="here" if values[self.at] == k else None)
        said = "–" if code is None else escape(words[code])
        return (
            f"<li {place}><label><span>{k + 1}</span><b>{escape(text.label('controls', name))}</b><input {box}></label>"
            f'<small id="verdict-{name}">{said}</small></li>'
        )
