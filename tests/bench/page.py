"""One page in a real browser, as one student meets it: `python -m tests.bench.page [--plain]`.

Keys and mouse are the browser's own input events. An update counts when the frame that shows it has been painted; nothing
polls, so that measuring costs the page nothing. Slow lines and bytes on the wire are the relay's: they hold for websockets too.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import random
import shutil
import statistics
import time
from pathlib import Path
from typing import Any, Callable, NamedTuple

from playwright.async_api import Browser, Page, async_playwright

from tests.bench.cohort import percentile, server
from tests.bench.relay import Relay
from tests.bench.serving import Served
from tests.bench.wire import Place
from tests.free_port import free_port

FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run "
    "--disable-background-networking --disable-component-update --disable-sync"
).split()
FLOOR = Path(__file__).parent / "floor.js"
MBIT, ROUND_TRIP = 10.0, 0.040

# How to hear of new numbers, to tell that they are live, and to find the slider of q00.
BOOK = """
changed: (hear) => new MutationObserver(hear).observe(document.querySelector('table[data-array="output"]'),
  {subtree: true, childList: true, characterData: true, attributeFilter: ['data-value']}),
live: () => document.documentElement.dataset.lab === 'ready',
handle: () => document.querySelector('input[type="range"][data-control="q00"]'),
track: () => { const box = bench.handle().getBoundingClientRect(), {min, max, value} = bench.handle(), thumb = 16;
  return [box.x + thumb / 2, box.width - thumb, box.y + box.height / 2, (value - min) / (max - min)]; },
"""
PLAIN = """
source: () => window.Bokeh?.documents?.[0]?.get_model_by_name('output'),
changed: (hear) => bench.source().properties.data.change.connect(hear),
live: () => !!bench.source() && Bokeh.documents[0].is_idle,
deep: (selector, root = document) => root.querySelector(selector) ?? [...root.querySelectorAll('*')].reduce(
  (found, e) => found ?? (e.shadowRoot && bench.deep(selector, e.shadowRoot)), null),
handle: () => bench.deep('.noUi-handle'),
track: () => { const base = bench.deep('.noUi-base').getBoundingClientRect(), thumb = bench.handle().getBoundingClientRect();
  return [base.x, base.width, thumb.y + thumb.height / 2, (thumb.x + thumb.width / 2 - base.x) / base.width]; },
"""
# The moments of one step on its way through the socket: `sent` is the first step after a key, `received` its answer's last frame.
LINE = """
const Plain = window.WebSocket;
window.WebSocket = class extends Plain {
  constructor(...given) {
    super(...given);
    this.addEventListener('message', () => { const line = window.bench?.line; if (line?.sent && !line.written) line.received = performance.now(); });
  }
  send(data) {
    const line = window.bench?.line, id = line && !line.sent && /lab.*?\\\\"id\\\\":(\\d+)/.exec(data)?.[1];
    if (id) Object.assign(line, {sent: performance.now(), id: +id});
    super.send(data);
  }
};
"""
BENCH = """
const bench = window.bench = {
  painted: (then) => requestAnimationFrame(() => {
    const c = new MessageChannel();
    c.port1.onmessage = then;
    c.port2.postMessage(0);
  }),
  listen() {
    let due = false;
    bench.changed(() => {
      if (due) return;
      due = true;
      bench.painted(() => { due = false; bench.update?.(performance.now()); });
    });
    addEventListener('keydown', () => { bench.key = performance.now(); bench.line = {event: bench.key}; }, {capture: true});
    bench.changed(() => bench.line && (bench.line.written ??= performance.now())); // after the task that wrote
    addEventListener('pointermove', () => bench.moves?.push(performance.now()), {capture: true});
  },
  arm() {
    bench.result = new Promise((resolve) => {
      const end = setTimeout(() => resolve(null), 6000);
      bench.update = (now) => { clearTimeout(end); bench.update = null; if (bench.line) bench.line.painted = now; resolve(now - bench.key); };
    });
  },
  watch() {
    bench.seen = []; bench.moves = [];
    bench.update = (now) => bench.seen.push(now);
  },
  %s
};
const wait = () => {
  if (document.documentElement && bench.live()) bench.painted(() => { bench.lived = performance.now(); bench.listen(); });
  else setTimeout(wait, 2);
};
wait();
"""


class Timeline(NamedTuple):
    """When a key's step reached each place, median ms after the key."""

    sent: float
    server_begin: float
    server_end: float
    received: float
    written: float
    painted: float


