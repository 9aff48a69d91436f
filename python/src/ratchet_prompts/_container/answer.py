"""Answers of a container."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Dict, Mapping, Optional

from .request import Rollout


@dataclass(frozen=True)
class Answer:
    status: int
    body: bytes
    retry_after: Optional[str] = None

    @property
    def headers(self) -> Dict[str, str]:
        headers = {"content-type": "application/json", "content-length": str(len(self.body))}
        return headers if self.retry_after is None else {**headers, "retry-after": self.retry_after}


def json_answer(status: int, body: Mapping[str, Any]) -> Answer:
    return Answer(status, json.dumps(body, ensure_ascii=False, default=str).encode("utf-8", "replace"))


def problem(status: int, detail: str, retry_after: Optional[str] = None) -> Answer:
    return Answer(status, json_answer(status, {"detail": detail, "error": {"message": detail}}).body, retry_after)


def failed(rollout: Rollout, status: str, reason: str) -> Answer:
    """A rollout that failed for good, with the reason."""
    return outcome(rollout, status, 0, {"feedback": reason}, status_detail=reason)


def outcome(rollout: Rollout, status: str, reward: float, details: Mapping[str, Any], **more: str) -> Answer:
    return json_answer(
        200,
        {
            "trace_correlation_id": rollout.correlation_id,
            "rollout_id": rollout.rollout_id,
            "reward_info": {"outcome_reward": reward, "details": details},
            "success_status": status,
            "inference_url": rollout.inference_url,
            **more,
        },
    )
