"""Handles of jobs for asyncio: those of jobs.py with `await`."""

from __future__ import annotations

import os
from typing import (
    TYPE_CHECKING,
    Any,
    AsyncIterator,
    Awaitable,
    Callable,
    List,
    Mapping,
    Optional,
    Sequence,
    Union,
    cast,
)

from . import _requests as requests
from . import types as t
from ._events import EventCursor
from ._http import AsyncHttp
from ._wire import Deadline, exchange
from .errors import JobFailed, RatchetError

if TYPE_CHECKING:
    from typing_extensions import Unpack

OnEvent = Callable[[t.Event], Optional[Awaitable[None]]]
"""Called with each event; what it returns is awaited."""
Path = Union[str, "os.PathLike[str]"]


class AsyncJob:
    """A job by its id."""

    _collection: str

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
        return self._events(after, Deadline(self.id, timeout))

    def _events(self, after: int, deadline: Deadline) -> AsyncIterator[t.Event]:
        path = requests.read(self._collection, self.id, "events").path
        return self._http.events(EventCursor(path, self._http.url, after, deadline))

    async def _wait(self, on_event: Optional[OnEvent], timeout: Optional[float]) -> Any:
        deadline = Deadline(self.id, timeout)
        try:
            async for event in self._events(0, deadline):
                returned = on_event(event) if on_event is not None else None
                if returned is not None:
                    await returned
        except RatchetError as error:
            # The events of a job that ended long ago may have been deleted.
            if error.code != "expired":
                raise
        state = await self._http.json(requests.read(self._collection, self.id), deadline)
        if state["status"] == "failed":
            raise JobFailed(self.id, state)
        return state

    async def delete(self) -> None:
        """Deletes it; a job must have ended."""
        await self._http.json(requests.delete(self._collection, self.id))


class AsyncRunningJob(AsyncJob):
    """A job with rollouts."""

    _rows = "rows"

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

    async def save_report(self, to: Path) -> None:
        """Saves what it found as one HTML file."""
        request = requests.download(self._collection, self.id, "report", to)
        await self._http.run(exchange(request, self._http.url, self._http.retries))

    async def trace(self, trace_id: str) -> Any:
        return await self._read("traces", trace_id)

    async def request(self, candidate_id: Optional[str] = None) -> t.JobRequest:
        """The request, to send again; with a candidate of a search, that of a branch."""
        return cast(t.JobRequest, await self._read("request", candidate_id=candidate_id))

    async def rows_summary(self, **filters: Any) -> t.RowsSummary:
        """Counts of its rows by group, by label and by feedback."""
        return cast(t.RowsSummary, await self._read(self._rows, "summary", **requests.row_filter(filters)))

    async def rows_dataset(self, **filters: Any) -> t.RowsDataset:
        """A data set of the rows that pass a filter; `corrected=True`: with the corrected answers of reviews."""
        request = requests.row_dataset(self._collection, self.id, self._rows, filters)
        return cast(t.RowsDataset, await self._http.json(request))


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

    def rows(self, **filters: Any) -> AsyncIterator[t.JobRow]:
        """The rows with the answers of the baseline and of the winner, such as `group="failing"`."""
        return self._http.rows(requests.row_pages(self._collection, self.id, filters))

    def candidates(self) -> AsyncIterator[t.Candidate]:
        return self._http.rows(requests.pages_below(self._collection, self.id, "candidates"))

    async def candidate(self, candidate_id: str) -> Any:
        """A candidate with its messages and its origin."""
        return await self._read("candidates", candidate_id)

    async def changes(self, candidate_id: str, against: str = "baseline") -> Any:
        """The edits that make a candidate's prompt of an earlier one, with evidence."""
        return await self._read("candidates", candidate_id, "changes", against=against)

    def seed_evals(self, candidate_id: str) -> AsyncIterator[t.SeedEval]:
        """The rollouts of a candidate."""
        path = ("candidates", candidate_id, "seed-evals")
        return self._http.rows(requests.pages_below(self._collection, self.id, *path))


