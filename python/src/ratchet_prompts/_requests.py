"""The requests of the API, for both clients."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from typing import Any, Mapping, Optional, Sequence

from ._rows import rows_of
from ._wire import Pager, Request, creating, path_of
from .errors import ConfigurationError
from .types import Message

SESSIONS = "/api/v1/online/sessions"
EVALUATIONS = "/api/v1/offline/jobs"
GRAPHS = "/api/graphgen/jobs"
DEPLOYMENTS = "/api/harbor/deployments"
MIGRATIONS = "/api/harbor/migrations"
CHECKUPS = "/api/harbor/checkups"
SCHEDULES = "/api/harbor/schedules"
DATASETS = "/api/v1/datasets"
RUNS = "/api/v1/runs"
TRY = "/api/v1/try"
REVIEWS = "/api/v1/reviews"

MODEL_TIMEOUT_S = 600.0
"""A model may think for longer than the service takes for anything else."""

_TRY_TIMEOUT_S = 90.0
"""Rows are answered within a minute."""

_INFERENCE = ("/chat/completions", "/responses", "/messages")
_ENVELOPE = ("name", "tags", "metadata", "notes", "webhook_url", "correlation_id")
_TYPES = {
    ".json": "application/json",
    ".jsonl": "application/jsonl",
    ".ndjson": "application/jsonl",
    ".csv": "text/csv",
    ".tsv": "text/csv",
}


def call(
    method: str,
    path: str,
    json: Any = None,
    query: Optional[Mapping[str, Any]] = None,
    idempotency_key: Optional[str] = None,
) -> Request:
    """A request of any route."""
    if not path.startswith("/"):
        raise ConfigurationError(f'path: "{path}" must begin with /')
    method = method.upper()
    request = Request(method, path, query or {}, json, repeatable=method != "POST")
    # Inference and new keys take no idempotency key, and a second copy of them is a second one.
    if method != "POST" or path.endswith(_INFERENCE) or path.startswith("/api/v1/admin/keys"):
        return request
    return creating(request, idempotency_key)


def create_session(request: Mapping[str, Any], key: Optional[str]) -> Request:
    body = {name: value for name, value in request.items() if name in _ENVELOPE}
    search = {name: value for name, value in request.items() if name not in _ENVELOPE}
    return call("POST", SESSIONS, {"policy_optimization": search, **body}, idempotency_key=key)


def create(collection: str, request: Mapping[str, Any], key: Optional[str]) -> Request:
    return call("POST", collection, dict(request), idempotency_key=key)


def try_rows(request: Mapping[str, Any], rows: int, key: Optional[str]) -> Request:
    asked = call("POST", TRY, {**request, "rows": rows}, idempotency_key=key)
    return replace(asked, read_timeout=_TRY_TIMEOUT_S)


def read(collection: str, job_id: str, *below: str, **query: Any) -> Request:
    known = {name: value for name, value in query.items() if value is not None}
    return Request("GET", path_of(collection, job_id, *below), known)


def download(collection: str, job_id: str, below: str, to: str | os.PathLike[str]) -> Request:
    return Request("GET", path_of(collection, job_id, below), save_to=os.fspath(to))


def command(collection: str, job_id: str, name: str, body: Any = None, key: Optional[str] = None) -> Request:
    return call("POST", path_of(collection, job_id, name), body, idempotency_key=key)


def patch(collection: str, job_id: str, body: Mapping[str, Any]) -> Request:
    return Request("PATCH", path_of(collection, job_id), json=dict(body))


def delete(collection: str, job_id: str, *below: str) -> Request:
    return Request("DELETE", path_of(collection, job_id, *below))


def label(
    name: str, label: str, version: Optional[int], deployment_id: Optional[str], reason: Optional[str]
) -> Request:
    given = {"version": version, "deployment_id": deployment_id, "reason": reason}
    body = {field: value for field, value in given.items() if value is not None}
    return Request("PUT", path_of(DEPLOYMENTS, name, "labels", label), json=body)


def remove_label(name: str, label: str) -> Request:
    return Request("DELETE", path_of(DEPLOYMENTS, name, "labels", label))


def reward(
    collection: str,
    job_id: str,
    value: Optional[float],
    feedback: Optional[str],
    correlation_id: Optional[str],
    rollout_id: Optional[str],
    stop: bool,
) -> Request:
    body: dict[str, Any] = {"correlation_id": correlation_id, "rollout_id": rollout_id, "stop": stop or None}
    if value is not None:
        details = {} if feedback is None else {"details": {"feedback": feedback}}
        body["reward_info"] = {"outcome_reward": value, **details}
    given = {name: field for name, field in body.items() if field is not None}
    return command(collection, job_id, "reward", given)


def pages(collection: str, query: Mapping[str, Any]) -> Pager:
    field = "deployments" if collection == DEPLOYMENTS else "data"
    as_json = {
        name: json.dumps(value) if name == "metadata" and value is not None else value for name, value in query.items()
    }
    return Pager(collection, as_json, field)


def pages_below(collection: str, job_id: str, *below: str, **query: Any) -> Pager:
    return Pager(path_of(collection, job_id, *below), {"limit": 1000, **query})


def row_filter(filters: Mapping[str, Any]) -> dict[str, Any]:
    """A filter of rows as a query."""
    return {name: str(value).lower() if isinstance(value, bool) else value for name, value in filters.items()}


def row_pages(collection: str, job_id: str, filters: Mapping[str, Any]) -> Pager:
    return Pager(path_of(collection, job_id, "rows"), {"limit": 500, **row_filter(filters)})


def row_dataset(collection: str, job_id: str, rows: str, filters: Mapping[str, Any]) -> Request:
    return call("POST", path_of(collection, job_id, rows, "dataset"), dict(filters))


def review(
    method: str,
    job_id: str,
    subject_id: str,
    json: Any = None,
    by: Optional[str] = None,
) -> Request:
    query = {} if by is None else {"by": by}
    return call(method, path_of(REVIEWS, job_id, subject_id), json, query)


def result_pages(job_id: str, filters: Mapping[str, Any]) -> Pager:
    query = {"include": "outputs", "limit": 500, **row_filter(filters)}
    return Pager(path_of(EVALUATIONS, job_id, "results"), query, "results")


def named(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Fields by their names in the API: `from_` is `from`."""
    return {name.rstrip("_"): value for name, value in fields.items()}


