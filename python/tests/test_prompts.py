"""Prompts for applications that call the model themselves: cache, outage, refusals, forks."""

from __future__ import annotations

import asyncio
import json
import os
import threading
import time
import uuid
from types import SimpleNamespace

import pytest
from conftest import LOCAL
from support.proxy import Fault

import ratchet_prompts as ratchet
from ratchet_prompts import _prompt_cache
from ratchet_prompts.prompts import Prompt

OUTAGE = [Fault(status=503, headers={"retry-after": "0"})] * 1_000
FALLBACK = {"messages": [{"role": "system", "content": "Fall back on {{what}}."}], "model": "m"}


@pytest.fixture
def clock(monkeypatch):
    """Seconds that the cache is ahead of the time."""
    clock = SimpleNamespace(ahead=0.0)
    monkeypatch.setattr(
        _prompt_cache, "time", SimpleNamespace(monotonic=lambda: time.monotonic() + clock.ahead), raising=True
    )
    return clock


@pytest.fixture
def name():
    return f"prompt-{uuid.uuid4().hex[:8]}"


def deploy(client, name, text="Answer {{question}}."):
    source = {"messages": [{"role": "system", "content": text}], "policy": {**LOCAL, "temperature": 0}}
    return client.deployments.create(name=name, source=source).wait(timeout=60)


def until(condition):
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_is_fresh_then_stale_then_new(client, faulty, proxy, clock, name):
    deploy(client, name)
    first = faulty.prompt(name)
    assert (first.version, first.source, first.variables, first.model) == (1, "service", ["question"], "local")
    deploy(client, name, "two")
    clock.ahead += 59
    assert faulty.prompt(name).version == 1
    assert len(proxy.requests) == 1
    clock.ahead += 1
    assert faulty.prompt(name).version == 1
    until(lambda: faulty.prompt(name).version == 2)
    assert len(proxy.requests) == 2
    clock.ahead += 60
    faulty.prompt(name)
    until(lambda: len(proxy.requests) == 3)
    assert proxy.requests[2]["headers"]["if-none-match"].startswith('"')


