"""Types of answers."""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Optional, TypedDict, Union

from .common import Message


class Interval(TypedDict):
    low: float
    high: float


class Usage(TypedDict):
    prompt_tokens: Optional[int]
    completion_tokens: Optional[int]
    total_tokens: Optional[int]
    total_cost_usd: Optional[float]
    calls: int
    cached_calls: int


class Event(TypedDict):
    type: str
    seq: int
    ts: str
    job_id: str
    message: str
    data: Dict[str, Any]


class Candidate(TypedDict):
    candidate_id: str
    parent_ids: List[str]
    generation: int
    status: str
    reward: Optional[float]
    reward_interval: Optional[Interval]
    is_baseline: bool


class Progress(TypedDict):
    generation: int
    total_generations: int
    best_reward: Optional[float]
    rollouts_completed: int
    max_rollouts: Optional[int]


class Split(TypedDict):
    train: List[int]
    evaluation: List[int]
    heldout: List[int]


class LastCommand(TypedDict):
    """The last pause, resume or cancel of a job. ``by`` None: an operator, in Temporal."""

    command: Literal["pause", "resume", "cancel"]
    by: Optional[Key]
    at: str


class JobState(TypedDict):
    """The state of any job."""

    job_id: str
    status: str
    last_command: Optional[LastCommand]
    name: Optional[str]
    tags: List[str]
    created_by: Optional[Key]
    created_at: str
    error: Optional[str]
    error_details: Optional[Dict[str, Any]]
    stopped_by: Optional[str]
    warnings: List[str]


class SessionState(JobState):
    session_id: str
    algorithm: str
    progress: Progress
    best_reward: Optional[float]
    best_reward_interval: Optional[Interval]
    best_candidate: Optional[Candidate]
    estimated_reward: Optional[float]
    estimated_reward_interval: Optional[Interval]
    candidates: List[Candidate]
    usage: Usage


class BestPrompt(TypedDict):
    messages: List[Message]
    reward: Optional[float]


class RemovedText(TypedDict):
    kind: str
    text: str


class RemovedPart(RemovedText, total=False):
    component: str
    seed: Optional[int]


class ShorterPrompt(TypedDict):
    candidate_id: str
    removed: List[RemovedPart]
    tested_rows: int
    reward: Optional[float]


class HistoryEntry(TypedDict):
    generation: int
    best_reward: float


class BaselineComparison(TypedDict):
    basis: str
    seeds: int
    baseline_reward: float
    winner_reward: float
    baseline_interval: Interval
    winner_interval: Interval
    difference: float
    interval: Interval
    rows_needed: Optional[int]


class DiagnosedRow(TypedDict):
    row: int
    trace_id: str
    expected: Optional[str]
    answered: Optional[str]
    cause: str
    because: str


class DiagnosisAction(TypedDict):
    kind: str
    label: str
    limit: Optional[str]
    to: Optional[float]
    cost_usd: Optional[float]
    prompt_addition: Optional[str]


class Diagnosis(TypedDict):
    """What happened in a run, and what to do now."""

    code: str
    sentence: str
    facts: List[str]
    rows: List[DiagnosedRow]
    action: Optional[DiagnosisAction]


class RefusedProposals(TypedDict):
    cause: str
    count: int
    example: str


class ProposalCounts(TypedDict):
    written: int
    accepted: int
    rejected: int
    refused: List[RefusedProposals]


class SessionResults(TypedDict):
    session_id: str
    status: str
    best_reward: Optional[float]
    best_reward_interval: Optional[Interval]
    best_candidate: Optional[Candidate]
    best_prompt: Optional[BestPrompt]
    shorter_prompt: Optional[ShorterPrompt]
    history: List[HistoryEntry]
    stopped_by: Optional[str]
    nothing_left: Optional[str]
    error: Optional[str]
    diagnosis: Optional[Diagnosis]
    proposals: ProposalCounts
    verdict: Optional[str]
    comparison: Optional[BaselineComparison]
    usage: Usage


