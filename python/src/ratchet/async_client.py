"""The client for asyncio: the methods of client.py with `await`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, AsyncIterator, Callable, List, Mapping, Optional, Sequence, Union, cast

from . import _requests as requests
from . import types as t
from ._events import EventCursor
from ._http import DEFAULT_TIMEOUT_S, AsyncHttp
from ._wire import exchange
from .errors import JobFailed

if TYPE_CHECKING:
    from typing_extensions import Unpack

OnEvent = Callable[[t.Event], None]
Path = Union[str, "os.PathLike[str]"]


class AsyncClient:
    """A client of a Ratchet service.

    `url` is by default RATCHET_URL, else http://127.0.0.1:8787; `api_key` is by default
    RATCHET_API_KEY, else the key in `.ratchet/api-key`.
    """

    def __init__(
        self,
        url: Optional[str] = None,
        api_key: Optional[str] = None,
        *,
        timeout: float = DEFAULT_TIMEOUT_S,
        max_retries: int = 5,
    ) -> None:
        self._http = AsyncHttp(url, api_key, timeout, max_retries)
        self.url = self._http.url
        self.sessions = AsyncSessions(self._http)
        self.evaluations = AsyncEvaluations(self._http)
        self.graphs = AsyncGraphs(self._http)
        self.deployments = AsyncDeployments(self._http)
        self.datasets = AsyncDatasets(self._http)

    async def compare(self, a: str, b: str) -> t.Comparison:
        """Whether `b` is better than `a`: evaluations, sessions, candidates or deployments."""
        return cast(t.Comparison, await self._http.json(requests.compare(a, b)))

    async def request(
        self,
        method: str,
        path: str,
        *,
        json: Any = None,
        query: Optional[Mapping[str, Any]] = None,
        idempotency_key: Optional[str] = None,
    ) -> Any:
        """Calls any route with the retries of the client; returns the JSON of the answer."""
        return await self._http.json(requests.call(method, path, json, query, idempotency_key))

    async def close(self) -> None:
        await self._http.close()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


class AsyncJob:
    """A job by its id."""

    _collection: str
    _events_path = "events"

    def __init__(self, http: AsyncHttp, job_id: str) -> None:
        self._http = http
        self.id = job_id

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.id!r})"

    async def _read(self, *below: str, **query: Any) -> Any:
        return await self._http.json(requests.read(self._collection, self.id, *below, **query))

    async def _command(self, name: str, body: Any = None) -> Any:
        return await self._http.json(requests.command(self._collection, self.id, name, body))

    def events(self, after: int = 0, *, timeout: Optional[float] = None) -> AsyncIterator[t.Event]:
        """The events from `after` to the end of the job, in order and each once."""
        path = requests.read(self._collection, self.id, self._events_path).path
        return self._http.events(EventCursor(path, self._http.url, after, timeout))

    async def _wait(self, on_event: Optional[OnEvent], timeout: Optional[float]) -> Any:
        async for event in self.events(timeout=timeout):
            if on_event is not None:
                on_event(event)
        state = await self._read()
        if state["status"] == "failed":
            raise JobFailed(self.id, state)
        return state

    async def delete(self) -> None:
        """Deletes it; a job must have ended."""
        await self._http.json(requests.delete(self._collection, self.id))


class AsyncRunningJob(AsyncJob):
    """A job with rollouts."""

    async def pause(self) -> t.CommandAnswer:
        return cast(t.CommandAnswer, await self._command("pause"))

    async def resume(self) -> t.CommandAnswer:
        return cast(t.CommandAnswer, await self._command("resume"))

    async def cancel(self) -> t.CommandAnswer:
        return cast(t.CommandAnswer, await self._command("cancel"))

    async def reward(
        self,
        value: Optional[float] = None,
        *,
        feedback: Optional[str] = None,
        correlation_id: Optional[str] = None,
        rollout_id: Optional[str] = None,
        stop: bool = False,
    ) -> t.RewardAnswer:
        """Reports a reward; with `stop` the job completes."""
        request = requests.reward(self._collection, self.id, value, feedback, correlation_id, rollout_id, stop)
        return cast(t.RewardAnswer, await self._http.json(request))

    async def update(self, **labels: Any) -> Any:
        """Replaces name, tags, metadata, notes or `archived`; None removes one."""
        return await self._http.json(requests.patch(self._collection, self.id, labels))

    async def download_traces(self, to: Path) -> None:
        """Saves all traces as a ZIP."""
        request = requests.download(self._collection, self.id, "traces", to)
        await self._http.run(exchange(request, self._http.url, self._http.retries))

    async def trace(self, trace_id: str) -> Any:
        return await self._read("traces", trace_id)


class AsyncSession(AsyncRunningJob):
    """A search for a better prompt."""

    _collection = requests.SESSIONS

    def __init__(self, http: AsyncHttp, job_id: str, created: Optional[Mapping[str, Any]] = None) -> None:
        super().__init__(http, job_id)
        self.created = created
        """The answer to the create: estimate, split, warnings; None for a session that was looked up."""

    async def get(self) -> t.SessionState:
        return cast(t.SessionState, await self._read())

    async def results(self) -> t.SessionResults:
        """The best prompt, the history and the verdict, also while it runs."""
        return cast(t.SessionResults, await self._read("results"))

    async def prompt(self, correlation_id: Optional[str] = None) -> t.SessionPrompt:
        """The served prompt and the URLs of the proxy."""
        return cast(t.SessionPrompt, await self._read("prompt", correlation_id=correlation_id))

    async def wait(self, *, on_event: Optional[OnEvent] = None, timeout: Optional[float] = None) -> t.SessionState:
        """Waits for the end; raises JobFailed, or WaitTimeout after `timeout` seconds."""
        return cast(t.SessionState, await self._wait(on_event, timeout))

    async def extend(self, **limits: Any) -> t.CommandAnswer:
        """Lets an ended session go on with larger limits."""
        return cast(t.CommandAnswer, await self._command("extend", limits))

    async def hint(self, text: Optional[str]) -> t.CommandAnswer:
        """Gives the proposer a hint; None removes it."""
        return cast(t.CommandAnswer, await self._command("hint", {"hint": text}))

    def candidates(self) -> AsyncIterator[t.Candidate]:
        return self._http.rows(requests.pages_below(self._collection, self.id, "candidates"))

    async def candidate(self, candidate_id: str) -> Any:
        """A candidate with its messages and its origin."""
        return await self._read("candidates", candidate_id)

    def seed_evals(self, candidate_id: str) -> AsyncIterator[t.SeedEval]:
        """The rollouts of a candidate."""
        path = ("candidates", candidate_id, "seed-evals")
        return self._http.rows(requests.pages_below(self._collection, self.id, *path))


class AsyncEvaluation(AsyncRunningJob):
    """Scores of a prompt or a container on many seeds."""

    _collection = requests.EVALUATIONS

    async def get(self) -> t.EvaluationState:
        return cast(t.EvaluationState, await self._read())

    async def results(self) -> t.EvaluationResults:
        """The result of each seed, also while it runs."""
        return cast(t.EvaluationResults, await self._read("results"))

    async def wait(self, *, on_event: Optional[OnEvent] = None, timeout: Optional[float] = None) -> t.EvaluationState:
        return cast(t.EvaluationState, await self._wait(on_event, timeout))


class AsyncGraphJob(AsyncRunningJob):
    """A search for a better graph of model calls."""

    _collection = requests.GRAPHS

    async def start(self) -> Any:
        return await self._command("start")

    async def get(self) -> t.GraphState:
        return cast(t.GraphState, await self._read())

    async def graph_text(self) -> str:
        """The best graph so far as text."""
        request = requests.read(self._collection, self.id, "graph.txt")
        return (await self._http.run(exchange(request, self._http.url, self._http.retries))).body.decode()

    async def download(self, to: Path) -> None:
        """Saves the winner as a ZIP with a program that runs it."""
        request = requests.download(self._collection, self.id, "download", to)
        await self._http.run(exchange(request, self._http.url, self._http.retries))

    async def wait(self, *, on_event: Optional[OnEvent] = None, timeout: Optional[float] = None) -> t.GraphState:
        return cast(t.GraphState, await self._wait(on_event, timeout))


class AsyncDeployment(AsyncJob):
    """A prompt under a name, by the id of the deployment or the name."""

    _collection = requests.DEPLOYMENTS

    async def get(self) -> t.DeploymentState:
        return cast(t.DeploymentState, await self._read())

    async def wait(self, *, on_event: Optional[OnEvent] = None, timeout: Optional[float] = None) -> t.DeploymentState:
        """Waits until it is ready; raises JobFailed if its gate refuses."""
        return cast(t.DeploymentState, await self._wait(on_event, timeout))

    async def stats(self) -> Any:
        return await self._read("stats")

    async def rollback(self) -> Any:
        """Gives the name back to the deployment that had it before."""
        return await self._command("rollback")

    async def chat(self, messages: Sequence[t.Message], **options: Any) -> Any:
        """A chat completion, not streamed; for streams use a client of OpenAI."""
        return await self._http.json(requests.chat(self.id, messages, options))


class _Collection:
    _collection: str

    def __init__(self, http: AsyncHttp) -> None:
        self._http = http

    async def _create(self, request: Mapping[str, Any], key: Optional[str]) -> Any:
        return await self._http.json(requests.create(self._collection, request, key))

    def _list(self, query: Mapping[str, Any]) -> AsyncIterator[Any]:
        return self._http.rows(requests.pages(self._collection, query))


class AsyncSessions(_Collection):
    _collection = requests.SESSIONS

    async def create(
        self, *, idempotency_key: Optional[str] = None, **request: Unpack[t.SessionRequest]
    ) -> AsyncSession:
        created = await self._http.json(requests.create_session(request, idempotency_key))
        return AsyncSession(self._http, created["session_id"], created)

    def handle(self, session_id: str) -> AsyncSession:
        """An existing session; asks nothing."""
        return AsyncSession(self._http, session_id)

    async def get(self, session_id: str) -> t.SessionState:
        return await self.handle(session_id).get()

    def list(
        self,
        *,
        state: Optional[str] = None,
        name: Optional[str] = None,
        tag: Optional[Sequence[str]] = None,
        metadata: Optional[t.Metadata] = None,
        **query: Any,
    ) -> AsyncIterator[t.SessionState]:
        """All sessions, newest first, page by page."""
        return self._list({"state": state, "name": name, "tag": tag, "metadata": metadata, **query})


class AsyncEvaluations(_Collection):
    _collection = requests.EVALUATIONS

    async def create(
        self, *, idempotency_key: Optional[str] = None, **request: Unpack[t.EvaluationRequest]
    ) -> AsyncEvaluation:
        return AsyncEvaluation(self._http, (await self._create(request, idempotency_key))["job_id"])

    def handle(self, job_id: str) -> AsyncEvaluation:
        return AsyncEvaluation(self._http, job_id)

    async def get(self, job_id: str) -> t.EvaluationState:
        return await self.handle(job_id).get()

    def list(self, **query: Any) -> AsyncIterator[t.EvaluationState]:
        return self._list(query)


class AsyncGraphs(_Collection):
    _collection = requests.GRAPHS

    async def create(
        self, *, idempotency_key: Optional[str] = None, **request: Unpack[t.GraphRequest]
    ) -> AsyncGraphJob:
        return AsyncGraphJob(self._http, (await self._create(request, idempotency_key))["job_id"])

    def handle(self, job_id: str) -> AsyncGraphJob:
        return AsyncGraphJob(self._http, job_id)

    async def get(self, job_id: str) -> t.GraphState:
        return await self.handle(job_id).get()

    def list(self, **query: Any) -> AsyncIterator[t.GraphState]:
        return self._list(query)


class AsyncDeployments(_Collection):
    _collection = requests.DEPLOYMENTS

    async def create(
        self, *, idempotency_key: Optional[str] = None, **request: Unpack[t.DeploymentRequest]
    ) -> AsyncDeployment:
        return AsyncDeployment(self._http, (await self._create(request, idempotency_key))["id"])

    def handle(self, id_or_name: str) -> AsyncDeployment:
        return AsyncDeployment(self._http, id_or_name)

    async def get(self, id_or_name: str) -> t.DeploymentState:
        return await self.handle(id_or_name).get()

    def list(self, **query: Any) -> AsyncIterator[t.DeploymentState]:
        return self._list(query)


class AsyncDatasets(_Collection):
    _collection = requests.DATASETS

    async def upload(self, data: Any) -> t.Dataset:
        """Uploads a list of dicts, a DataFrame, or a file by its path."""
        return cast(t.Dataset, await self._http.json(requests.upload(data)))

    async def get(self, dataset_id: str) -> t.Dataset:
        return cast(t.Dataset, await self._http.json(requests.read(self._collection, dataset_id)))

    def rows(self, dataset_id: str) -> AsyncIterator[t.DatasetRow]:
        return self._http.rows(requests.pages_below(self._collection, dataset_id, "rows"))

    async def delete(self, dataset_id: str) -> None:
        await self._http.json(requests.delete(self._collection, dataset_id))

    def list(self, **query: Any) -> AsyncIterator[t.Dataset]:
        return self._list(query)


__all__: List[str] = ["AsyncClient", "AsyncSession", "AsyncEvaluation", "AsyncGraphJob", "AsyncDeployment"]