class Seen(NamedTuple):
    """What a student sees. Milliseconds and kilobytes, medians where there were several."""

    step_p50: float
    step_p95: float
    slow_step_p50: float
    slow_step_p95: float
    updates_per_s: float
    freeze: float
    settle: float
    first_visit: float
    second_visit: float
    live: float
    slow_live: float
    cpu_per_update: float
    floor_p50: float  # the same page with its numbers computed in it: no server, no socket
    floor_p95: float
    floor_settle: float
    line: Timeline | None
    chromium: str


async def visit(browser: Browser, url: str, plain: bool, floor: bool = False) -> Page:
    """A page in a profile of its own, once it is live. With `floor` it computes in the page and asks no server."""
    context = await browser.new_context(viewport={"width": 1280, "height": 900})
    page = await context.new_page()
    if floor:
        await page.route("**/widgets/link.js", lambda route: route.fulfill(body=FLOOR.read_text("utf-8"), content_type="text/javascript"))
    elif not plain:
        await page.add_init_script(LINE)
    await page.add_init_script(BENCH % (PLAIN if plain else BOOK))
    await come(page, url)
    return page


async def come(page: Page, url: str) -> None:
    await page.goto(url)
    for _ in range(600):
        if await page.evaluate("bench.lived"):
            return
        await asyncio.sleep(0.05)
    raise TimeoutError(f"{url} was not live within 30 s")


