"""The running server: headers, compression, cache lifetimes, refusals, and a page's line to its lab.

Fails when a trick of `app/server.py` stops working.
"""

import asyncio
import base64
import gzip
import http.client
import inspect
import json
import re
import struct
from pathlib import Path
from types import SimpleNamespace

import bokeh
import numpy as np
import panel.io.server as panel_server
import pytest
from bokeh.util.token import get_token_payload
from hypothesis import given
from hypothesis import strategies as st
from tornado.httpclient import HTTPClientError, HTTPRequest
from tornado.websocket import websocket_connect

from app import assets, server
from content import toc
from content.section import arrays
from tests.content.drawn import WRITTEN
from tests.ui.serving import Server

ROOT = Path(__file__).parents[2]
METRICS = "a-token-for-the-operator"
DEFAULTS = toc.load("three_tokens").defaults()


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """`panel serve app` on a free port. What it logs must hold no traceback."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("PYTHONPATH", str(ROOT))
        environment.setenv("BOOK_METRICS_TOKEN", METRICS)
        environment.setenv("BOOK_FRAME_ANCESTORS", "https://lms.example.org")
        environment.delenv("BOKEH_ALLOW_WS_ORIGIN", raising=False)
        book = Server(tmp_path_factory.mktemp("served") / "log.txt").start()
    yield book
    book.kill()
    assert "Traceback" not in book.said(), book.said()


def get(served, path, method="GET", **headers):
    """Status, headers and body as they come over the wire."""
    connection = http.client.HTTPConnection("localhost", served.port, timeout=30)
    connection.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, {name.lower(): value for name, value in answer.getheaders()}, body


def page(served, query="?page=three_tokens"):
    status, _, body = get(served, f"/app{query}")
    assert status == 200
    return body.decode()


def token(served, query="?page=three_tokens", **headers):
    _, _, body = get(served, f"/app{query}", **headers)
    return re.search(r'"token":\s*"([^"]+)"', body.decode())[1]


class Line:
    """A page's line to its lab, as `widgets/link.js` speaks it."""

    def __init__(self, served, given=None, origin=None):
        self.served, self.given, self.origin, self.socket = served, given, origin, None

    async def __aenter__(self):
        given = self.given or await asyncio.to_thread(token, self.served)
        origin = self.origin or f"http://localhost:{self.served.port}"
        request = HTTPRequest(f"ws://localhost:{self.served.port}/app/ws", headers={"Origin": origin})
        self.socket = await websocket_connect(request, subprotocols=["bokeh", given])
        self.greeting = await self.hear()
        return self

    async def __aexit__(self, *_):
        self.socket.close()

    async def frame(self):
        return await asyncio.wait_for(self.socket.read_message(), 20)

    async def hear(self):
        """One message: header, content and buffers; None when the line was closed."""
        first = await self.frame()
        if first is None:
            return None
        header = json.loads(first)
        await self.frame()
        content = json.loads(await self.frame())
        buffers = []
        for _ in range(header.get("num_buffers", 0)):
            await self.frame()
            buffers.append(await self.frame())
        return header, content, buffers

    async def send(self, content, msgtype="PATCH-DOC"):
        for part in (
            json.dumps({"msgid": "1", "msgtype": msgtype}),
            "{}",
            content if isinstance(content, str) else json.dumps(content),
        ):
            await self.socket.write_message(part)

    async def say(self, text):
        await self.send({"events": [{"kind": "MessageSent", "msg_type": "lab", "msg_data": text}]})

    async def ask(self, message):
        """Head and body of the lab's answer."""
        await self.say(message if isinstance(message, str) else json.dumps(message))
        _, content, buffers = await self.hear()
        (event,) = content["events"]
        assert (event["kind"], event["msg_type"]) == ("MessageSent", "lab")
        head, body = event["msg_data"]
        return json.loads(head), buffers[0] if buffers else base64.b64decode(body)


def run(coroutine):
    return asyncio.run(asyncio.wait_for(coroutine, 60))


def step(values=DEFAULTS, page="three_tokens", **more):
    return {"id": 5, "kind": "step", "page": page, "values": values, **more}


