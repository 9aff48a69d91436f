"""The same key gets the same answer, so that a retry does not pay twice."""

from __future__ import annotations

import asyncio
from typing import Awaitable, Callable, Dict, Optional

from .answer import Answer

MAX_KEPT = 1_000


class Once:
    """Runs work once per key and keeps the last 1,000 answers, except 5xx."""

    def __init__(self) -> None:
        self._tasks: Dict[str, asyncio.Task[Answer]] = {}
        self._waiting: Dict[str, int] = {}

    async def answer(self, key: Optional[str], work: Callable[[], Awaitable[Answer]]) -> Answer:
        if key is None:
            return await work()
        task = self._tasks.get(key)
        if task is None:
            task = self._tasks[key] = asyncio.ensure_future(work())
        self._waiting[key] = self._waiting.get(key, 0) + 1
        try:
            answer = await asyncio.shield(task)
        except asyncio.CancelledError:
            # Stop and forget the work only when no caller waits for it.
            if self._waiting[key] == 1 and not task.done():
                task.cancel()
                self._tasks.pop(key, None)
            raise
        except Exception:
            self._tasks.pop(key, None)
            raise
        finally:
            self._waiting[key] -= 1
            if self._waiting[key] == 0:
                del self._waiting[key]
        if answer.status >= 500:
            self._tasks.pop(key, None)
        while len(self._tasks) > MAX_KEPT:
            del self._tasks[next(iter(self._tasks))]
        return answer