class SessionPrompt(TypedDict):
    session_id: str
    proxy_url: str
    chat_completions_url: str
    correlation_url_template: str
    candidate_id: Optional[str]
    messages: List[Message]


class EvaluationSummary(TypedDict):
    mean_reward: Optional[float]
    mean_reward_interval: Optional[Interval]
    total_tokens: Optional[int]
    total_cost_usd: Optional[float]
    num_seeds: int
    num_successful: int
    num_failed: int


class EvaluationState(JobState):
    progress: Dict[str, int]
    summary: EvaluationSummary
    diagnosis: Optional[Diagnosis]
    usage: Usage
    budget: Dict[str, Optional[float]]


class SeedResult(TypedDict):
    seed: int
    status: str
    reward: Optional[float]
    cost_usd: Optional[float]
    trace_id: str
    error: Optional[str]


class EvaluationResults(TypedDict):
    job_id: str
    status: str
    summary: EvaluationSummary
    results: List[SeedResult]


class SeedEval(TypedDict):
    """A rollout of a candidate."""

    rollout_id: str
    seed: int
    stage: str
    generation: int
    reward: Optional[float]
    status: str
    feedback: Optional[str]
    error: Optional[str]


class GraphState(JobState):
    graph_gen_job_id: str
    best_reward: Optional[float]
    diagnosis: Optional[Diagnosis]
    proposals: ProposalCounts
    verdict: Optional[str]
    comparison: Optional[BaselineComparison]


class Key(TypedDict):
    key_id: str
    key_name: str


class DeploymentLabel(TypedDict):
    label: str
    version: int
    deployment_id: str
    snapshot_id: str


class DeploymentChange(TypedDict):
    id: str
    at: str
    label: str
    action: str
    from_version: Optional[int]
    to_version: Optional[int]
    by: Optional[Key]
    reason: Optional[str]


class Retires(TypedDict):
    provider: str
    model: str
    shutdown_date: str
    replacement: Optional[str]


class ModelRetirement(Retires):
    kind: str
    id: str
    name: Optional[str]
    live: bool
    role: str
    days_left: int
    source: str
    as_of: str


class Retirements(TypedDict):
    retirements: List[ModelRetirement]
    unknown_providers: List[Dict[str, str]]
    complete: bool


class CallWindow(TypedDict):
    calls: int
    errors: Dict[str, int]
    throttled: int
    p50_ms: Optional[float]
    p95_ms: Optional[float]
    error_rate: Optional[float]


class CalledHealth(TypedDict):
    state: str
    since: Optional[str]
    because: Optional[str]
    last_minute: CallWindow
    last_15_minutes: CallWindow
    last_hour: CallWindow
    minutes: List[Dict[str, Any]]


class ProviderHealth(CalledHealth):
    provider: str
    model: str
    job_ids: List[str]
    deployments: List[str]


class DeploymentHealth(CalledHealth):
    deployment_id: str
    name: str
    version: int
    previous_id: Optional[str]
    models: List[Dict[str, str]]


class OpenJobHealth(TypedDict):
    job_id: str
    kind: str
    name: Optional[str]
    status: str
    created_by: Optional[Key]
    models: List[Dict[str, str]]
    concurrency: Dict[str, Any]
    rollouts_completed: int
    max_rollouts: Optional[int]
    rollouts_per_minute: Optional[float]
    last_result_at: Optional[str]
    ends_at: Optional[str]
    usd_per_hour: Optional[float]
    total_cost_usd: Optional[float]
    stalled: bool
    stalled_because: Optional[str]
    stuck: Optional[Dict[str, Any]]


class Health(TypedDict):
    at: str
    state: str
    providers: List[ProviderHealth]
    jobs: List[OpenJobHealth]
    deployments: List[DeploymentHealth]
    service: Dict[str, Any]
    spend: Dict[str, Any]