class AsyncEvaluation(AsyncRunningJob):
    """Scores of a prompt or a container on many seeds."""

    _collection = requests.EVALUATIONS
    _rows = "results"

    async def get(self) -> t.EvaluationState:
        return cast(t.EvaluationState, await self._read())

    async def results(self) -> t.EvaluationResults:
        """The result of each seed, also while it runs."""
        return cast(t.EvaluationResults, await self._read("results"))

    def rows(self, **filters: Any) -> AsyncIterator[t.SeedResult]:
        """The results with their texts, such as those of `group="failing"`."""
        return self._http.rows(requests.result_pages(self.id, filters))

    async def wait(self, *, on_event: Optional[OnEvent] = None, timeout: Optional[float] = None) -> t.EvaluationState:
        return cast(t.EvaluationState, await self._wait(on_event, timeout))


class AsyncGraphJob(AsyncRunningJob):
    """A search for a better graph of model calls."""

    _collection = requests.GRAPHS

    async def start(self) -> Any:
        return await self._command("start")

    async def get(self) -> t.GraphState:
        return cast(t.GraphState, await self._read())

    def rows(self, **filters: Any) -> AsyncIterator[t.JobRow]:
        """The tasks with the outputs of the baseline and of the winner, such as `group="failing"`."""
        return self._http.rows(requests.row_pages(self._collection, self.id, filters))

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


class AsyncMigration(AsyncJob):
    """A move of a deployment to another model."""

    _collection = requests.MIGRATIONS

    async def get(self) -> Any:
        return await self._read()

    async def wait(self, *, on_event: Optional[OnEvent] = None, timeout: Optional[float] = None) -> Any:
        """Waits for its verdict."""
        return await self._wait(on_event, timeout)

    async def cancel(self) -> t.CommandAnswer:
        """Ends it, with the job that it waits for."""
        return cast(t.CommandAnswer, await self._command("cancel"))


class AsyncCheckup(AsyncJob):
    """A check of what a name serves, with the search for a better prompt."""

    _collection = requests.CHECKUPS

    async def get(self) -> t.CheckupState:
        return cast(t.CheckupState, await self._read())

    async def wait(self, *, on_event: Optional[OnEvent] = None, timeout: Optional[float] = None) -> t.CheckupState:
        """Waits for its verdict."""
        return cast(t.CheckupState, await self._wait(on_event, timeout))

    async def decide(self, approve: bool, reason: Optional[str] = None) -> t.CheckupState:
        """Approves or rejects the deployment of its winner."""
        body = {"approve": approve, "reason": reason}
        return cast(t.CheckupState, await self._command("approval", body))

    async def cancel(self) -> t.CommandAnswer:
        """Ends it, with the job that it waits for."""
        return cast(t.CommandAnswer, await self._command("cancel"))


class AsyncSchedule:
    """Checkups of a name again and again."""

    def __init__(self, http: AsyncHttp, schedule_id: str) -> None:
        self._http = http
        self.id = schedule_id

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.id!r})"

    async def get(self) -> t.ScheduleState:
        """With its latest runs."""
        return cast(t.ScheduleState, await self._http.json(requests.read(requests.SCHEDULES, self.id)))

    async def run(self) -> t.ScheduleRun:
        """Runs it now."""
        return cast(t.ScheduleRun, await self._http.json(requests.command(requests.SCHEDULES, self.id, "run")))

    async def update(self, **changes: Any) -> t.ScheduleState:
        """Changes it; `paused` lets its times pass without a run."""
        return cast(t.ScheduleState, await self._http.json(requests.patch(requests.SCHEDULES, self.id, changes)))

    async def delete(self) -> None:
        """Deletes it; the checkups of its runs stay."""
        await self._http.json(requests.delete(requests.SCHEDULES, self.id))


