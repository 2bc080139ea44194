"""Steps that the reader takes: buttons that set controls to the elements of an array, the history of a number, and a way back.

`steps.js` drives it; the history lives in the page, the server remembers nothing.
"""

from __future__ import annotations

import json
from html import escape
from typing import Any, Mapping, NamedTuple, Sequence

from widgets.cell import numbers_html
from widgets.ledger import twins_html
from widgets.text import Text, attributes


class Steps(NamedTuple):
    """A step sets the controls in `sets` to the elements of the array `to`, in that order.

    The history is that of the array `number`; `after` holds the same number one step later. It begins anew when the reader
    changes anything but the controls in `keep`. `title` is the key of the label and note.
    """

    title: str
    sets: Sequence[str]
    to: str
    number: str
    after: str
    keep: Sequence[str] = ()

    def arrays(self) -> Sequence[str]:
        return [self.number, self.after]

    def html(self, trace: Any, values: Mapping[str, Any], text: Text) -> str:
        words = text.words
        title, note = escape(text.label("arrays", self.title)), escape(text.note(self.title))
        settings = json.dumps({"sets": self.sets, "to": self.to, "number": self.number, "after": self.after, "keep": self.keep})
        button = lambda act, word: f'<button type="button" data-act="{act}" disabled>{escape(words[word])}</button>'  # noqa: E731
        now = words["steps_now"].format(now="\x00", after="\x01")
        now = escape(now).replace("\x00", self._number(self.number, trace, values, text)).replace("\x01", self._number(self.after, trace, values, text))
        twins = twins_html(self.arrays(), trace, text, '<table class="plain history"></table>')
        return (
            f'<figure {attributes(class_="view steps", data_steps=settings, data_save=self.title)}><figcaption><b>{title}</b> <span>{note}</span></figcaption>'
            f'<div class="taking"><div class="buttons">{button("step", "step")}{button("ten", "ten_steps")}{button("undo", "undo")}</div>'
            f'<p class="now">{now} <b class="judged"></b></p><p class="said" role="status"></p></div>'
            f'<div class="plot" role="img" aria-label="{title}. {note}"></div>'
            f"{twins}</figure>"
        )

    @staticmethod
    def _number(name: str, trace: Any, values: Mapping[str, Any], text: Text) -> str:
        return numbers_html(f"{{{name}}}", trace, values, text).replace("<span ", '<span data-form="4g" ')
