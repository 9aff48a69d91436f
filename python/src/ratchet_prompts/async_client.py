"""The client for asyncio: the methods of client.py with `await`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, AsyncIterator, Dict, Mapping, Optional, Sequence, cast

from . import _requests as requests
from . import types as t
from ._http import DEFAULT_TIMEOUT_S, AsyncHttp
from ._prompt_cache import Wanted
from ._prompt_clients import AsyncPrompts
from .async_jobs import (
    AsyncCheckup,
    AsyncDeployment,
    AsyncEvaluation,
    AsyncGraphJob,
    AsyncMigration,
    AsyncSchedule,
    AsyncSession,
)
from .prompts import Prompt

if TYPE_CHECKING:
    from typing_extensions import Unpack


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
        self.migrations = AsyncMigrations(self._http)
        self.checkups = AsyncCheckups(self._http)
        self.schedules = AsyncSchedules(self._http)
        self.runs = AsyncRuns(self._http)
        self.reviews = AsyncReviews(self._http)
        self.datasets = AsyncDatasets(self._http)
        self._prompts = AsyncPrompts(self._http)

    async def prompt(
        self,
        name: str,
        *,
        label: Optional[str] = None,
        version: Optional[int] = None,
        ttl: float = 60.0,
        folder: Optional[str | os.PathLike[str]] = None,
        fallback: Optional[Mapping[str, Any]] = None,
    ) -> Prompt:
        """The prompt of a deployment, to call the model yourself: from memory, the service, or what is known.

        `ttl`: seconds for which it is taken from memory; then the old one is answered at once, while one request
        asks for news. In an outage the last known one serves, then that of `folder`, then `fallback`, a dict with
        `messages`. A refusal of the service is raised.
        """
        return await self._prompts.get(Wanted(name, label, version, ttl, folder, fallback))

    async def compare(self, a: str, b: str) -> t.Comparison:
        """Whether `b` is better than `a`: evaluations, sessions, candidates or deployments."""
        return cast(t.Comparison, await self._http.json(requests.compare(a, b)))

    async def compare_many(self, *ids: str, baseline: Optional[str] = None) -> t.ManyComparison:
        """Up to eight evaluations, sessions, candidates or deployments beside one of them, by default the first."""
        return cast(t.ManyComparison, await self._http.json(requests.compare_many(ids, baseline)))

    async def compared_rows(self, *ids: str, baseline: Optional[str] = None, **filters: Any) -> t.ComparedRows:
        """A page of the rows of `compare_many`, with all answers: `outcome`, `column`, `q`, `limit`, `cursor`."""
        return cast(t.ComparedRows, await self._http.json(requests.compared_rows(ids, baseline, filters)))

    async def health(self) -> t.Health:
        """What is slow or failing now, and which jobs and deployments it affects."""
        return cast(t.Health, await self._http.json(requests.health()))

    async def retirements(self, *, within_days: Optional[int] = None, all: bool = False) -> t.Retirements:
        """Deployments and open jobs that name a model with a known end, the live ones first."""
        return cast(t.Retirements, await self._http.json(requests.retirements(within_days, all)))

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

    async def try_rows(
        self, *, rows: int = 5, idempotency_key: Optional[str] = None, **request: Unpack[t.EvaluationRequest]
    ) -> t.Tried:
        """The answers to a few rows, within a minute; lists leave the evaluation out."""
        return cast(t.Tried, await self._http.json(requests.try_rows(request, rows, idempotency_key)))

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

    async def try_rows(
        self, *, rows: int = 5, idempotency_key: Optional[str] = None, **request: Unpack[t.GraphTryRequest]
    ) -> t.Tried:
        """What the first graph gives for a few tasks, within a minute; lists leave the job out."""
        return cast(t.Tried, await self._http.json(requests.try_rows(request, rows, idempotency_key)))

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


class AsyncMigrations(_Collection):
    _collection = requests.MIGRATIONS

    def handle(self, job_id: str) -> AsyncMigration:
        return AsyncMigration(self._http, job_id)

    def list(self, **query: Any) -> AsyncIterator[Any]:
        return self._list(query)


class AsyncCheckups(_Collection):
    _collection = requests.CHECKUPS

    def handle(self, job_id: str) -> AsyncCheckup:
        return AsyncCheckup(self._http, job_id)

    def list(self, **query: Any) -> AsyncIterator[t.CheckupState]:
        return self._list(query)


class AsyncSchedules(_Collection):
    _collection = requests.SCHEDULES

    def handle(self, schedule_id: str) -> AsyncSchedule:
        return AsyncSchedule(self._http, schedule_id)

    def list(self, **query: Any) -> AsyncIterator[t.ListedSchedule]:
        return self._list(query)


class AsyncRuns(_Collection):
    """Sessions, evaluations and graph jobs in one list."""

    _collection = requests.RUNS

    def list(self, **query: Any) -> AsyncIterator[t.Run]:
        """Runs in an order, such as `sort="-gain"`; the filters are those of `GET /api/v1/runs`."""
        return self._list(query)

    async def command(self, action: str, **named: Any) -> Dict[str, Any]:
        """One of pause, resume, cancel, archive, unarchive and tag for many runs: of `job_ids`, or of a `filter`.

        `dry_run=True` answers what it would touch.
        """
        body = {"action": action, **named}
        return cast(Dict[str, Any], await self._http.json(requests.call("POST", f"{self._collection}/commands", body)))


class AsyncReviews(_Collection):
    """What people say of rows of jobs and of live answers."""

    _collection = requests.REVIEWS

    async def put(
        self,
        job_id: str,
        subject_id: str,
        *,
        verdict: Optional[str] = None,
        note: Optional[str] = None,
        corrected: Optional[str] = None,
        by: Optional[str] = None,
    ) -> t.Review:
        """Says something of a row's trace or of a live answer; replaces what the same reviewer said."""
        body = {"verdict": verdict, "note": note, "corrected": corrected, "by": by}
        return cast(t.Review, await self._http.json(requests.review("PUT", job_id, subject_id, body)))

    async def delete(self, job_id: str, subject_id: str, by: Optional[str] = None) -> None:
        """Takes a review back."""
        await self._http.json(requests.review("DELETE", job_id, subject_id, by=by))

    def list(self, **query: Any) -> AsyncIterator[t.Review]:
        """Reviews, newest first: of a `job_id`, a `verdict`, or `by` somebody."""
        return self._list(query)

    async def queue(self, job_id: str, **query: Any) -> t.ReviewQueue:
        """What is to be reviewed next, and how much is done and left."""
        wanted = {"job_id": job_id, **query}
        call = requests.call("GET", f"{self._collection}/queue", query=wanted)
        return cast(t.ReviewQueue, await self._http.json(call))


class AsyncDatasets(_Collection):
    _collection = requests.DATASETS

    async def upload(self, data: Any, name: Optional[str] = None) -> t.Dataset:
        """Uploads a list of dicts, a DataFrame, or a file by its path. `name`: by default that of the file."""
        return cast(t.Dataset, await self._http.json(requests.upload(data, name)))

    async def rename(self, dataset_id: str, name: Optional[str]) -> t.Dataset:
        """Names a data set; None: it has no name."""
        return cast(t.Dataset, await self._http.json(requests.patch(self._collection, dataset_id, {"name": name})))

    async def get(self, dataset_id: str) -> t.Dataset:
        return cast(t.Dataset, await self._http.json(requests.read(self._collection, dataset_id)))

    def rows(self, dataset_id: str) -> AsyncIterator[t.DatasetRow]:
        return self._http.rows(requests.pages_below(self._collection, dataset_id, "rows"))

    async def delete(self, dataset_id: str) -> None:
        await self._http.json(requests.delete(self._collection, dataset_id))

    def list(self, **query: Any) -> AsyncIterator[t.Dataset]:
        return self._list(query)
