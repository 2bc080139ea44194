"""Two servers behind nginx with the configuration that compose.yaml uses: a server dies while readers drag, and none loses anything."""

from __future__ import annotations

import os
import shutil
import signal
import string
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from playwright.sync_api import Page, sync_playwright

from content import toc
from tests.free_port import free_port
from tests.programs_here import find

ROOT = Path(__file__).parents[2]
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync"
).split()
READERS = 6
LIVE = "document.documentElement.dataset.lab === 'ready'"
OWN_WEIGHT = "+document.querySelector('table[data-array=weights] tbody tr:nth-child(3) td:nth-of-type(3)').dataset.value"

pytestmark = pytest.mark.skipif(not find("nginx") or not shutil.which("chromium"), reason="needs nginx and chromium")


def wait_for(url: str, seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while True:
        try:
            urllib.request.urlopen(url, timeout=2).read()
            return
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


@pytest.fixture
def site(tmp_path: Path):
    """(address, the two servers) of a site as compose.yaml builds it, on loopback."""
    ports, listen = [free_port(), free_port()], free_port()
    environment = {
        **os.environ, "PYTHONPATH": str(ROOT), "BOKEH_ALLOW_WS_ORIGIN": f"127.0.0.1:{listen}", "BOKEH_SECRET_KEY": "k" * 40,
        "BOOK_LOG_LEVEL": "DEBUG",
    }  # fmt: skip
    panel = [sys.executable, "-m", "panel", "serve", "app"]
    logs = [open(tmp_path / f"server{k}.log", "w") for k in range(2)]
    servers = [
        subprocess.Popen([*panel, "--port", str(port)], cwd=ROOT, env=environment, stdout=log, stderr=subprocess.STDOUT, start_new_session=True)
        for port, log in zip(ports, logs)
    ]
    template = string.Template((ROOT / "deploy" / "nginx.conf.template").read_text())
    filled = template.safe_substitute(LISTEN=f"127.0.0.1:{listen}", SERVER_A=f"127.0.0.1:{ports[0]}", SERVER_B=f"127.0.0.1:{ports[1]}")
    assert "${" not in filled
    (tmp_path / "book.conf").write_text(filled)
    temporary = "".join(f"{kind}_temp_path {tmp_path}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    (tmp_path / "nginx.conf").write_text(
        f"pid {tmp_path}/nginx.pid;\nerror_log {tmp_path}/error.log;\nevents {{}}\n"
        f"http {{\naccess_log off;\n{temporary}include {tmp_path}/book.conf;\n}}\n"
    )
    nginx = subprocess.Popen([find("nginx"), "-c", str(tmp_path / "nginx.conf"), "-g", "daemon off;"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for port in ports:
            wait_for(f"http://127.0.0.1:{port}/liveness")
        wait_for(f"http://127.0.0.1:{listen}/app")
        yield f"http://127.0.0.1:{listen}/app", servers, [tmp_path / f"server{k}.log" for k in range(2)]
    finally:
        nginx.terminate()  # killed, it would leave its workers behind
        for process in servers:
            process.kill()
        for process in (nginx, *servers):
            process.wait()
        for log in logs:
            log.close()


def drag_to(page: Page, value: float) -> None:
    page.evaluate(
        """(value) => { const slider = document.querySelector('input[type=range][data-control=q20]');
        slider.value = value; slider.dispatchEvent(new Event('input', {bubbles: true})); slider.dispatchEvent(new Event('change', {bubbles: true})) }""",
        value,
    )


def wait_until(condition, seconds: float, what: str) -> float:
    start = time.monotonic()
    while not condition():
        assert time.monotonic() - start < seconds, what
        time.sleep(0.05)
    return time.monotonic() - start


def test_no_reader_loses_values_when_one_of_two_servers_is_killed(site):
    address, servers, logs = site
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        readers = []
        for k in range(READERS):
            page = browser.new_context().new_page()  # a context each: a cookie each
            page.goto(f"{address}?page=three_tokens")
            wait_until(lambda: page.evaluate(LIVE), 15, f"reader {k} never went live")
            readers.append(page)
        both = [log.read_text().count("WebSocket connection opened") for log in logs]
        assert all(both), f"affinity sent every reader to one server: {both}"
        for k, page in enumerate(readers):
            drag_to(page, 0.5 + k / 4)
        os.killpg(servers[0].pid, signal.SIGKILL)
        killed = time.monotonic()
        for k, page in enumerate(readers):
            drag_to(page, 1 + k / 4)  # the readers drag on while it happens
        section = toc.load("three_tokens")
        for k, page in enumerate(readers):
            expected = section.trace({**section.defaults(), "q20": 1 + k / 4}).weights[2, 2]
            wait_until(
                lambda: page.evaluate(LIVE) and abs(page.evaluate(OWN_WEIGHT) - expected) < 1e-12,
                max(0.1, killed + 10 - time.monotonic()),
                f"reader {k} was not live with its own values within 10 s",
            )
            assert page.evaluate("document.querySelector('input[type=range][data-control=q20]').value") == f"{1 + k / 4:g}"
        print(f"all {READERS} readers live again after {time.monotonic() - killed:.1f} s")
        browser.close()


def test_metrics_are_not_reachable_from_outside(site):
    address, _, _ = site
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(address.replace("/app", "/metrics"), timeout=5)
    assert refused.value.code == 404