def upload(data: Any, name: Optional[str] = None) -> Request:
    """A data set of a path, a list of dicts or a DataFrame. The same rows are the same data set."""
    if name is None and isinstance(data, (str, os.PathLike)):
        name = "".join(char for char in os.path.basename(os.fspath(data)) if char.isprintable()).strip()[:100]
    query = {"name": name} if name else {}
    if isinstance(data, (str, os.PathLike)):
        path = os.fspath(data)
        kind = _TYPES.get(os.path.splitext(path)[1].lower())
        if kind is None:
            raise ConfigurationError(f"data: {path} must end in {', '.join(_TYPES)}")
        if not os.path.isfile(path):
            raise ConfigurationError(f"data: there is no file {path}")
        return Request("POST", DATASETS, query, file=path, headers={"content-type": kind})
    return Request("POST", DATASETS, query, json=rows_of(data))


def chat(deployment: str, messages: Sequence[Message], options: Mapping[str, Any]) -> Request:
    path = path_of(DEPLOYMENTS, deployment, "v1", "chat", "completions")
    request = call("POST", path, {**options, "messages": list(messages)})
    return replace(request, read_timeout=MODEL_TIMEOUT_S)


def compare(a: str, b: str) -> Request:
    return Request("GET", "/api/v1/compare", {"a": a, "b": b})


def compare_many(ids: Sequence[str], baseline: Optional[str]) -> Request:
    return Request("GET", "/api/v1/compare/many", _columns(ids, baseline))


def compared_rows(ids: Sequence[str], baseline: Optional[str], filters: Mapping[str, Any]) -> Request:
    return Request("GET", "/api/v1/compare/many/rows", {**filters, **_columns(ids, baseline)})


def _columns(ids: Sequence[str], baseline: Optional[str]) -> dict[str, Any]:
    return {"ids": ",".join(ids), **({} if baseline is None else {"baseline": baseline})}


def health() -> Request:
    return Request("GET", "/api/v1/health")


def retirements(within_days: Optional[int], all: bool) -> Request:
    query = {} if within_days is None else {"within_days": within_days}
    return Request("GET", "/api/v1/models/retirements", {**query, "all": "true" if all else "false"})
