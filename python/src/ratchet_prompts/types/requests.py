"""Types of requests."""

from __future__ import annotations

from typing import Any, Mapping, Optional, Sequence, TypedDict, Union

from .common import Metadata, Prompt, Seeds


class Labels(TypedDict, total=False):
    name: str
    tags: Sequence[str]
    metadata: Metadata
    notes: str
    webhook_url: str


class RunRequest(Labels, total=False):
    """Fields that sessions and evaluations share."""

    container_url: str
    container_api_key: str
    dataset: Mapping[str, Any]
    scorer: Union[str, Mapping[str, Any]]
    policy: Mapping[str, Any]
    env_name: str
    env_config: Mapping[str, Any]
    max_concurrent: int
    rollout_timeout: float
    max_failure_rate: float
    preflight: bool
    answer_cache: Union[bool, str]
    budget: Mapping[str, Any]


class SessionRequest(RunRequest, total=False):
    """A session: the fields of `policy_optimization`, and its labels."""

    algorithm: str
    proposer: Mapping[str, Any]
    gepa: Mapping[str, Any]
    mipro: Mapping[str, Any]
    initial_prompt: Prompt
    rollouts: str
    heldout_rows: int
    max_prompt_tokens: int
    rng_seed: int
    patience: int
    target_reward: float
    correlation_id: str


class EvaluationRequest(RunRequest, total=False):
    app_id: str
    seeds: Seeds
    candidate: Mapping[str, Any]
    timeout: float


class GraphRun(TypedDict, total=False):
    dataset: Mapping[str, Any]
    policy_model: str
    policy_models: Sequence[str]
    policy_provider: str
    initial_graph: Mapping[str, Any]
    budget: Mapping[str, Any]
    max_concurrent: int
    rollout_timeout: float
    answer_cache: Union[bool, str]


class GraphRequest(GraphRun, Labels, total=False):
    proposer: Mapping[str, Any]
    rollout_budget: int
    proposer_effort: str
    auto_start: bool
    rng_seed: int
    max_failure_rate: float
    preflight: bool


class GraphTryRequest(GraphRun, total=False):
    timeout: float


class DeploymentRequest(TypedDict, total=False):
    name: str
    source: Mapping[str, Any]
    gate: Mapping[str, Any]
    rollout: Mapping[str, Any]
    log: Optional[Mapping[str, Any]]
    fallbacks: Optional[Mapping[str, Any]]
    limits: Optional[Mapping[str, Any]]
    judge: Optional[Mapping[str, Any]]
    tags: Sequence[str]
    metadata: Metadata
    notes: str
    reason: str
    webhook_url: str


class FeedbackRequest(TypedDict, total=False):
    """Of `answer_id` or `correlation_id`, with at least one of the last five fields."""

    answer_id: str
    correlation_id: str
    key: str
    reward: Union[float, bool]
    metrics: Mapping[str, Union[float, bool]]
    comment: str
    corrected: str


class LoggedFilter(TypedDict, total=False):
    """Which requests of a deployment; times as in 2026-03-04T10:00:00Z."""

    from_: str
    to: str
    outcome: str
    code: str
    correlation_id: str
    feedback: str
    min_reward: float
    max_reward: float
    q: str


class LoggedDatasetRequest(LoggedFilter, total=False):
    limit: int
    expected: str