async def key_steps(page: Page, count: int, lines: list[dict[str, float]] | None = None) -> list[float]:
    """Time from a key on the slider to the painted numbers, for each step. `lines` takes the moments on the way, in ms of the wall clock."""
    await page.evaluate("bench.handle().focus()")
    chance, times = random.Random(0), []
    for k in range(count):
        await page.evaluate("bench.arm()")
        await asyncio.sleep(chance.uniform(0.03, 0.06))
        await page.keyboard.press("ArrowRight" if (k // 10) % 2 == 0 else "ArrowLeft")
        took = await page.evaluate("bench.result")
        if took is None:
            raise TimeoutError(f"key {k} changed nothing within 6 s")
        times.append(took)
        if lines is not None:
            line, origin = await page.evaluate("[bench.line, performance.timeOrigin]")
            lines.append({name: at if name == "id" else at + origin for name, at in line.items()})
    return times


def timeline(lines: list[dict[str, float]], served: Served) -> Timeline:
    """Medians over steps that were seen at every place."""
    server = served.steps()
    whole = [line for line in lines if line.get("id") in server and {"sent", "received", "written", "painted"} <= set(line)]

    def median(at: Callable[[dict[str, float]], float]) -> float:
        return statistics.median(at(line) - line["event"] for line in whole)

    begin, end = (median(lambda line, k=k: server[int(line["id"])][k]) for k in (0, 1))
    return Timeline(median(lambda line: line["sent"]), begin, end, *(median(lambda line, name=name: line[name]) for name in ("received", "written", "painted")))


async def drag(page: Page, seconds: float) -> tuple[float, float, float, int]:
    """Drags the slider at 60 moves a second.

    Gives the updates shown a second, the longest gap between two, the time from the last move to the last update,
    and how many there were.
    """
    cdp = await page.context.new_cdp_session(page)
    left, width, y, share = await page.evaluate("bench.track()")

    async def mouse(kind: str, at: float) -> None:
        where = {"x": left + width * at, "y": y}
        await cdp.send("Input.dispatchMouseEvent", {"type": kind, **where, "button": "left", "buttons": 1, "clickCount": 1})

    await mouse("mouseMoved", share)
    await mouse("mousePressed", share)
    await asyncio.sleep(0.3)
    await page.evaluate("bench.watch()")
    begin, moves = time.perf_counter(), []
    count = int(60 * seconds)
    phase = 1 - share  # of three sweeps to the ends and back, beginning where the handle stands
    for k in range(count):
        sweep = abs((phase + 3 * k / count) % 2 - 1)
        moves.append(asyncio.create_task(mouse("mouseMoved", 0.04 + 0.92 * sweep)))
        await asyncio.sleep(begin + (k + 1) / 60 - time.perf_counter())
    await asyncio.gather(*moves)
    await asyncio.sleep(1.5)
    await mouse("mouseReleased", 0.04 + 0.92 * sweep)
    seen, moved = await page.evaluate("[bench.seen, bench.moves]")
    stop = max(moved)
    during = [t for t in seen if t <= stop]
    gaps = [b - a for a, b in zip([min(moved), *during], [*during, stop])]
    return len(during) / ((stop - min(moved)) / 1000), max(gaps), max([0.0] + [t - stop for t in seen if t > stop]), len(seen)


async def settling(page: Page, drags: int = 7) -> float:
    """Time from the last move of a drag to the last update, median of some short drags."""
    return statistics.median([(await drag(page, 0.5))[2] for _ in range(drags)])


async def measure(
    served: Served, slow: Relay, meter: Relay, *, plain: bool, steps: int = 60, seconds: float = 4.0, visits: int = 3
) -> Seen:
    """Everything `Seen` holds; `slow` and `meter` are relays in front of the server."""
    query = "" if plain else "?page=three_tokens&lang=en"

    def url(port: int) -> str:
        return Place(port, served.place.app).origin + served.place.app + query

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        await (await visit(browser, url(served.port), plain)).context.close()  # the server's and the browser's own first time

        before = meter.down.carried
        page = await visit(browser, url(meter.port), plain)
        await asyncio.sleep(1.0)
        first = meter.down.carried - before
        await come(page, url(meter.port))
        await asyncio.sleep(1.0)
        second = meter.down.carried - before - first
        await page.context.close()

        lives, slow_lives = [], []
        for _ in range(visits):
            page = await visit(browser, url(served.port), plain)
            lives.append(await page.evaluate("bench.lived"))
            await page.context.close()
        for _ in range(visits):
            page = await visit(browser, url(slow.port), plain)
            slow_lives.append(await page.evaluate("bench.lived"))
            if len(slow_lives) < visits:
                await page.context.close()
        slow_times = (await key_steps(page, 10 + steps // 2))[10:]
        await page.context.close()

        page = await visit(browser, url(served.port), plain)
        lines: list[dict[str, float]] = []
        times = (await key_steps(page, 10 + steps, None if plain else lines))[10:]
        line = None if plain else timeline(lines[10:], served)
        cpu = served.reading().cpu
        rate, freeze, _, count = await drag(page, seconds)
        cpu = served.reading().cpu - cpu
        settle = await settling(page)
        await page.context.close()

        floor, floor_settle = [math.nan], math.nan
        if not plain:
            page = await visit(browser, url(served.port), plain, floor=True)
            floor = (await key_steps(page, 10 + steps))[10:]
            floor_settle = await settling(page)
        chromium = browser.version
        await browser.close()
    return Seen(
        step_p50=statistics.median(times),
        step_p95=percentile(times, 0.95),
        slow_step_p50=statistics.median(slow_times),
        slow_step_p95=percentile(slow_times, 0.95),
        updates_per_s=rate,
        freeze=freeze,
        settle=settle,
        first_visit=first / 1000,
        second_visit=second / 1000,
        live=statistics.median(lives),
        slow_live=statistics.median(slow_lives),
        cpu_per_update=1000 * cpu / max(1, count),
        floor_p50=statistics.median(floor),
        floor_p95=percentile(floor, 0.95),
        floor_settle=floor_settle,
        line=line,
        chromium=chromium,
    )


def look(*, plain: bool, **how: Any) -> Seen:
    """Starts a server with its relays and measures one page of it."""
    ports = free_port(), free_port()
    with server(plain=plain, names=ports) as served:
        slow = Relay(served.port, mbit=MBIT, round_trip=ROUND_TRIP, port=ports[0])
        with slow, Relay(served.port, port=ports[1]) as meter:
            return asyncio.run(measure(served, slow, meter, plain=plain, **how))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plain", action="store_true", help="plain Panel instead of the book")
    parser.add_argument("--steps", type=int, default=60)
    args = parser.parse_args()
    for name, value in look(plain=args.plain, steps=args.steps)._asdict().items():
        print(f"{name:15} {round(value, 1) if isinstance(value, float) else value}")


if __name__ == "__main__":
    main()