class DeploymentState(TypedDict):
    id: str
    name: str
    version: int
    labels: List[str]
    created_by: Optional[Key]
    reason: Optional[str]
    status: str
    live: bool
    snapshot_id: Optional[str]
    retires: Optional[Retires]
    gate: Optional[Dict[str, Any]]
    log: Optional[Dict[str, Any]]
    fallbacks: Optional[Dict[str, Any]]
    limits: Optional[Dict[str, Any]]
    judge: Optional[Dict[str, Any]]
    chat_completions_url: str
    name_chat_completions_url: str
    error: Optional[str]


class CheckedPart(TypedDict):
    job_id: str
    dataset_id: str
    scorer: str
    verdict: str
    reward: float
    interval: Interval
    rows: int
    baseline: Optional[Dict[str, Any]]
    difference: Optional[float]
    difference_interval: Optional[Interval]
    p_value: Optional[float]
    rows_worse: int


class CheckupState(TypedDict, total=False):
    """The state of a checkup; lists leave out what is of one of its parts."""

    job_id: str
    name: str
    status: str
    deployment: str
    verdict: Optional[str]
    checkup_number: Optional[int]
    improvement_verdict: Optional[str]
    approval: Optional[str]
    deployment_id: Optional[str]
    not_deployed: Optional[str]
    rows: Optional[CheckedPart]
    traffic: Optional[CheckedPart]
    improvement: Optional[Dict[str, Any]]
    worse: List[Dict[str, Any]]
    steps: List[Dict[str, Any]]
    total_cost_usd: Optional[float]
    error: Optional[str]


class ScheduleRun(TypedDict):
    run_id: str
    scheduled_at: str
    manual: bool
    outcome: Optional[str]
    job_id: Optional[str]
    code: Optional[str]
    detail: Optional[str]


class ListedSchedule(TypedDict):
    schedule_id: str
    name: str
    cron: Optional[str]
    every: Optional[str]
    timezone: Optional[str]
    max_cost_usd_per_month: Optional[float]
    spent_this_month_usd: float
    paused: bool
    paused_in_temporal: bool
    next_run_at: Optional[str]


class ScheduleState(ListedSchedule):
    checkup: Dict[str, Any]
    last_runs: List[ScheduleRun]


class CommandAnswer(TypedDict, total=False):
    job_id: str
    status: str
    command_id: str
    pending_command: str


class RewardAnswer(TypedDict):
    status: str
    reward: Optional[float]
    counted: bool
    warning: Optional[str]


class Feedback(TypedDict):
    id: str
    deployment_id: str
    answer_id: Optional[str]
    correlation_id: Optional[str]
    key: str
    answers: int
    reward: Union[float, bool, None]
    metrics: Dict[str, Union[float, bool]]
    comment: Optional[str]
    corrected: Optional[str]
    created_at: str


class ReportedFeedback(Feedback):
    duplicate: bool
    warning: Optional[str]


class ColumnLabel(TypedDict):
    label: str
    count: int


class Column(TypedDict):
    name: str
    num_values: int
    num_distinct: Optional[int]
    mean_chars: int
    labels: List[ColumnLabel]


class Dataset(TypedDict):
    dataset_id: str
    name: Optional[str]
    num_rows: int
    columns: List[Column]
    jobs: int


class RowsDataset(Dataset):
    corrected: int
    left_out: int


class LoggedDataset(Dataset):
    left_out: int


class LoggedRequest(TypedDict):
    answer_id: str
    deployment_id: str
    at: str
    outcome: str
    code: Optional[str]
    provider: str
    model: str
    latency_ms: float
    prompt_tokens: Optional[int]
    completion_tokens: Optional[int]
    cost_usd: Optional[float]
    correlation_id: Optional[str]
    reward: Union[float, bool, None]
    corrected: Optional[str]
    reports: int
    request: Optional[Dict[str, Any]]
    answer: Optional[Dict[str, Any]]


