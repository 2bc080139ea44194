"""A web process's training desk without the web: `python -m tests.training.web READER JSON…` says how these runs go.

Each JSON is controls that differ from the defaults. Says it is ready, waits for a line of input, wishes, prints each new
snapshot, without curves, as a line of JSON; then how many slices it asked for and which heavy modules were imported. Ends when
all runs have ended.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import sys

from app import steps, training
from app.training import desk
from content import toc

PAGE = "cue_recall"


def ask(kind: str, reader: str, **more) -> dict:
    """The server's answer to a page's message, as the page gets it."""
    head, body = steps.answer(json.dumps({"id": 1, "kind": kind, "page": PAGE, "reader": reader, **more}))
    assert body == b""
    return json.loads(head)


def wish(reader: str, controls: dict, **more) -> dict:
    return ask("train", reader, values=toc.load(PAGE).defaults() | controls, **more)


async def main(reader: str, wishes: list[str]) -> None:
    desk.SAVE_EVERY = 0.3
    engine, asked = training.the_desk().engine, 0
    given = engine.advance

    async def counted(*arguments):
        nonlocal asked
        asked += 1
        return await given(*arguments)

    engine.advance = counted
    await asyncio.to_thread(importlib.import_module, "distributed")
    say({"ready": True})
    sys.stdin.readline()
    seen, open_runs = {}, set()
    for number, controls in enumerate(wishes):
        snapshot = wish(f"{reader}-{number}", json.loads(controls))
        open_runs.add(snapshot["run"])
        say(snapshot)
        seen[snapshot["run"]] = snapshot["version"]
    while open_runs:
        await asyncio.sleep(0.02)
        for number in range(len(wishes)):
            for snapshot in ask("watch", f"{reader}-{number}", runs=seen)["runs"]:
                say(snapshot)
                seen[snapshot["run"]] = snapshot["version"]
                if snapshot["state"] in ("finished", "failed"):
                    open_runs.discard(snapshot["run"])
    say({"asked": asked, "imported": [name for name in ("torch", "distributed") if name in sys.modules]})
    await training.the_desk().close()


def say(snapshot: dict) -> None:
    print(json.dumps({name: value for name, value in snapshot.items() if name != "curves"}), flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2:]))