def assert_right(answer, id="three_tokens", values=DEFAULTS):
    """The arrays of an answer are those of the state, bit for bit."""
    head, body = answer
    assert "error" not in head, head
    start = 0
    trace = arrays(toc.load(id).trace(values))
    for name, shape, _, sent in head["arrays"]:
        size = int(np.prod(shape, dtype=int))
        if sent:
            numbers = struct.unpack_from(f"<{size}d", body, start)
            np.testing.assert_array_equal(np.reshape(numbers, shape), trace[name], err_msg=name)
            start += 8 * size
    assert start == len(body)


# Pages


@pytest.mark.parametrize("id", [None, *WRITTEN])
def test_every_page_is_served_with_safe_headers(served, id):
    status, headers, body = get(served, f"/app?page={id}&lang=uk" if id else "/app")
    assert status == 200
    assert headers["content-type"].lower() == "text/html; charset=utf-8"
    policy = dict(part.strip().partition(" ")[::2] for part in headers["content-security-policy"].split(";"))
    assert policy["default-src"] == policy["script-src"] == "'self'"
    assert policy["object-src"] == "'none'"
    assert policy["frame-ancestors"].strip() == "'self' https://lms.example.org"
    assert "unsafe-eval" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"
    assert "set-cookie" not in headers
    assert headers.get("cache-control", "no-store") == "no-store"
    assert b"<h1>" in body


def test_a_page_is_gzipped_for_who_takes_it_and_plain_for_who_does_not(served):
    _, headers, body = get(served, "/app?page=three_tokens", Accept_Encoding="gzip")
    assert headers["content-encoding"] == "gzip"
    assert b"<h1>" in gzip.decompress(body) and len(body) < len(gzip.decompress(body)) / 2
    _, headers, body = get(served, "/app?page=three_tokens")
    assert "content-encoding" not in headers and b"<h1>" in body


def test_a_page_reads_its_address(served):
    html = page(served, "?page=three_tokens&lang=uk&q20=3&colour=red")
    assert '<html lang="uk"' in html
    assert "0,99" in html and "colour" in html
    assert 'data-value="0.98' in html or 'data-value="0.99' in html


def test_a_page_names_no_other_host(served):
    for id in WRITTEN:
        loaded = re.findall(r'<(?:script|link|img|iframe|source)[^>]*(?:src|href)="([^"]+)"', page(served, f"?page={id}"))
        assert loaded and all(name.startswith("assets/") for name in loaded)


def test_the_root_leads_to_the_book(served):
    status, headers, _ = get(served, "/")
    assert status in (200, 302) and (status == 200 or headers["location"].endswith("/app"))


@pytest.mark.parametrize(
    "query",
    [
        "?page=%ff%fe",
        "?page=" + "x" * 6000,
        "?" + "&".join(f"a{k}=1" for k in range(2000)),
        "?page=masks&s0=%00",
        "?page=masks&s0=1&s0=2&s0=3",
        "?lang=",
        "?&&&===",
        "?page=masks&bokeh-session-id=x",
    ],
)
def test_no_address_breaks_the_server(served, query):
    status, _, body = get(served, f"/app{query}")
    assert status in (200, 400, 403, 414, 431)
    assert b"Traceback" not in body
    assert "<h1>" in page(served)


@pytest.mark.parametrize(
    "path",
    [
        "/nothing",
        "/app/nothing",
        "/app/static/nothing.js",
        "/app/static/../main.py",
        "/app/main.py",
        "/app/templates/frame.html",
        "/admin",
        "/static/../../etc/passwd",
        "/app/static/%2e%2e/main.py",
        "/metrics",
    ],
)
def test_what_is_not_there_is_not_there(served, path):
    status, _, body = get(served, path)
    assert status in (403, 404)
    assert b"Traceback" not in body and b"import " not in body


def test_other_methods_do_nothing(served):
    for method in ("POST", "PUT", "DELETE", "PATCH"):
        status, _, _ = get(served, "/app", method)
        assert status in (403, 404, 405)


# Files


