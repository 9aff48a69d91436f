"""Handles of jobs, blocking."""

from __future__ import annotations

import inspect
import os
from typing import TYPE_CHECKING, Any, Callable, Iterator, List, Mapping, Optional, Sequence, Union, cast

from . import _requests as requests
from . import types as t
from ._events import EventCursor
from ._http import SyncHttp
from ._wire import Deadline, exchange
from .errors import ConfigurationError, JobFailed, RatchetError

if TYPE_CHECKING:
    from typing_extensions import Unpack

OnEvent = Callable[[t.Event], None]
Path = Union[str, "os.PathLike[str]"]


class Job:
    """A job by its id."""

    _collection: str

    def __init__(self, http: SyncHttp, job_id: str) -> None:
        self._http = http
        self.id = job_id

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.id!r})"

    def _read(self, *below: str, **query: Any) -> Any:
        return self._http.json(requests.read(self._collection, self.id, *below, **query))

    def _command(self, name: str, body: Any = None) -> Any:
        return self._http.json(requests.command(self._collection, self.id, name, body))

    def events(self, after: int = 0, *, timeout: Optional[float] = None) -> Iterator[t.Event]:
        """The events from `after` to the end of the job, in order and each once."""
        return self._events(after, Deadline(self.id, timeout))

    def _events(self, after: int, deadline: Deadline) -> Iterator[t.Event]:
        path = requests.read(self._collection, self.id, "events").path
        return self._http.events(EventCursor(path, self._http.url, after, deadline))

    def _wait(self, on_event: Optional[OnEvent], timeout: Optional[float]) -> Any:
        if inspect.iscoroutinefunction(on_event):
            raise ConfigurationError("on_event: must be no async function; AsyncClient takes one")
        deadline = Deadline(self.id, timeout)
        try:
            for event in self._events(0, deadline):
                if on_event is not None:
                    on_event(event)
        except RatchetError as error:
            # The events of a job that ended long ago may have been deleted.
            if error.code != "expired":
                raise
        state = self._http.json(requests.read(self._collection, self.id), deadline)
        if state["status"] == "failed":
            raise JobFailed(self.id, state)
        return state

    def delete(self) -> None:
        """Deletes it; a job must have ended."""
        self._http.json(requests.delete(self._collection, self.id))