class AsyncDeployment(AsyncJob):
    """A prompt under a name, by the id of the deployment or the name."""

    _collection = requests.DEPLOYMENTS

    async def get(self) -> t.DeploymentState:
        return cast(t.DeploymentState, await self._read())

    async def wait(self, *, on_event: Optional[OnEvent] = None, timeout: Optional[float] = None) -> t.DeploymentState:
        """Waits until it is ready; raises JobFailed if its gate refuses."""
        return cast(t.DeploymentState, await self._wait(on_event, timeout))

    async def update(self, **changes: Any) -> Any:
        """Changes settings, such as `log`, and labels; None removes one."""
        return await self._http.json(requests.patch(self._collection, self.id, changes))

    async def stats(self) -> Any:
        return await self._read("stats")

    async def history(self, per: str = "hour", from_: Optional[str] = None, to: Optional[str] = None) -> Any:
        """The same by hour or minute; times as in 2026-03-04T10:00:00Z."""
        return await self._read("history", **{"per": per, "from": from_, "to": to})

    async def failures(self) -> Any:
        """The latest 50 failed requests, with their cause."""
        return await self._read("failures")

    async def feedback(self, **report: Unpack[t.FeedbackRequest]) -> t.ReportedFeedback:
        """Reports how good an answer was: `answer_id` is the completion's `id`."""
        return cast(t.ReportedFeedback, await self._command("feedback", report))

    def list_feedback(self) -> AsyncIterator[t.Feedback]:
        """What was reported of its answers, newest first."""
        return cast(
            AsyncIterator[t.Feedback], self._http.rows(requests.pages_below(self._collection, self.id, "feedback"))
        )

    def requests(self, **filters: Unpack[t.LoggedFilter]) -> AsyncIterator[t.LoggedRequest]:
        """Requests whose texts `log` keeps, newest first."""
        pages = requests.pages_below(self._collection, self.id, "requests", **{"limit": 100, **requests.named(filters)})
        return cast(AsyncIterator[t.LoggedRequest], self._http.rows(pages))

    async def dataset_of_requests(self, **wanted: Unpack[t.LoggedDatasetRequest]) -> t.LoggedDataset:
        """Makes a data set of requests; corrected answers are what is expected."""
        return cast(t.LoggedDataset, await self._command("requests/dataset", requests.named(wanted)))

    async def delete_request(self, answer_id: str) -> None:
        """Deletes the texts of an answer."""
        await self._http.json(requests.delete(self._collection, self.id, "requests", answer_id))

    async def migrate(self, to: Mapping[str, Any], **request: Any) -> AsyncMigration:
        """Moves what the name serves to another model, if it is no worse there."""
        created = await self._command("migrations", {"to": dict(to), **request})
        return AsyncMigration(self._http, created["job_id"])

    async def check_up(self, **request: Any) -> AsyncCheckup:
        """Checks what the name serves again, and improves it with `improve`."""
        return AsyncCheckup(self._http, (await self._command("checkups", request))["job_id"])

    async def improve(self, **request: Any) -> AsyncCheckup:
        """Searches a better prompt on recent requests, and rolls it out."""
        return AsyncCheckup(self._http, (await self._command("improve", request))["job_id"])

    async def schedule(self, **request: Any) -> AsyncSchedule:
        """Checks the name up `every` so often, or at the times of `cron`."""
        return AsyncSchedule(self._http, (await self._command("schedules", request))["schedule_id"])

    def schedules(self) -> AsyncIterator[t.ListedSchedule]:
        """The schedules of its name, newest first."""
        pages = requests.pages_below(self._collection, self.id, "schedules")
        return cast(AsyncIterator[t.ListedSchedule], self._http.rows(pages))

    async def rollback(self, reason: Optional[str] = None) -> Any:
        """Gives the name back to the deployment that had it before."""
        return await self._command("rollback", None if reason is None else {"reason": reason})

    async def rollout(self) -> Any:
        """How far its rollout has come; of a name that of the newest version."""
        return await self._read("rollout")

    async def decide_rollout(self, action: str, reason: Optional[str] = None) -> Any:
        """Decides its rollout, or that of its name: pause, resume, promote or roll_back."""
        return await self._command("rollout", {"action": action, "reason": reason})

    async def labels(self) -> List[t.DeploymentLabel]:
        """The labels of its name; the first is `production`."""
        return cast(List[t.DeploymentLabel], (await self._read("labels"))["labels"])

    async def set_label(
        self,
        label: str,
        version: Optional[int] = None,
        *,
        deployment_id: Optional[str] = None,
        reason: Optional[str] = None,
    ) -> Any:
        """Sets a label of its name to a version; `production` is what the name serves."""
        return await self._http.json(requests.label(self.id, label, version, deployment_id, reason))

    async def remove_label(self, label: str) -> None:
        await self._http.json(requests.remove_label(self.id, label))

    def changes(self) -> AsyncIterator[t.DeploymentChange]:
        """What its name and the labels served, newest first."""
        pages = requests.pages_below(self._collection, self.id, "changes")
        return cast(AsyncIterator[t.DeploymentChange], self._http.rows(pages))

    async def chat(self, messages: Sequence[t.Message], **options: Any) -> Any:
        """A chat completion, not streamed; for streams use a client of OpenAI."""
        return await self._http.json(requests.chat(self.id, messages, options))