def test_files_are_cached_for_good_under_their_digest(served):
    (name,) = re.findall(r'src="(assets/[^"]+/static/page\.js)"', page(served))
    status, headers, body = get(served, f"/{name}", Accept_Encoding="gzip")
    assert status == 200
    assert headers["cache-control"] == "public, max-age=31536000, immutable"
    assert headers["content-encoding"] == "gzip" and "Accept-Encoding" in headers["vary"]
    assert headers["content-type"].startswith("text/javascript")
    assert headers["x-content-type-options"] == "nosniff"
    assert gzip.decompress(body).startswith(b"// A section's page")


def test_files_of_another_version_are_not_cached(served):
    status, headers, _ = get(served, "/assets/000000000000/static/page.js")
    assert (status, headers["cache-control"]) == (200, "no-cache")


def test_every_file_that_a_page_names_is_served(served):
    named = {name for id in WRITTEN for name in re.findall(r'(?:src|href)="(assets/[^"]+)"', page(served, f"?page={id}"))}
    for name in named:
        status, headers, body = get(served, f"/{name}")
        assert (status, "immutable" in headers["cache-control"]) == (200, True), name
        _, digest, file = name.split("/", 2)
        assert body == assets.read(file).plain or digest != assets.digest(), f"{name} is not the file that it names"


def test_bokeh_js_is_served_small_and_is_the_installed_one(served):
    status, headers, body = get(served, f"/{assets.url('bokeh.min.js')}", Accept_Encoding="gzip")
    assert status == 200 and len(body) < 500_000
    assert bokeh.__version__ in gzip.decompress(body).decode("utf-8", "replace")


@pytest.mark.parametrize(
    "name",
    [
        "static/nothing.js",
        "static/../main.py",
        "static/..%2fmain.py",
        "widgets/lab.py",
        "..%2f..%2fpyproject.toml",
        "static/vendor/fonts/subset.py",
        "%2e%2e/app/main.py",
        "",
    ],
)
def test_no_other_file_is_served(served, name):
    for digest in (assets.digest(), "000000000000"):
        status, _, body = get(served, f"/assets/{digest}/{name}")
        assert status == 404 and b"import " not in body


# Operators


def test_liveness_says_that_the_server_turns(served):
    status, headers, body = get(served, "/liveness")
    assert (status, headers["cache-control"]) == (200, "no-store")
    assert json.loads(body)


def test_metrics_are_for_who_holds_the_token(served):
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": METRICS[:-1]}):
        assert get(served, "/metrics", **headers)[0] == 404
    status, headers, body = get(served, "/metrics", Authorization=f"Bearer {METRICS}")
    assert status == 200 and headers["content-type"].startswith("text/plain")
    assert b"book_step_seconds_count" in body


# The line to the lab


def test_the_token_carries_nothing_of_the_readers_request(served):
    given = token(
        served,
        "?page=three_tokens&q20=3",
        Cookie="student=42; session=geheim",
        X_Secret="geheim",
        User_Agent="a very particular browser",
    )
    payload = get_token_payload(given)
    assert not payload.get("headers") and not payload.get("cookies")
    assert "geheim" not in repr(payload) and "particular" not in repr(payload) and "student" not in repr(payload)


@pytest.mark.parametrize("id", WRITTEN)
def test_a_step_over_the_line_brings_the_right_numbers(served, id):
    values = toc.load(id).defaults()

    async def steps():
        async with Line(served) as line:
            assert line.greeting[0]["msgtype"] == "ACK"
            head, body = await line.ask(step(values, id))
            assert head["id"] == 5
            assert_right((head, body), id, values)
            have = {name: digest for name, _, digest, _ in head["arrays"] if digest}
            assert_right(await line.ask(step(values, id, have=have)), id, values)

    run(steps())


def test_one_line_serves_steps_explanations_and_checks(served):
    async def all_kinds():
        async with Line(served) as line:
            moved = {**DEFAULTS, "q20": 3.0}
            assert_right(await line.ask(step(moved)), values=moved)
            head, _ = await line.ask(
                {"id": 6, "kind": "explain", "page": "three_tokens", "values": DEFAULTS, "array": "output", "index": [0, 0]}
            )
            assert head["id"] == 6 and head["line"]
            head, _ = await line.ask({"id": 7, "kind": "check", "page": "masks", "exercise": "zeroed_output", "answer": "0,5"})
            assert head["verdict"] == "right"
            head, _ = await line.ask(step({**toc.load("masks").defaults(), "kind": "custom", "visible": "000"}, "masks"))
            assert head == {"id": 5, "undefined": "all_masked"}

    run(all_kinds())


