"""Answers the requests of a container. One event loop runs it, whatever server is around it."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
from dataclasses import dataclass
from typing import Any, Awaitable, Callable, Dict, Mapping, Optional, Sequence, TypeVar, Union
from urllib.parse import parse_qs

import httpx

from .._settings import DIRECT
from .answer import Answer, failed, json_answer, outcome, problem
from .model import AsyncModel, Model, ModelError
from .once import Once
from .request import BadRequest, Rollout, check_access, read_json, read_rollout
from .score import Score, score_of

T = TypeVar("T")
NO_LIMITS = httpx.Limits(max_connections=None, max_keepalive_connections=100)
ARGUMENTS = ("model", "prompt", "prompts", "context")


@dataclass(frozen=True)
class RolloutContext:
    """What is known of a rollout beside its task."""

    seed: int
    rollout_id: str
    env_name: Optional[str]
    env_config: Dict[str, Any]
    prompts: Dict[str, str]
    stopped: threading.Event
    """Set when the time is up or the caller has gone; later model calls raise."""


def argument_names(function: Callable[..., Any]) -> Sequence[str]:
    """The arguments after the task that a rollout function takes, by their names."""
    parameters = list(inspect.signature(function).parameters.values())
    rest = [parameter.name for parameter in parameters[1:] if parameter.default is parameter.empty]
    unknown = [name for name in rest if name not in ARGUMENTS]
    if not parameters or unknown:
        raise TypeError(
            f"{getattr(function, '__name__', function)}: takes the task, then any of {', '.join(ARGUMENTS)} "
            f"by these names{': not ' + ', '.join(unknown) if unknown else ''}"
        )
    return [parameter.name for parameter in parameters[1:] if parameter.name in ARGUMENTS]


class Runner:
    """One per running container, because its tasks and clients belong to one event loop."""

    def __init__(
        self,
        function: Callable[..., Any],
        tasks: Union[Sequence[Any], Callable[[int], Any]],
        prompts: Mapping[str, str],
        name: str,
        key: Optional[str],
    ) -> None:
        self._function = function
        self._arguments = argument_names(function)
        self._tasks = tasks
        self._prompts = dict(prompts)
        self._name = name
        self._key = key
        self._once = Once()
        self._client = httpx.Client(limits=NO_LIMITS, mounts=DIRECT)
        self._async_client = httpx.AsyncClient(limits=NO_LIMITS, mounts=DIRECT)
        messages = [{"role": "system", "name": name, "content": text} for name, text in self._prompts.items()]
        if list(self._prompts) == ["system"]:
            del messages[0]["name"]
        self._initial = {"messages": messages}

    async def answer(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Answer:
        path, _, query = target.partition("?")
        try:
            check_access(headers, self._key)
            if (method, path) == ("POST", "/rollout"):
                rollout = read_rollout(read_json(headers, body))
                return await self._once.answer(headers.get("idempotency-key"), lambda: self._run(rollout))
        except BadRequest as error:
            return problem(error.status, str(error))
        info = self._info(path, query) if method == "GET" else None
        return problem(404, f"Unknown route {method} {path}; see GET /info") if info is None else json_answer(200, info)

    def _info(self, path: str, query: str) -> Optional[Dict[str, Any]]:
        if path == "/health":
            return {"status": "healthy"}
        if path == "/info":
            return {"service": {"name": self._name}, "initial_prompt": self._initial}
        if path == "/task_info":
            seed = parse_qs(query).get("seed", [None])[0]
            count = {} if callable(self._tasks) else {"dataset": {"num_tasks": len(self._tasks)}}
            return {"task": {"name": self._name, "seed": seed}, **count, "initial_prompt": self._initial}
        return None

    async def _run(self, rollout: Rollout) -> Answer:
        """Runs a rollout. 5xx: a retry may help; a permanent fault is a failed rollout."""
        stopped = threading.Event()
        work = asyncio.ensure_future(self._score(rollout, stopped))
        try:
            await asyncio.wait({work}, timeout=rollout.max_time_s)
            if not work.done():
                return failed(rollout, "timeout", f"the rollout took longer than {rollout.max_time_s:g} s")
            score = work.result()
        except ModelError as error:
            if error.retry_status is not None:
                return problem(error.retry_status, str(error), error.retry_after_header)
            return failed(rollout, "error", str(error))
        except Exception as error:
            return failed(rollout, "error", f"{type(error).__name__}: {error}")
        finally:
            stopped.set()
            work.cancel()
        given = {} if score.feedback is None else {"feedback": score.feedback}
        return outcome(rollout, "success", score.reward, {**score.details, **given})

    async def _score(self, rollout: Rollout, stopped: threading.Event) -> Score:
        tasks = self._tasks
        task = await call(tasks, rollout.seed) if callable(tasks) else tasks[rollout.seed % len(tasks)]
        prompts = {**self._prompts, **rollout.prompts}
        values = {
            "model": AsyncModel(rollout, stopped, self._async_client)
            if is_async(self._function)
            else Model(rollout, stopped, self._client),
            "prompt": "\n\n".join(self._prompts.values()) if rollout.prompt is None else rollout.prompt,
            "prompts": prompts,
            "context": RolloutContext(
                rollout.seed, rollout.rollout_id, rollout.env_name, rollout.env_config, prompts, stopped
            ),
        }
        given = {name: values[name] for name in self._arguments}
        returned = await call(self._function, task, **given)
        return score_of(returned, getattr(self._function, "__name__", "the rollout"))

    async def close(self) -> None:
        self._client.close()
        await self._async_client.aclose()


def is_async(function: Callable[..., Any]) -> bool:
    """Whether it is an async function, or an object that is called like one."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


async def call(function: Callable[..., Any], *args: Any, **named: Any) -> Any:
    """Calls a function of the user, which may be async; others run in a thread of their own."""
    if is_async(function):
        return await function(*args, **named)
    returned = await in_thread(lambda: function(*args, **named))
    return await returned if inspect.isawaitable(returned) else returned


def in_thread(work: Callable[[], T]) -> Awaitable[T]:
    """Runs work in a thread of its own, which does not keep the process alive."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()
    context = contextvars.copy_context()

    def settle(set_result: Callable[[], None]) -> None:
        if not future.done():
            set_result()

    def run() -> None:
        try:
            result = context.run(work)
        except BaseException as error:
            told = error if isinstance(error, Exception) else RuntimeError(f"{type(error).__name__}: {error}")
            tell: Callable[[], None] = lambda: future.set_exception(told)  # noqa: E731
        else:
            tell = lambda: future.set_result(result)  # noqa: E731
        # A loop that is closed has nobody waiting.
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, tell)

    threading.Thread(target=run, daemon=True, name="ratchet-rollout").start()
    return future