class RunningJob(Job):
    """A job with rollouts."""

    _rows = "rows"

    def pause(self) -> t.CommandAnswer:
        return cast(t.CommandAnswer, self._command("pause"))

    def resume(self) -> t.CommandAnswer:
        return cast(t.CommandAnswer, self._command("resume"))

    def cancel(self) -> t.CommandAnswer:
        return cast(t.CommandAnswer, self._command("cancel"))

    def reward(
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
        return cast(t.RewardAnswer, self._http.json(request))

    def update(self, **labels: Any) -> Any:
        """Replaces name, tags, metadata, notes or `archived`; None removes one."""
        return self._http.json(requests.patch(self._collection, self.id, labels))

    def download_traces(self, to: Path) -> None:
        """Saves all traces as a ZIP."""
        request = requests.download(self._collection, self.id, "traces", to)
        self._http.run(exchange(request, self._http.url, self._http.retries))

    def save_report(self, to: Path) -> None:
        """Saves what it found as one HTML file."""
        request = requests.download(self._collection, self.id, "report", to)
        self._http.run(exchange(request, self._http.url, self._http.retries))

    def trace(self, trace_id: str) -> Any:
        return self._read("traces", trace_id)

    def request(self, candidate_id: Optional[str] = None) -> t.JobRequest:
        """The request, to send again; with a candidate of a search, that of a branch."""
        return cast(t.JobRequest, self._read("request", candidate_id=candidate_id))

    def rows_summary(self, **filters: Any) -> t.RowsSummary:
        """Counts of its rows by group, by label and by feedback."""
        return cast(t.RowsSummary, self._read(self._rows, "summary", **requests.row_filter(filters)))

    def rows_dataset(self, **filters: Any) -> t.RowsDataset:
        """A data set of the rows that pass a filter; `corrected=True`: with the corrected answers of reviews."""
        request = requests.row_dataset(self._collection, self.id, self._rows, filters)
        return cast(t.RowsDataset, self._http.json(request))


class Session(RunningJob):
    """A search for a better prompt."""

    _collection = requests.SESSIONS

    def __init__(self, http: SyncHttp, job_id: str, created: Optional[Mapping[str, Any]] = None) -> None:
        super().__init__(http, job_id)
        self.created = created
        """The answer to the create: estimate, split, warnings; None for a session that was looked up."""

    def get(self) -> t.SessionState:
        return cast(t.SessionState, self._read())

    def results(self) -> t.SessionResults:
        """The best prompt, the history and the verdict, also while it runs."""
        return cast(t.SessionResults, self._read("results"))

    def prompt(self, correlation_id: Optional[str] = None) -> t.SessionPrompt:
        """The served prompt and the URLs of the proxy."""
        return cast(t.SessionPrompt, self._read("prompt", correlation_id=correlation_id))

    def wait(self, *, on_event: Optional[OnEvent] = None, timeout: Optional[float] = None) -> t.SessionState:
        """Waits for the end; raises JobFailed, or WaitTimeout after `timeout` seconds."""
        return cast(t.SessionState, self._wait(on_event, timeout))

    def extend(self, **limits: Any) -> t.CommandAnswer:
        """Lets an ended session go on with larger limits."""
        return cast(t.CommandAnswer, self._command("extend", limits))

    def hint(self, text: Optional[str]) -> t.CommandAnswer:
        """Gives the proposer a hint; None removes it."""
        return cast(t.CommandAnswer, self._command("hint", {"hint": text}))

    def rows(self, **filters: Any) -> Iterator[t.JobRow]:
        """The rows with the answers of the baseline and of the winner, such as `group="failing"`."""
        return self._http.rows(requests.row_pages(self._collection, self.id, filters))

    def candidates(self) -> Iterator[t.Candidate]:
        return self._http.rows(requests.pages_below(self._collection, self.id, "candidates"))

    def candidate(self, candidate_id: str) -> Any:
        """A candidate with its messages and its origin."""
        return self._read("candidates", candidate_id)

    def changes(self, candidate_id: str, against: str = "baseline") -> Any:
        """The edits that make a candidate's prompt of an earlier one, with evidence."""
        return self._read("candidates", candidate_id, "changes", against=against)

    def seed_evals(self, candidate_id: str) -> Iterator[t.SeedEval]:
        """The rollouts of a candidate."""
        path = ("candidates", candidate_id, "seed-evals")
        return self._http.rows(requests.pages_below(self._collection, self.id, *path))


class Evaluation(RunningJob):
    """Scores of a prompt or a container on many seeds."""

    _collection = requests.EVALUATIONS
    _rows = "results"

    def get(self) -> t.EvaluationState:
        return cast(t.EvaluationState, self._read())

    def results(self) -> t.EvaluationResults:
        """The result of each seed, also while it runs."""
        return cast(t.EvaluationResults, self._read("results"))

    def rows(self, **filters: Any) -> Iterator[t.SeedResult]:
        """The results with their texts, such as those of `group="failing"`."""
        return self._http.rows(requests.result_pages(self.id, filters))

    def wait(self, *, on_event: Optional[OnEvent] = None, timeout: Optional[float] = None) -> t.EvaluationState:
        return cast(t.EvaluationState, self._wait(on_event, timeout))


class GraphJob(RunningJob):
    """A search for a better graph of model calls."""

    _collection = requests.GRAPHS

    def start(self) -> Any:
        return self._command("start")

    def get(self) -> t.GraphState:
        return cast(t.GraphState, self._read())

    def rows(self, **filters: Any) -> Iterator[t.JobRow]:
        """The tasks with the outputs of the baseline and of the winner, such as `group="failing"`."""
        return self._http.rows(requests.row_pages(self._collection, self.id, filters))

    def graph_text(self) -> str:
        """The best graph so far as text."""
        request = requests.read(self._collection, self.id, "graph.txt")
        return self._http.run(exchange(request, self._http.url, self._http.retries)).body.decode()

    def download(self, to: Path) -> None:
        """Saves the winner as a ZIP with a program that runs it."""
        request = requests.download(self._collection, self.id, "download", to)
        self._http.run(exchange(request, self._http.url, self._http.retries))

    def wait(self, *, on_event: Optional[OnEvent] = None, timeout: Optional[float] = None) -> t.GraphState:
        return cast(t.GraphState, self._wait(on_event, timeout))


class Migration(Job):
    """A move of a deployment to another model."""

    _collection = requests.MIGRATIONS

    def get(self) -> Any:
        return self._read()

    def wait(self, *, on_event: Optional[OnEvent] = None, timeout: Optional[float] = None) -> Any:
        """Waits for its verdict."""
        return self._wait(on_event, timeout)

    def cancel(self) -> t.CommandAnswer:
        """Ends it, with the job that it waits for."""
        return cast(t.CommandAnswer, self._command("cancel"))


class Checkup(Job):
    """A check of what a name serves, with the search for a better prompt."""

    _collection = requests.CHECKUPS

    def get(self) -> t.CheckupState:
        return cast(t.CheckupState, self._read())

    def wait(self, *, on_event: Optional[OnEvent] = None, timeout: Optional[float] = None) -> t.CheckupState:
        """Waits for its verdict."""
        return cast(t.CheckupState, self._wait(on_event, timeout))

    def decide(self, approve: bool, reason: Optional[str] = None) -> t.CheckupState:
        """Approves or rejects the deployment of its winner."""
        body = {"approve": approve, "reason": reason}
        return cast(t.CheckupState, self._command("approval", body))

    def cancel(self) -> t.CommandAnswer:
        """Ends it, with the job that it waits for."""
        return cast(t.CommandAnswer, self._command("cancel"))


class Schedule:
    """Checkups of a name again and again."""

    def __init__(self, http: SyncHttp, schedule_id: str) -> None:
        self._http = http
        self.id = schedule_id

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.id!r})"

    def get(self) -> t.ScheduleState:
        """With its latest runs."""
        return cast(t.ScheduleState, self._http.json(requests.read(requests.SCHEDULES, self.id)))

    def run(self) -> t.ScheduleRun:
        """Runs it now."""
        return cast(t.ScheduleRun, self._http.json(requests.command(requests.SCHEDULES, self.id, "run")))

    def update(self, **changes: Any) -> t.ScheduleState:
        """Changes it; `paused` lets its times pass without a run."""
        return cast(t.ScheduleState, self._http.json(requests.patch(requests.SCHEDULES, self.id, changes)))

    def delete(self) -> None:
        """Deletes it; the checkups of its runs stay."""
        self._http.json(requests.delete(requests.SCHEDULES, self.id))


