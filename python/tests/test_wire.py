"""What both clients do with faulty answers and slow services; servers of this file are the service."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable, Iterator, List, Tuple

import pytest

import ratchet_prompts as ratchet
from ratchet_prompts._events import EventCursor
from ratchet_prompts._wire import (
    Deadline,
    NoResponse,
    Request,
    Response,
    Retries,
    Sleep,
    exchange,
    wait_before_retry,
)

EVENT = b'data: {"seq": 1, "type": "job_complete", "job_id": "ses_1"}\n\n'


@contextlib.contextmanager
def serving(answer: Callable[[BaseHTTPRequestHandler], None]) -> Iterator[Tuple[str, List[str]]]:
    """A server that answers every GET; its url, and the paths that were asked for."""
    asked: List[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            with contextlib.suppress(ConnectionError):
                answer(self)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", asked
    finally:
        server.shutdown()
        server.server_close()


def reply(handler: BaseHTTPRequestHandler, kind: str, body: bytes) -> None:
    handler.send_response(200)
    handler.send_header("content-type", kind)
    handler.end_headers()
    handler.wfile.write(body)


def wait_in_both_clients(url: str, **options: Any) -> List[Any]:
    """The outcomes of `wait` in the blocking and in the async client."""

    async def run() -> Any:
        async with ratchet.AsyncClient(url, "key") as client:
            return await client.sessions.handle("ses_1").wait(**options)

    def blocking() -> Any:
        with ratchet.Client(url, "key") as client:
            return client.sessions.handle("ses_1").wait(**options)

    outcomes: List[Any] = []
    for call in (blocking, lambda: asyncio.run(run())):
        try:
            outcomes.append(call())
        except ratchet.RatchetError as error:
            outcomes.append(error)
    return outcomes


def answered(outcomes: List[Any]) -> Any:
    """The result of a DELETE whose tries have these outcomes."""
    call = exchange(Request("DELETE", "/jobs/1"), "http://127.0.0.1", Retries())
    step: Any = next(call)
    with pytest.raises(StopIteration) as done:
        for outcome in outcomes:
            step = call.send(outcome)
            if isinstance(step, Sleep):
                step = next(call)
    return done.value.value


@pytest.mark.parametrize("first", [NoResponse(ConnectionError()), Response(502, {}), Response(503, {})])
def test_a_delete_that_may_have_worked_and_is_then_404_has_worked(first):
    assert answered([first, Response(404, {})]).status == 204


@pytest.mark.parametrize("refused", [Response(429, {}), Response(503, {}, b'{"code": "draining"}')])
def test_a_delete_that_was_refused_and_is_then_404_has_found_nothing(refused):
    with pytest.raises(ratchet.RatchetError) as missing:
        answered([refused, Response(404, {})])
    assert missing.value.status == 404


@pytest.mark.parametrize("advice", [None, "true", "false"])
def test_what_may_pass_is_tried_again_where_it_cannot_be_done_twice(advice):
    headers = {} if advice is None else {"x-should-retry": advice}
    statuses = range(400, 600)
    for method in ("GET", "POST"):
        request = Request(method, "/jobs", repeatable=method == "GET")
        tried = {
            status
            for status in statuses
            if wait_before_retry(request, Response(status, headers), 0, Retries()) is not None
        }
        refused = {429, 498}
        passing = refused | {408, 425, 499} | set(range(500, 600)) - {501, 505}
        expected = passing if method == "GET" else refused
        assert tried == {None: expected, "true": set(statuses), "false": set()}[advice]


@pytest.mark.parametrize("wrong", ["", ".", "..", None])
def test_an_id_that_names_another_path_is_refused_before_anything_is_sent(wrong):
    with serving(lambda handler: reply(handler, "application/json", b"{}")) as (url, asked):
        client = ratchet.Client(url, "key", max_retries=0)
        for call in (
            client.sessions.handle(wrong).get,
            client.sessions.handle(wrong).delete,
            lambda: client.sessions.handle("ses_1").candidate(wrong),
            lambda: list(client.datasets.rows(wrong)),
            lambda: client.deployments.handle(wrong).chat([]),
        ):
            with pytest.raises(ratchet.ConfigurationError):
                call()
        client.close()
    assert asked == []


@pytest.mark.parametrize("body", [{"target_reward": float("inf")}, {"tags": {1, 2}}, {"name": "\ud800"}])
def test_a_request_that_is_no_json_is_refused_before_it_is_sent(body):
    with ratchet.Client("http://127.0.0.1:9", "key", max_retries=0) as client:
        with pytest.raises(ratchet.ConfigurationError):
            client.sessions.create(**body)
        with pytest.raises(ratchet.ConfigurationError, match="row 1"):
            client.datasets.upload([{"a": 1}, body])


def test_a_page_in_place_of_events_is_an_error_that_names_its_type():
    with serving(lambda handler: reply(handler, "text/html", b"<html>")) as (url, asked):
        errors = wait_in_both_clients(url, timeout=20)
    assert [type(error) for error in errors] == [ratchet.RatchetError] * 2 and len(asked) == 2
    assert all("text/html" in str(error) for error in errors)


def test_the_timeout_bounds_the_whole_wait():
    """A service that is heard from once, and one that never tells the state of a job that has ended."""
    over = threading.Event()

    def silent(handler: BaseHTTPRequestHandler) -> None:
        reply(handler, "text/event-stream", b": heartbeat\n\n")
        over.wait(60)

    def stateless(handler: BaseHTTPRequestHandler) -> None:
        if handler.path.endswith("/events"):
            reply(handler, "text/event-stream", EVENT)
        else:
            over.wait(60)

    for answer in (silent, stateless):
        with serving(answer) as (url, _):
            outcomes = wait_in_both_clients(url, timeout=0.5)
            over.set()
        over.clear()
        assert [type(outcome) for outcome in outcomes] == [ratchet.WaitTimeout] * 2
        assert "ses_1" in str(outcomes[0])


def test_a_stream_is_opened_again_where_it_could_outlast_the_timeout(monkeypatch):
    now = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    cursor = EventCursor("/events", "http://127.0.0.1", deadline=Deadline("ses_1", 60))
    opened: List[float] = []
    with pytest.raises(ratchet.WaitTimeout):
        while True:
            opened.append(cursor.request().read_timeout)
            while not cursor.must_reopen():
                assert now + opened[-1] <= 60.5
                now += 0.25
    assert now == 60 and opened[0] == 40 and len(opened) < 70


def test_an_async_callback_is_awaited():
    seen: List[Any] = []

    def answer(handler: BaseHTTPRequestHandler) -> None:
        is_stream = handler.path.endswith("/events")
        kind, body = ("text/event-stream", EVENT) if is_stream else ("application/json", b'{"status": "completed"}')
        reply(handler, kind, body)

    async def on_event(event: Any) -> None:
        await asyncio.sleep(0)
        seen.append(event["seq"])

    async def run(url: str) -> None:
        async with ratchet.AsyncClient(url, "key") as client:
            await client.sessions.handle("ses_1").wait(on_event=on_event, timeout=20)
            await client.sessions.handle("ses_1").wait(on_event=lambda event: seen.append(event["type"]))

    with serving(answer) as (url, _):
        asyncio.run(run(url))
        with ratchet.Client(url, "key") as client, pytest.raises(ratchet.ConfigurationError):
            client.sessions.handle("ses_1").wait(on_event=on_event)
    assert seen == [1, "job_complete"]