class Run(TypedDict):
    """A session, an evaluation or a graph job in the list of all runs."""

    job_id: str
    kind: str
    parent_id: Optional[str]
    name: Optional[str]
    tags: List[str]
    archived: bool
    status: str
    algorithm: Optional[str]
    models: List[str]
    dataset: Optional[Dict[str, Any]]
    scorer: Optional[str]
    baseline_reward: Optional[float]
    best_reward: Optional[float]
    verdict: Optional[str]
    comparison: Optional[Dict[str, Any]]
    comparable_key: Optional[str]
    total_cost_usd: Optional[float]
    rollouts: int
    progress: Dict[str, Any]
    prompt_tokens: Optional[int]
    created_at: str
    ended_at: Optional[str]
    created_by: Optional[Dict[str, Any]]
    last_result_at: Optional[str]


class TriedRow(TypedDict):
    row: int
    text: Optional[str]
    expected: Optional[str]
    answer: Optional[str]
    reward: Optional[float]
    feedback: Optional[str]
    finish_reason: Optional[str]
    error: Optional[Dict[str, str]]
    cost_usd: Optional[float]
    latency_ms: Optional[float]
    trace_id: Optional[str]


class Tried(TypedDict):
    """The answers of a prompt to a few rows."""

    job_id: str
    rows: List[TriedRow]
    mean_reward: Optional[float]
    total_cost_usd: Optional[float]
    seconds: float
    diagnosis: Optional[Dict[str, Any]]
    warnings: List[str]


class DatasetRow(TypedDict):
    row: int
    data: Dict[str, Any]


class RowSide(TypedDict):
    candidate_id: str
    reward: Optional[float]
    rollouts: int
    answer: Optional[str]
    answer_truncated: bool
    feedback: Optional[str]
    error: Optional[str]
    finish_reason: Optional[str]
    trace_id: str


class JobRow(TypedDict):
    """A row of a search, with what the baseline and a candidate answered."""

    row: int
    task_id: Optional[str]
    group: str
    seen: bool
    input: Optional[str]
    expected: Optional[str]
    baseline: Optional[RowSide]
    candidate: Optional[RowSide]


class Review(TypedDict):
    review_id: str
    job_id: str
    subject_id: str
    row: Optional[int]
    candidate_id: Optional[str]
    verdict: Optional[str]
    note: Optional[str]
    corrected: Optional[str]
    by: str
    own: bool
    created_at: str
    updated_at: str


class ReviewQueueItem(TypedDict):
    job_id: str
    subject_id: str
    row: Optional[int]
    candidate_id: Optional[str]
    input: Optional[str]
    expected: Optional[str]
    answer: Optional[str]
    reward: Optional[float]
    judge: Optional[float]
    feedback: Optional[str]


class ReviewQueue(TypedDict):
    data: List[ReviewQueueItem]
    done: int
    left: int


class RowsSummary(TypedDict):
    total: int
    groups: Dict[str, int]
    seen: int
    held_out: int
    reviews: Dict[str, int]
    table: Optional[Dict[str, Any]]
    clusters: List[Dict[str, Any]]


class JobRequest(TypedDict):
    job_id: str
    request: Optional[Dict[str, Any]]
    omitted: List[str]
    dataset: Optional[Dict[str, Any]]
    prompt: Optional[List[Message]]
    branched_from: Optional[Dict[str, Any]]
    branches: List[Dict[str, Any]]


class Difference(TypedDict):
    mean: float
    low: float
    high: float


class Comparison(TypedDict):
    a: Dict[str, Any]
    b: Dict[str, Any]
    seeds_compared: int
    compared_seeds: List[int]
    basis: str
    difference: Difference
    verdict: str
    won: int
    lost: int
    tied: int
    rows_needed: Optional[int]


class ManyComparison(TypedDict):
    """Up to eight columns; `against_baseline` of a column is None for the baseline itself."""

    baseline: str
    columns: List[Dict[str, Any]]
    pairs: List[Dict[str, Any]]
    groups: List[Dict[str, Any]]


class ComparedRow(TypedDict):
    row: int
    task_id: Optional[str]
    input: Optional[str]
    expected: Optional[str]
    cells: List[Optional[Dict[str, Any]]]


class ComparedRows(TypedDict):
    data: List[ComparedRow]
    next_cursor: Optional[str]
    has_more: bool
    total: Optional[int]
    counts: Optional[Dict[str, int]]