@pytest.mark.parametrize(
    "text",
    [
        "", "null", "{", "[" * 20_000, '{"a":' * 5_000, "NaN", json.dumps({"kind": "step"}), json.dumps(step({})),
        json.dumps(step({**DEFAULTS, "q20": float("nan")})), json.dumps(step({**DEFAULTS, "q20": [[[]]]})),
        json.dumps(step({**DEFAULTS, "q20": "9" * 50_000})), json.dumps(step(page="nothing")),
        json.dumps(step({f"x{k}": 1 for k in range(1000)})),
        json.dumps({"kind": "explain", "page": "masks", "values": toc.load("masks").defaults(), "array": "x"}),
    ],
)  # fmt: skip
def test_a_malformed_message_gets_one_line_and_the_page_lives(served, text):
    async def survive():
        async with Line(served) as line:
            head, body = await line.ask(text)
            assert body == b"" and head["error"].isprintable()
            assert_right(await line.ask(step()))

    run(survive())


@pytest.mark.parametrize(
    ("content", "msgtype"),
    [
        ("not json", "PATCH-DOC"), ("[]", "PATCH-DOC"), ('{"events": []}', "PATCH-DOC"),
        ('{"events": [{"kind": "ModelChanged", "model": {"id": "1"}, "attr": "text", "new": 1}]}', "PATCH-DOC"),
        ('{"events": [{"kind": "TitleChanged", "title": "x"}]}', "PATCH-DOC"),
        ('{"events": [{"kind": "MessageSent", "msg_type": "other", "msg_data": "x"}]}', "PATCH-DOC"),
        ('{"events": [{"kind": "MessageSent", "msg_type": "lab", "msg_data": 5}]}', "PATCH-DOC"), ('{"doc": {}}', "PUSH-DOC"),
        ("{}", "NOTHING"), ("{}", "OK"),
    ],
)  # fmt: skip
def test_what_no_page_sends_hurts_nobody_else(served, content, msgtype):
    async def others():
        async with Line(served) as line, Line(served) as other:
            await line.send(content, msgtype)
            assert_right(await other.ask(step()))

    run(others())


def test_a_frame_larger_than_any_page_sends_closes_its_line_only(served):
    async def too_large():
        async with Line(served) as line, Line(served) as other:
            await line.say("x" * (server.LARGEST_MESSAGE + 1000))
            assert await line.hear() is None
            assert_right(await other.ask(step()))

    run(too_large())


def test_a_burst_of_messages_is_answered_or_cut_off_and_others_go_on(served):
    async def burst():
        async with Line(served) as line, Line(served) as other:
            try:
                for _ in range(3000):
                    await line.say("{}")
            except Exception:
                pass  # cut off while sending
            assert_right(await other.ask(step()))

    run(burst())


def forged(payload):
    """A token without signature that says this."""
    return base64.urlsafe_b64encode(json.dumps(payload).encode()).decode().rstrip("=")


SOON = {"session_expiry": 4_000_000_000}


@pytest.mark.parametrize(
    "given",
    [
        "x", "e30.e30", "A" * 5000, forged({}), forged([]), forged(5), forged({"session_id": "s"}),
        forged({"session_id": "s", "session_expiry": 1}), forged({"session_id": "s", "session_expiry": "soon"}),
        forged({"session_id": "", **SOON}), forged({"session_id": 5, **SOON}), forged({"session_id": ["s"], **SOON}),
        forged({"session_id": "a", "__bk__zlib_": "AAAA", **SOON}),
        forged({"session_id": "b", "headers": 5, "cookies": 5, **SOON}), forged({"session_id": "c", "arguments": 5, **SOON}),
        base64.urlsafe_b64encode(b"[" * 30_000).decode(),
    ],
)  # fmt: skip
def test_a_token_that_is_none_opens_no_line(served, given):
    async def knock():
        try:
            async with Line(served, given) as line:
                assert line.greeting is None
        except (HTTPClientError, ConnectionError):
            pass

    run(knock())
    assert "<h1>" in page(served)


