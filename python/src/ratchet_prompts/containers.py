"""`@ratchet.container` makes a container of a function: it runs a task with a prompt and scores it.

import ratchet_prompts as ratchet

@ratchet.container(tasks=[{"country": "Peru", "capital": "Lima"}], prompt="Answer with one word.")
def capitals(task, model, prompt):
    answer = model([{"role": "system", "content": prompt},
                    {"role": "user", "content": f"The capital of {task['country']}?"}])
    return float(task["capital"] in answer), f"Expected {task['capital']}, got {answer}."

with capitals.start() as running:
    print(running.url)
"""

from __future__ import annotations

import contextlib
import threading
from typing import Any, Callable, Dict, Mapping, Optional, Sequence, Union

from ._container.asgi import AsgiApp
from ._container.runner import Runner, argument_names
from ._container.server import LocalServer, check_host
from ._rows import is_frame, rows_of
from .errors import ConfigurationError

Tasks = Union[Sequence[Any], Callable[[int], Any], Any]


class RunningContainer:
    """A container that serves from threads of this process."""

    def __init__(self, server: LocalServer) -> None:
        self._server = server
        self.url = server.url

    def close(self) -> None:
        self._server.close()

    def __enter__(self) -> RunningContainer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Container:
    """A function with its tasks and its prompt; call it as the function it was."""

    def __init__(
        self,
        function: Callable[..., Any],
        tasks: Tasks,
        prompt: Union[str, Mapping[str, str]],
        name: Optional[str] = None,
    ) -> None:
        self._function = function
        self._tasks = rows_of(tasks) if is_frame(tasks) else tasks
        self._prompts: Dict[str, str] = {"system": prompt} if isinstance(prompt, str) else dict(prompt)
        self.name = name or str(getattr(function, "__name__", "container"))
        argument_names(function)
        if not callable(self._tasks) and len(self._tasks) == 0:
            raise ConfigurationError("tasks: is empty; a container needs at least one")
        if not self._prompts:
            raise ConfigurationError("prompt: is empty; a container needs at least one")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._function(*args, **kwargs)

    def start(self, host: str = "127.0.0.1", port: int = 0, key: Optional[str] = None) -> RunningContainer:
        """Serves from threads. Another host than loopback requires a `key`; 0 is any free port."""
        check_host(host, key)
        runner = self._runner(key)
        return RunningContainer(LocalServer(runner.answer, runner.close, host, port))

    def serve(self, host: str = "127.0.0.1", port: int = 8900, key: Optional[str] = None) -> None:
        """Serves until Ctrl-C."""
        with self.start(host, port, key) as running, contextlib.suppress(KeyboardInterrupt):
            print(f"{self.name} listens at {running.url}", flush=True)
            threading.Event().wait()

    def asgi(self, key: Optional[str] = None) -> AsgiApp:
        """An ASGI app. Without a `key` it answers callers of this machine only."""
        check_host("127.0.0.1", key)
        return AsgiApp(lambda: self._runner(key), key is not None)

    def _runner(self, key: Optional[str]) -> Runner:
        return Runner(self._function, self._tasks, self._prompts, self.name, key)


def container(
    *, tasks: Tasks, prompt: Union[str, Mapping[str, str]], name: Optional[str] = None
) -> Callable[[Callable[..., Any]], Container]:
    """Makes a container of a function, sync or async, that runs and scores a task.

    `tasks` is a list or a DataFrame, where seed n is task n (modulo their number), or a function of
    the seed. `prompt` is the first prompt, or several by name. After the task, the function takes any
    of `model`, `prompt`, `prompts` and `context`, by these names. It returns a reward, `(reward,
    feedback)`, or a Score. An exception fails the rollout; failed model calls are tried again.
    """
    return lambda function: Container(function, tasks, prompt, name)