class Deployment(Job):
    """A prompt under a name, by the id of the deployment or the name."""

    _collection = requests.DEPLOYMENTS

    def get(self) -> t.DeploymentState:
        return cast(t.DeploymentState, self._read())

    def wait(self, *, on_event: Optional[OnEvent] = None, timeout: Optional[float] = None) -> t.DeploymentState:
        """Waits until it is ready; raises JobFailed if its gate refuses."""
        return cast(t.DeploymentState, self._wait(on_event, timeout))

    def update(self, **changes: Any) -> Any:
        """Changes settings, such as `log`, and labels; None removes one."""
        return self._http.json(requests.patch(self._collection, self.id, changes))

    def stats(self) -> Any:
        return self._read("stats")

    def history(self, per: str = "hour", from_: Optional[str] = None, to: Optional[str] = None) -> Any:
        """The same by hour or minute; times as in 2026-03-04T10:00:00Z."""
        return self._read("history", **{"per": per, "from": from_, "to": to})

    def failures(self) -> Any:
        """The latest 50 failed requests, with their cause."""
        return self._read("failures")

    def feedback(self, **report: Unpack[t.FeedbackRequest]) -> t.ReportedFeedback:
        """Reports how good an answer was: `answer_id` is the completion's `id`."""
        return cast(t.ReportedFeedback, self._command("feedback", report))

    def list_feedback(self) -> Iterator[t.Feedback]:
        """What was reported of its answers, newest first."""
        return cast(Iterator[t.Feedback], self._http.rows(requests.pages_below(self._collection, self.id, "feedback")))

    def requests(self, **filters: Unpack[t.LoggedFilter]) -> Iterator[t.LoggedRequest]:
        """Requests whose texts `log` keeps, newest first."""
        pages = requests.pages_below(self._collection, self.id, "requests", **{"limit": 100, **requests.named(filters)})
        return cast(Iterator[t.LoggedRequest], self._http.rows(pages))

    def dataset_of_requests(self, **wanted: Unpack[t.LoggedDatasetRequest]) -> t.LoggedDataset:
        """Makes a data set of requests; corrected answers are what is expected."""
        return cast(t.LoggedDataset, self._command("requests/dataset", requests.named(wanted)))

    def delete_request(self, answer_id: str) -> None:
        """Deletes the texts of an answer."""
        self._http.json(requests.delete(self._collection, self.id, "requests", answer_id))

    def migrate(self, to: Mapping[str, Any], **request: Any) -> Migration:
        """Moves what the name serves to another model, if it is no worse there."""
        return Migration(self._http, self._command("migrations", {"to": dict(to), **request})["job_id"])

    def check_up(self, **request: Any) -> Checkup:
        """Checks what the name serves again, and improves it with `improve`."""
        return Checkup(self._http, self._command("checkups", request)["job_id"])

    def improve(self, **request: Any) -> Checkup:
        """Searches a better prompt on recent requests, and rolls it out."""
        return Checkup(self._http, self._command("improve", request)["job_id"])

    def schedule(self, **request: Any) -> Schedule:
        """Checks the name up `every` so often, or at the times of `cron`."""
        return Schedule(self._http, self._command("schedules", request)["schedule_id"])

    def schedules(self) -> Iterator[t.ListedSchedule]:
        """The schedules of its name, newest first."""
        pages = requests.pages_below(self._collection, self.id, "schedules")
        return cast(Iterator[t.ListedSchedule], self._http.rows(pages))

    def rollback(self, reason: Optional[str] = None) -> Any:
        """Gives the name back to the deployment that had it before."""
        return self._command("rollback", None if reason is None else {"reason": reason})

    def rollout(self) -> Any:
        """How far its rollout has come; of a name that of the newest version."""
        return self._read("rollout")

    def decide_rollout(self, action: str, reason: Optional[str] = None) -> Any:
        """Decides its rollout, or that of its name: pause, resume, promote or roll_back."""
        return self._command("rollout", {"action": action, "reason": reason})

    def labels(self) -> List[t.DeploymentLabel]:
        """The labels of its name; the first is `production`."""
        return cast(List[t.DeploymentLabel], (self._read("labels"))["labels"])

    def set_label(
        self,
        label: str,
        version: Optional[int] = None,
        *,
        deployment_id: Optional[str] = None,
        reason: Optional[str] = None,
    ) -> Any:
        """Sets a label of its name to a version; `production` is what the name serves."""
        return self._http.json(requests.label(self.id, label, version, deployment_id, reason))

    def remove_label(self, label: str) -> None:
        self._http.json(requests.remove_label(self.id, label))

    def changes(self) -> Iterator[t.DeploymentChange]:
        """What its name and the labels served, newest first."""
        pages = requests.pages_below(self._collection, self.id, "changes")
        return cast(Iterator[t.DeploymentChange], self._http.rows(pages))

    def chat(self, messages: Sequence[t.Message], **options: Any) -> Any:
        """A chat completion, not streamed; for streams use a client of OpenAI."""
        return self._http.json(requests.chat(self.id, messages, options))