def test_a_token_that_somebody_wrote_is_read_with_care(served):
    async def knock():
        async with Line(
            served, forged({"session_id": "d", "arguments": {"page": 5, "lang": [5], "look": None, "hide": "x"}, **SOON})
        ) as line:
            assert_right(await line.ask(step()))

    run(knock())


def test_a_page_of_another_origin_opens_no_line(served):
    async def knock():
        with pytest.raises(HTTPClientError) as refused:
            async with Line(served, origin="http://elsewhere.invalid"):
                pass
        assert refused.value.code == 403

    run(knock())


def test_the_same_token_opens_a_line_again_after_a_break(served):
    given = token(served)

    async def twice():
        for _ in range(2):
            async with Line(served, given) as line:
                assert_right(await line.ask(step()))

    run(twice())


def test_many_readers_at_once_get_their_own_numbers(served):
    async def reader(k):
        values = {**DEFAULTS, "q20": k / 10}
        async with Line(served) as line:
            for _ in range(3):
                assert_right(await line.ask(step(values)), values=values)

    async def class_of_twelve():
        await asyncio.gather(*(reader(k) for k in range(12)))

    run(class_of_twelve())


# The tricks by themselves


def test_a_socket_sends_at_once(monkeypatch):
    asked = []
    monkeypatch.setattr(panel_server.WSHandler, "open", lambda self, *args, **kwargs: "opened")
    socket = server.PageSocket.__new__(server.PageSocket)
    socket.set_nodelay = asked.append
    assert socket.open() == "opened"
    assert asked == [True]


def test_panel_and_bokeh_still_have_what_the_tricks_take_hold_of():
    from bokeh.server import urls
    from bokeh.server.tornado import BokehTornado

    handlers = {handler for _, handler, *_ in urls.per_app_patterns}
    assert any(issubclass(handler, panel_server.DocHandler) for handler in handlers)
    assert any(issubclass(handler, panel_server.WSHandler) for handler in handlers)
    options = set(inspect.signature(BokehTornado.__init__).parameters)
    assert {"websocket_max_message_size_bytes", "include_headers", "include_cookies"} <= options
    assert isinstance(urls.toplevel_patterns, list)


def test_frames_may_come_from_an_lms_that_is_named(monkeypatch):
    monkeypatch.delenv("BOOK_FRAME_ANCESTORS", raising=False)
    assert server.content_security_policy().endswith("frame-ancestors 'self'")
    monkeypatch.setenv("BOOK_FRAME_ANCESTORS", " https://lms.example.org ")
    assert server.content_security_policy().endswith("frame-ancestors 'self' https://lms.example.org")


@pytest.mark.skipif(not hasattr(server, "read_message"), reason="messages are read elsewhere")
@given(
    st.text() | st.sampled_from(['{"msgid":"1","msgtype":"PATCH-DOC"}', '{"msgid":1,"msgtype":[]}', "[" * 5000]),
    st.text() | st.sampled_from(["{}", "[]", '{"events":[{}]}', '{"events":1}', "[" * 5000]),
)
def test_reading_a_message_gives_a_text_or_a_value_error(header, content):
    try:
        message, text = server.read_message(header, content)
    except ValueError as problem:
        assert len(str(problem)) < 200 or "JSON" in type(problem).__name__
        return
    assert isinstance(message, str) and (text is None or isinstance(text, str))


@pytest.mark.skipif(not hasattr(server.PageSocket, "_may_send"), reason="nothing limits a page")
def test_a_drag_at_any_rate_of_a_screen_is_never_cut_off(monkeypatch):
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(server.time, "monotonic", lambda: clock.now)
    socket = server.PageSocket.__new__(server.PageSocket)
    socket.allowance, socket.counted = float(server.BURST), 0.0
    for _ in range(144 * 60):  # a minute on a fast screen
        clock.now += 1 / 144
        assert socket._may_send()
    allowed = sum(socket._may_send() for _ in range(5000))  # and no time passes
    assert allowed <= server.BURST
