"""Prompts for both clients: one question per prompt, whoever waits for it."""

from __future__ import annotations

import asyncio
import os
import threading
from concurrent.futures import Future

from ._http import AsyncHttp, SyncHttp
from ._prompt_cache import Entries, Entry, Wanted
from .prompts import Prompt


class SyncPrompts:
    """Each question in the background is a thread of its own, which ends with it."""

    def __init__(self, http: SyncHttp) -> None:
        self._http = http
        self._entries: Entries[Future[None]] = Entries()
        self._lock = threading.Lock()
        self._pid = os.getpid()

    def get(self, wanted: Wanted) -> Prompt:
        self._join_process()
        entry = self._entries.of(wanted.ref)
        at_hand = entry.at_hand(wanted)
        if at_hand is not None:
            if entry.is_due(wanted):
                mine = self._begin(entry, wanted)
                if mine is not None:
                    threading.Thread(target=self._ask, args=(entry, wanted, mine), daemon=True).start()
            return at_hand
        if not entry.is_paused(wanted):
            mine = self._begin(entry, wanted)
            if mine is not None:
                self._ask(entry, wanted, mine)
            elif (theirs := entry.asking) is not None:
                theirs.result()
        return entry.answer(wanted, self._http.url)

    def _begin(self, entry: Entry[Future[None]], wanted: Wanted) -> Future[None] | None:
        """A question that the caller asks; None: another one is under way."""
        with self._lock:
            if entry.asking is not None:
                return None
            entry.asking = Future()
            return entry.asking

    def _ask(self, entry: Entry[Future[None]], wanted: Wanted, mine: Future[None]) -> None:
        try:
            self._http.run(entry.question(wanted, self._http.url, self._http.retries))
        finally:
            with self._lock:
                entry.asking = None
            mine.set_result(None)

    def _join_process(self) -> None:
        """A child has neither the threads of its parent nor its connections."""
        if self._pid == os.getpid():
            return
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._http = self._http.anew()
        self._entries.forget_questions()


class AsyncPrompts:
    """Each question is a task of the loop that asks it."""

    def __init__(self, http: AsyncHttp) -> None:
        self._http = http
        self._entries: Entries[asyncio.Task[None]] = Entries()

    async def get(self, wanted: Wanted) -> Prompt:
        entry = self._entries.of(wanted.ref)
        at_hand = entry.at_hand(wanted)
        if at_hand is not None:
            if entry.is_due(wanted):
                self._ask(entry, wanted)
            return at_hand
        if not entry.is_paused(wanted):
            # A caller that gives up does not end the question of the others.
            await asyncio.shield(self._ask(entry, wanted))
        return entry.answer(wanted, self._http.url)

    def _ask(self, entry: Entry[asyncio.Task[None]], wanted: Wanted) -> asyncio.Task[None]:
        loop = asyncio.get_running_loop()
        task = entry.asking
        if task is None or task.done() or task.get_loop() is not loop:
            call = entry.question(wanted, self._http.url, self._http.retries)
            task = entry.asking = loop.create_task(self._http.run(call))
        return task
