"""Errors of the package; all are a RatchetError."""

from __future__ import annotations

from typing import Any, Mapping, Optional, Sequence

from .types import FieldError


class RatchetError(Exception):
    """What went wrong at the service; `status` is None without an answer of it.

    `errors` names the invalid fields by JSON pointers, and `retry_after` is in seconds.
    """

    def __init__(
        self,
        message: str,
        *,
        status: Optional[int] = None,
        code: Optional[str] = None,
        errors: Sequence[FieldError] = (),
        request_id: Optional[str] = None,
        retry_after: Optional[float] = None,
    ) -> None:
        lines = "".join(f"\n  {error['pointer']} {error['message']}" for error in errors)
        super().__init__(message + lines)
        self.message = message
        self.status = status
        self.code = code
        self.errors = list(errors)
        self.request_id = request_id
        self.retry_after = retry_after


class ServiceUnreachable(RatchetError):
    """The service does not answer, or its answer broke off in every try."""


class JobFailed(RatchetError):
    """The job that was waited for has failed; `job` is its state."""

    def __init__(self, job_id: str, job: Mapping[str, Any]) -> None:
        details = job.get("error_details") or {}
        super().__init__(f"{job_id} failed: {job.get('error')}", code=details.get("code"))
        self.job_id = job_id
        self.job = dict(job)


class WaitTimeout(RatchetError, TimeoutError):
    """The job has not ended in time. It goes on."""


class ConfigurationError(RatchetError, ValueError):
    """A wrong argument or setting, found before anything was sent."""