def test_is_asked_for_once_by_all_threads_and_apart_by_label(client, faulty, proxy, clock, name):
    deploy(client, name)
    client.deployments.handle(name).set_label("staging", 1, reason="a trial")
    deploy(client, name, "two")
    seen = []

    def all_at_once(**options):
        threads = [threading.Thread(target=lambda: seen.append(faulty.prompt(name, **options))) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        found = {prompt.version for prompt in seen}
        seen.clear()
        return found

    assert (all_at_once(), len(proxy.requests)) == ({2}, 1)
    clock.ahead += 60
    assert all_at_once() == {2}
    until(lambda: len(proxy.requests) == 2)
    assert (all_at_once(label="staging"), len(proxy.requests)) == ({1}, 3)
    with pytest.raises(ratchet.ConfigurationError):
        faulty.prompt(name, label="staging", version=1)


def test_serves_through_an_outage(client, faulty, proxy, clock, name):
    deploy(client, name)
    faulty.prompt(name)
    proxy.faults = list(OUTAGE)
    for ahead in (60, 3_600, 86_400):
        clock.ahead += ahead
        before = len(proxy.requests)
        assert {faulty.prompt(name).version for _ in range(20)} == {1}
        # The question before may fail only now: then the next one waits for its pause.
        until(lambda before=before: faulty.prompt(name).version == 1 and len(proxy.requests) == before + 1)
    deploy(client, name, "two")
    proxy.faults = []
    clock.ahead += 5
    until(lambda: faulty.prompt(name).version == 2)


def test_a_new_process_has_the_folder_else_the_fallback(client, proxy, clock, name, tmp_path):
    deploy(client, name)
    new = lambda: ratchet.Client(proxy.url, max_retries=0)  # noqa: E731
    folder = tmp_path / "prompts"
    assert new().prompt(name, folder=folder).source == "service"
    (file,) = folder.iterdir()
    assert file.stat().st_mode & 0o777 == 0o600
    proxy.faults = list(OUTAGE)
    restarted = new()
    kept = restarted.prompt(name, folder=folder)
    assert (kept.version, kept.source) == (1, "file")
    fallback = new().prompt(name, fallback=FALLBACK)
    assert (fallback.version, fallback.source, fallback.variables) == (None, "fallback", ["what"])
    with pytest.raises(ratchet.RatchetError):
        new().prompt(name)
    text = file.read_text()
    for content in (text[:-10], "null", json.dumps({**json.loads(text), "url": "http://other"})):
        file.write_text(content)
        with pytest.warns(RuntimeWarning):
            assert new().prompt(name, folder=folder, fallback=FALLBACK).source == "fallback"
    proxy.faults = []
    clock.ahead += 5
    until(lambda: restarted.prompt(name, folder=folder).source == "service")


def test_a_refusal_is_raised_by_the_second_call(client, faulty, proxy, clock, name):
    deploy(client, name)
    client.deployments.handle(name).set_label("staging", 1)

    def status():
        try:
            return faulty.prompt(name, label="staging", fallback=FALLBACK).version
        except ratchet.RatchetError as error:
            return error.status

    assert status() == 1
    client.deployments.handle(name).remove_label("staging")
    clock.ahead += 60
    assert status() == 1
    until(lambda: status() == 404)
    proxy.faults = list(OUTAGE)
    assert status() == 1
    proxy.faults = []
    client.deployments.handle(name).set_label("staging", 1)
    assert status() == 1
    for wrong in (ratchet.Client(proxy.url, "wrong"), faulty):
        with pytest.raises(ratchet.RatchetError) as refused:
            wrong.prompt("nobody", fallback=FALLBACK)
        assert refused.value.status in (401, 404)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_child_asks_for_itself(client, faulty, clock, name):
    deploy(client, name)
    faulty.prompt(name)
    # A question of the parent that is under way when the child is made.
    entry = faulty._prompts._entries.of(name)
    faulty._prompts._begin(entry, None)
    faulty._prompts._lock.acquire()
    deploy(client, name, "two")
    clock.ahead += 60
    pid = os.fork()
    if pid == 0:
        try:
            until(lambda: faulty.prompt(name).version == 2)
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitpid(pid, 0)[1] == 0


def test_with_asyncio(client, proxy, clock, name):
    deploy(client, name)

    async def run():
        async with ratchet.AsyncClient(proxy.url) as own:
            many = await asyncio.gather(*(own.prompt(name) for _ in range(20)))
            assert ({prompt.version for prompt in many}, len(proxy.requests)) == ({1}, 1)
            deploy(client, name, "two")
            clock.ahead += 60
            assert (await own.prompt(name)).version == 1
            while (await own.prompt(name)).version == 1:
                await asyncio.sleep(0.01)
            proxy.faults = list(OUTAGE)
            clock.ahead += 60
            assert (await own.prompt(name)).version == 2
            await asyncio.sleep(0)
            assert (await own.prompt(name, ttl=0)).version == 2

    asyncio.run(run())


def test_fills_placeholders_but_those_of_demonstrations():
    messages = [{"role": "user", "content": "{{a}}|{{ b }}|{{c}}|{{}}"}] * 2
    data = {"messages": messages, "variables": ["a", "b"], "demonstrations": {"start": 1, "end": 2}}
    prompt = Prompt("n", data, "service")
    filled = prompt.messages(a="{{b}}", b="\\1")
    assert [message["content"] for message in filled] == ["{{b}}|\\1|{{c}}|{{}}", "{{a}}|{{ b }}|{{c}}|{{}}"]
    filled[1]["content"] = "changed"
    assert prompt.fill({"a": 1, "b": 2})[0]["content"] == "1|2|{{c}}|{{}}"
    assert prompt.fill({"a": 1, "b": 2})[1]["content"] != "changed"
    with pytest.raises(ratchet.ConfigurationError):
        prompt.messages(a=1)
    body = prompt.request({"a": 1, "b": 2}, [{"role": "user", "content": "hi"}])
    assert (body["model"], len(body["messages"])) == (None, 3)
