-- The whole schema. Sections: organizations, jobs, commands and events, candidates, rollouts,
-- model calls, budgets, sensor frames, graph jobs, deployments, retention, access.
--
-- Units: `*_usd` is US dollars, `*_ms` is milliseconds, times are timestamptz.
-- Type json instead of jsonb: the order of an object's fields matters and jsonb does not keep it.


-- ---------------------------------------------------------------------------
-- Organizations
-- ---------------------------------------------------------------------------

create table orgs (
  id text primary key,
  name text not null,
  created_at timestamptz not null default now(),
  -- time of its deletion, which takes a while; its keys are revoked
  deleted_at timestamptz,
  -- how often the secret of its webhooks was changed, and until when the one before signs as well
  webhook_secrets int not null default 0,
  webhook_grace_until timestamptz
);
create index orgs_newest on orgs (created_at desc, id desc);
create index orgs_deleted on orgs (deleted_at) where deleted_at is not null;

create table api_keys (
  id text primary key,
  org_id text not null references orgs (id),
  name text not null,
  -- HMAC-SHA256 of the key, under a pepper derived from RATCHET_SECRET_KEY
  key_hash bytea not null unique,
  scopes text[] not null check (scopes <> '{}' and scopes <@ '{read,write,infer,admin}'),
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  revoked_at timestamptz,
  -- the key that a rotation made in its place
  replaced_by text,
  -- updated at most once a minute
  last_used_at timestamptz
);
create index api_keys_newest on api_keys (org_id, created_at desc, id desc);

-- Limits of an organization or of one of its keys; null: none.
create table limits (
  org_id text not null references orgs (id),
  -- the id of the organization, or of the key
  subject text not null,
  requests_per_minute int,
  calls_in_flight int,
  open_jobs int,
  -- of organizations only
  stored_bytes bigint,
  -- of a UTC day
  spend_usd_per_day double precision,
  primary key (org_id, subject)
);

-- Requests that processes have taken from a minute of a limited organization or key.
create table request_windows (
  org_id text not null,
  subject text not null,
  starts_at timestamptz not null,
  taken int not null,
  primary key (org_id, subject)
) with (fillfactor = 50);

-- Calls that a process may have in flight for a limited organization or key. Not logged: after a
-- crash the processes renew what they use within 5 s.
create unlogged table call_slots (
  org_id text not null,
  subject text not null,
  -- the process
  holder uuid not null,
  slots int not null,
  -- a process that was killed renews them no more
  expires_at timestamptz not null,
  primary key (org_id, subject, holder)
) with (fillfactor = 50);

-- Keys of model providers, which the calls of their organization use before those of the environment.
create table provider_keys (
  org_id text not null references orgs (id),
  provider text not null,
  -- AES-256-GCM under RATCHET_SECRET_KEY: iv | tag | text
  ciphertext bytea not null,
  set_at timestamptz not null default now(),
  primary key (org_id, provider)
);

-- Changes by keys of an organization and by the service. Announced before they are made.
create table audit_log (
  id text primary key,
  -- of the key
  org_id text not null references orgs (id),
  -- another organization that an operator changed
  target_org text,
  -- null: the service
  key_id text,
  -- method and path pattern, or what the service did
  action text not null,
  -- parameters of the path
  params jsonb not null,
  created_id text,
  -- HTTP status of the answer; null: no answer yet, or the process died before it
  status int,
  -- the service's own id of the request, and the one that the caller chose
  request_id text,
  client_request_id text,
  created_at timestamptz not null default now()
);
create index audit_log_newest on audit_log (org_id, created_at desc, id desc);
create index audit_log_by_target on audit_log (target_org, created_at desc, id desc) where target_org is not null;

-- Responses by Idempotency-Key. status null: the first request has no response yet.
create table idempotency_keys (
  org_id text not null,
  key text not null,
  -- hash of method, path and body
  fingerprint bytea not null,
  status int,
  -- {headers, body}
  response jsonb,
  -- the job that the request made
  job_id text generated always as (response->'body'->>'job_id') stored,
  created_at timestamptz not null default now(),
  primary key (org_id, key)
);
-- Deletion of expired keys, and of those of a deleted job.
create index idempotency_keys_by_age on idempotency_keys (org_id, created_at);
create index idempotency_keys_by_job on idempotency_keys (job_id) where job_id is not null;

-- Fingerprint of the RATCHET_SECRET_KEY that sealed the secrets and hashed the API keys: one row,
-- written by the first process. A process with another key refuses to start.
create table secret_key_fingerprint (
  only_row boolean primary key default true check (only_row),
  fingerprint text not null,
  set_at timestamptz not null default now()
);

-- What jobs in Temporal know this database by: one row, written by the first process. A copy of the
-- database stands at another place; see src/platform/temporal/installation.ts.
create table installation (
  only_row boolean primary key default true check (only_row),
  id text not null,
  -- server and number of the database that wrote the row
  place text not null,
  -- of its jobs
  task_queue text not null
);

-- The one row that a readiness check writes.
create table write_probe (
  only_row boolean primary key default true check (only_row),
  written_at timestamptz not null default now()
);
insert into write_probe default values;

-- The workers that run: each reports itself every few seconds.
create unlogged table worker_reports (
  worker text primary key,
  -- null: without worker versioning
  build_id text,
  seen_at timestamptz not null default now()
);


-- ---------------------------------------------------------------------------
-- Jobs
-- ---------------------------------------------------------------------------

-- One row per job of any kind.
create table jobs (
  id text primary key,
  org_id text not null references orgs (id),
  kind text not null check (kind in ('session', 'evaluation', 'graph', 'deployment', 'migration', 'checkup')),
  algorithm text,
  status text not null
    check (status in ('pending', 'running', 'paused', 'completed', 'failed', 'cancelled')),
  -- the current run: 1, and one more with each extension, which has its own workflow
  run int not null default 1,
  workflow_id text not null,
  -- the end of its workflow ids; not empty: copied with the database of another installation, whose
  -- workflows have the ids without it
  workflow_suffix text not null default '',
  -- the key that created it; null: a part of a deployment, made by the service
  key_id text,
  -- true: Temporal has confirmed the start; the reconciler starts a workflow whose start was lost
  workflow_started boolean not null default false,
  correlation_id text,
  -- the user's: a name, tags, a flat object, and text
  name text,
  -- the order of names in lists
  name_key text collate "C" generated always as (lower(left(name, 60))) stored,
  tags text[] not null default '{}',
  metadata jsonb not null default '{}',
  notes text,
  -- true: lists leave it out
  archived boolean not null default false,
  -- the validated request, without secrets
  spec jsonb not null,
  -- the request itself, without secrets and labels, for clones; null: no request made the job
  request json,
  -- the data set whose rows the job runs
  dataset_id text generated always as (coalesce(spec->'rows', spec->'parts'->'rows'->'rows')->>'datasetId') stored,
  -- that of the requests that a checkup runs
  traffic_id text generated always as (spec->'parts'->'traffic'->'rows'->>'datasetId') stored,
  -- the job whose candidate an evaluation or a deployment runs, without a copy of it
  source_job_id text generated always as (case when spec->'candidate'->'frozen' is null
    then coalesce(spec->'candidate'->>'sessionId', spec->'source'->>'jobId') end) stored,
  -- the job that started it; null: a request did
  parent_id text,
  -- the job that it was cloned from, and the candidate that it began with
  branched_from text,
  branched_candidate text,
  -- provider and model of its policy
  model text generated always as ((spec->'policy'->>'provider') || '/' || (spec->'policy'->>'model')) stored,
  -- the state that the workflow recorded last; HTTP reads it
  projection jsonb not null default '{}',
  -- candidates.*_counted and reward_sum include the rollouts with an ordinal below this one
  rollouts_counted int not null default 0,
  -- of a closed evaluation: RolloutTotals
  totals jsonb,
  -- of a closed job whose judge is compared with labels: AgreementCounts
  agreement jsonb,
  -- What lists of runs sort by. A hash of the instances that decide and of their scorer; null: its own traffic
  comparable_key text,
  -- winner minus baseline
  gain float8 generated always as ((projection->'verdict'->>'difference')::float8) stored,
  best_reward float8
    generated always as (coalesce((projection->>'bestReward')::float8, (totals->>'meanReward')::float8)) stored,
  -- as of its last end; cost null: unknown
  final_cost_usd float8,
  final_rollouts int,
  -- the best prompt, in estimated tokens
  prompt_tokens int,
  -- {code, message, retryable}
  error_details jsonb,
  -- why the job ended
  stopped_by text,
  -- of an open job whose workflow task fails: {cause, message, since}
  stuck jsonb,
  -- probable mistakes in the request
  warnings text[] not null default '{}',
  -- what its age has removed, or removes now
  traces_expired boolean not null default false,
  events_expired boolean not null default false,
  -- true: its rows are being deleted; nobody sees it
  deleted boolean not null default false,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  completed_at timestamptz,
  -- last visit of the reconciler
  checked_at timestamptz not null default now()
  -- room for new versions of a row on its page: a decision writes the projection
) with (fillfactor = 70);
-- Lists of jobs, newest first: all, without the archived ones, by status, and by name.
create index jobs_by_org on jobs (org_id, kind, created_at desc, id desc);
create index jobs_unarchived on jobs (org_id, kind, created_at desc, id desc) where not archived;
create index jobs_by_status on jobs (org_id, kind, status, created_at desc, id desc);
create index jobs_by_key on jobs (org_id, kind, key_id, created_at desc, id desc) where key_id is not null;
create index jobs_named on jobs (org_id, kind, created_at desc, id desc) include (name, archived) where name is not null;
-- Lists of runs of all kinds: the newest first, and by what they are worth.
create index runs_newest on jobs (org_id, created_at desc, id desc) where kind in ('session', 'evaluation', 'graph');
create index runs_by_gain on jobs (org_id, gain, id) where gain is not null;
create index runs_by_reward on jobs (org_id, best_reward, id) where best_reward is not null;
create index runs_by_cost on jobs (org_id, final_cost_usd, id) where final_cost_usd is not null;
create index runs_by_rollouts on jobs (org_id, final_rollouts, id) where final_rollouts is not null;
create index runs_by_name on jobs (org_id, name_key, id) where name_key is not null;
-- What needs a job that is to be deleted.
create index jobs_by_origin on jobs (branched_from) where branched_from is not null;
create index jobs_by_source on jobs (source_job_id) where source_job_id is not null;
-- The checkups of a deployment, which are compared with its earlier ones.
create index jobs_checkups on jobs ((spec->>'deploymentId'), created_at) where kind = 'checkup';
-- Open jobs of an organization, for its limit.
create index jobs_open_by_org on jobs (org_id) where status in ('pending', 'running', 'paused') and key_id is not null;
-- The reconciler's queue.
create index jobs_open on jobs (checked_at) where status in ('pending', 'running', 'paused');
create index jobs_stuck on jobs (id) where stuck is not null;
-- What age may remove from closed jobs.
create index jobs_with_traces on jobs (completed_at)
  where completed_at is not null and not traces_expired and kind <> 'deployment';
create index jobs_with_events on jobs (completed_at)
  where completed_at is not null and not events_expired and kind <> 'deployment';
create index jobs_closed on jobs (completed_at) where completed_at is not null and not deleted;

-- Tags and metadata of jobs, for lists by them.
create table job_labels (
  job_id text not null references jobs (id) on delete cascade,
  org_id text not null,
  kind text not null,
  -- of the job
  created_at timestamptz not null,
  -- see src/jobs/store/labels.ts
  label text not null,
  primary key (job_id, label)
);
create index job_labels_newest on job_labels (org_id, kind, label, created_at desc, job_id desc);

-- The hot, narrow part of a job. Its row lock serializes the job's events, outcomes and decisions.
create table job_controls (
  job_id text primary key references jobs (id) on delete cascade,
  org_id text not null,
  -- run: start rollouts; pause: start none, let running ones finish; stop: abort running ones
  control text not null default 'run' check (control in ('run', 'pause', 'stop')),
  -- pauses of the job so far; they number the keys of its events
  pauses int not null default 0,
  -- the last pause, resume or cancel that took effect; key null: none, as of an operator in Temporal
  command text check (command in ('pause', 'resume', 'cancel')),
  command_key text,
  command_at timestamptz,

  -- true: a quota of spend has refused a rollout's call, as cost_reservations show; the run ends
  quota_refused boolean not null default false,

  -- seq of the last event
  event_seq bigint not null default 0,
  -- idx of the next rollout
  rollout_idx bigint not null default 0,

  -- outcomes of the service's own rollouts
  rollouts_succeeded int not null default 0,
  rollouts_failed int not null default 0,
  -- of the succeeded ones: range and sum of the rewards, and how many have feedback
  reward_low float8,
  reward_high float8,
  reward_sum float8 not null default 0,
  rollouts_with_feedback int not null default 0,
  -- of the succeeded ones: how many answers were empty, by reason
  empty_answers jsonb not null default '{}',
  -- consecutive rollouts that could not reach the container
  connect_failures int not null default 0,
  -- how fast they come: time of the last one, outcomes in its minute, and in the minute before
  last_outcome_at timestamptz,
  outcomes_in_minute int not null default 0,
  outcomes_before int not null default 0,
  -- the rows of sensor_frames
  sensor_frames int not null default 0,

  -- the one runner that may run rollouts; its token fences the writes of earlier runners
  lease_token bigint not null default 0,
  lease_owner text,
  lease_expires_at timestamptz,

  -- current limit of rollouts in flight; null: the job's max_concurrent
  concurrency int,
  -- why the limit was lowered
  concurrency_reason text,
  -- number of times it was lowered; only the first ones are events
  concurrency_lowered int not null default 0,

  -- comparison of live calls, decided by the first one: paired by the seeds they name, or unpaired
  traffic text check (traffic in ('paired', 'unpaired')),
  -- time when a signal to the workflow became due (all slots are answered); null: none is due
  wake_at timestamptz
) with (fillfactor = 50);

-- The step log: the state of a search is its last snapshot and the inputs of the steps since.
create table search_states (
  job_id text primary key references jobs (id) on delete cascade,
  org_id text not null,
  -- the run of the job that began with it, or goes on from it
  run int not null,
  -- number of the last step in it
  step int not null,
  -- SessionState; names keep their order, which jsonb would change
  state json not null,
  -- running time of the runs that have ended, where max_minutes bounds it
  used_ms bigint not null default 0
);

create table search_inputs (
  job_id text not null references jobs (id) on delete cascade,
  org_id text not null,
  step int not null,
  -- SearchInput
  input json not null,
  primary key (job_id, step)
);

-- Secrets of open jobs, deleted when the job closes.
create table secrets (
  org_id text not null,
  job_id text not null references jobs (id) on delete cascade,
  name text not null,
  -- scheme, host and port that may receive the secret
  origin text not null,
  -- AES-256-GCM under RATCHET_SECRET_KEY: iv | tag | text
  ciphertext bytea not null,
  primary key (job_id, name)
);


-- ---------------------------------------------------------------------------
-- Commands and events
-- ---------------------------------------------------------------------------

-- A command sent to the workflow by signal, and the workflow's answer.
create table commands (
  id text primary key,
  org_id text not null,
  job_id text not null references jobs (id) on delete cascade,
  kind text not null check (kind in ('pause', 'resume', 'cancel', 'stop', 'candidate', 'hint')),
  -- the key that gave it; null: the service
  key_id text,
  outcome text check (outcome in ('accepted', 'refused')),
  -- job status after the command
  status_after text,
  created_at timestamptz not null default now(),
  settled_at timestamptz
);
-- Commands of a job, when it closes or is deleted.
create index commands_by_job on commands (job_id);

-- What a person suggested to a search, by the command that brought it.
create table suggestions (
  command_id text primary key references commands (id) on delete cascade,
  org_id text not null,
  -- component to text of a prompt; null: a hint
  texts jsonb,
  -- a hint for the proposer; null: a prompt, or the hint was removed
  hint text,
  -- whether the search has the prompt
  taken boolean not null default false
);

create table events (
  job_id text not null references jobs (id) on delete cascade,
  -- 1, 2, 3, ... without gaps
  seq bigint not null,
  org_id text not null,
  -- deduplication key: a retry of the same decision adds no event
  key text not null,
  type text not null,
  message text not null,
  data jsonb not null,
  ts timestamptz not null default now(),
  primary key (job_id, seq),
  unique (job_id, key)
);
-- Why proposals became no candidates.
create index events_failed_proposals on events (job_id) where type = 'proposal_failed';


-- The webhook of a job. waiting: the job has not ended; due: it has; sending: its workflow delivers.
create table webhooks (
  job_id text primary key references jobs (id) on delete cascade,
  org_id text not null,
  url text not null,
  status text not null default 'waiting'
    check (status in ('waiting', 'due', 'sending', 'delivered', 'failed')),
  attempts int not null default 0,
  -- of the last attempt; null: it succeeded
  last_error text,
  -- end of the deliveries
  settled_at timestamptz
);
-- The reconciler's queue.
create index webhooks_due on webhooks (job_id) where status = 'due';

-- The place of a job among OpenTelemetry traces; no row: it was created without tracing.
create table job_traces (
  job_id text primary key references jobs (id) on delete cascade,
  org_id text not null,
  trace_id text not null,
  -- the caller's span; null: the job begins the trace
  parent_id text,
  -- the sampler's decision, for all spans of the job
  sampled boolean not null,
  -- the last generation whose proposer was called
  generation int not null default -1,
  -- when the spans of the ended run are to be sent, again if a worker took them; null: not
  due_at timestamptz,
  -- rollouts with an ordinal below this one are sent
  sent_through int not null default 0
);
create index job_traces_due on job_traces (due_at) where due_at is not null;


-- ---------------------------------------------------------------------------
-- Candidates
-- ---------------------------------------------------------------------------

create table candidates (
  id text primary key,
  org_id text not null,
  job_id text not null references jobs (id) on delete cascade,
  -- number of the candidate in its job; 0 is the baseline
  lever_version int not null,
  generation int not null,
  parent_ids text[] not null default '{}',
  status text not null check (status in ('proposed', 'rejected', 'evaluated')),

  -- the prompt; null: graph job, or the baseline's prompt is not known yet
  messages jsonb,
  -- demonstrations [{component, seed, ordinal, input, output}]; null: a search without them
  demos jsonb,
  -- the graph of a graph job, instead of messages; step inputs keep their order
  graph json,
  -- the edits of the parent's graph that made it; null: none, or its texts were rewritten
  edits json,
  -- component to digest of its text; null: a prompt of one component without demonstrations
  component_digests jsonb,
  -- origin: {reflection}, {merge} or {composed}
  detail jsonb not null default '{}',
  -- its test [[seed, ordinal of the ancestor's rollout or null, ...ordinals of its rollouts]];
  -- null: not tested yet, or on live calls without instances
  tests jsonb,
  -- the decision on its test, as the search took it (DecisionRecord); null: none yet
  decision jsonb,

  -- as of the search's last decision
  reward double precision,
  -- {low, high} of the mean on unseen rows
  reward_interval jsonb,
  -- sums over the rollouts below jobs.rollouts_counted: finished, succeeded, their rewards
  rollouts_counted int not null default 0,
  rewards_counted int not null default 0,
  reward_sum double precision not null default 0,

  created_at timestamptz not null default now(),
  unique (job_id, lever_version)
);


-- ---------------------------------------------------------------------------
-- Rollouts, slots of live traffic, rewards
-- ---------------------------------------------------------------------------

-- One run of a candidate on a seed, or one correlation id of a caller.
create table rollouts (
  id text primary key,
  org_id text not null,
  job_id text not null references jobs (id) on delete cascade,
  -- position among all rollouts of the job
  idx bigint not null,
  -- position among the rollouts that the search requested; null: not requested by the search
  ordinal int,
  -- service: run by the service; caller: calls of the caller's own traffic
  source text not null check (source in ('service', 'caller')),
  -- the claimed slot of a live rollout; becomes the ordinal when the reward arrives
  slot int,
  stage text,
  generation int,
  -- null: live traffic without a seed
  seed bigint,
  candidate_id text,

  -- open: caller's rollout; awaiting_reward: the container reports the reward later
  status text not null check (status in
    ('queued', 'running', 'awaiting_reward', 'succeeded', 'failed', 'cancelled', 'open')),
  -- number of claims; an outcome is written only for the current attempt
  attempt int not null default 0,
  -- lease of the runner that claimed it
  lease_token bigint not null default 0,
  -- true: the search requested it again under a later ordinal, so its outcome does not count
  repeated boolean not null default false,
  -- number of times it was sent again after a lost runner
  resent int not null default 0,
  -- deadline for the reward of an awaiting rollout
  deadline_at timestamptz,

  reward double precision,
  feedback text,
  details jsonb,
  -- why the model gave no answer; null: it did, or a container asked it
  empty text,
  -- {code, message, infrastructure, connect}
  error jsonb,
  latency_ms double precision,
  -- sums over the rollout's model calls; cost_usd null: no call, or a call of unknown cost
  prompt_tokens bigint,
  completion_tokens bigint,
  cost_usd double precision,

  created_at timestamptz not null default now(),
  started_at timestamptz,
  completed_at timestamptz,
  unique (job_id, idx),
  unique (job_id, ordinal)
) with (fillfactor = 80);
-- Claims. No `status` in the predicate, so that a first claim changes no indexed column (HOT).
create index rollouts_open on rollouts (job_id, ordinal) where completed_at is null;
-- Overdue rewards.
create index rollouts_awaiting on rollouts (job_id, deadline_at)
  where deadline_at is not null and completed_at is null;
-- Number of resent rollouts.
create index rollouts_resent on rollouts (job_id) where resent > 0;
-- Rollouts of one candidate. Evaluations have no candidates and do not pay for this index.
create index rollouts_by_candidate on rollouts (candidate_id, ordinal)
  where ordinal is not null and candidate_id is not null;

-- Rollouts that a session still requests from live traffic. A call claims a slot for its
-- correlation id; the reward of that rollout deletes the slot.
create table slots (
  job_id text not null references jobs (id) on delete cascade,
  ordinal int not null,
  org_id text not null,
  candidate_id text not null,
  seed bigint not null,
  stage text not null,
  generation int not null,
  -- end of the claim; another call may claim the slot afterwards. null: not claimed
  deadline_at timestamptz,
  primary key (job_id, ordinal)
) with (fillfactor = 50);

-- Rewards reported by callers, unchanged. A repeated reward is ignored, a different one refused.
create table rewards (
  id text primary key,
  org_id text not null,
  job_id text not null references jobs (id) on delete cascade,
  rollout_id text,
  correlation_id text,
  candidate_id text,
  reward double precision,
  body jsonb not null,
  -- false: reported after the end of the rollout or of the job
  counted boolean not null,
  created_at timestamptz not null default now()
);
-- One reward per rollout; also the rewards of a deleted job.
create unique index rewards_once on rewards (job_id, rollout_id);


-- ---------------------------------------------------------------------------
-- Model calls
-- ---------------------------------------------------------------------------

-- Every model call of a job: through the proxy, of a graph's steps, the judge and the proposer.
create table model_calls (
  id text primary key,
  org_id text not null,
  job_id text not null references jobs (id) on delete cascade,
  purpose text not null check (purpose in ('rollout', 'caller', 'proposer', 'judge', 'preflight')),
  rollout_id text,
  correlation_id text,
  candidate_id text,

  -- SHA-256 of provider and request, without the fields that do not change the answer
  request_hash bytea not null,
  -- position among identical requests of the rollout, or number of the proposer's or preflight's answer
  occurrence int not null default 0,
  -- the last attempt of the rollout that received this answer; 0: none. A resent rollout gets the
  -- recorded answers in turn, each once per attempt.
  served_attempt int not null default 0,
  -- the process that served it (Notifications.presence). If that process died, the answer may not
  -- have arrived, and a retry of the same attempt gets it again.
  served_by int,

  provider text not null,
  model text not null,
  request jsonb not null,
  -- [{name, text}]: spans that the request marked as levers; the baseline is built from them
  levers jsonb,
  response jsonb,
  -- of an answer of the proposer: {component, attempt, accepted, reason}
  verdict jsonb,
  stream boolean not null default false,
  http_status int not null,
  prompt_tokens bigint,
  completion_tokens bigint,
  cost_usd double precision,
  -- reported (by the provider), table (of prices) or unknown
  cost_source text not null default 'unknown',
  latency_ms double precision,

  -- the call whose answer this one got from the answer cache, at cost 0; null: the model answered
  cached_from text,
  -- the cost of that call; null: unknown
  cached_cost_usd double precision,
  created_at timestamptz not null default now()
);
create index model_calls_by_rollout on model_calls (job_id, rollout_id, created_at);
-- One recorded answer per occurrence.
create unique index model_calls_once on model_calls (rollout_id, request_hash, occurrence)
  where purpose <> 'caller' and http_status < 300;
-- The answer cache: the answers of the models, and where they were used again.
create index model_calls_answers on model_calls (org_id, request_hash)
  where http_status < 300 and cached_from is null;
create index model_calls_cached on model_calls (cached_from, job_id) where cached_from is not null;

-- Calls of a provider's model by minute, one row per process, for a day. They only grow: a repeated
-- or late write changes nothing.
create table provider_calls (
  org_id text not null,
  provider text not null,
  model text not null,
  -- where the minute begins
  start timestamptz not null,
  -- chosen by the process at its first call in the minute
  counter_id uuid not null,
  calls bigint not null,
  -- refused as too many
  throttled bigint not null,
  -- without an answer through no fault of the request
  failed bigint not null,
  -- the largest share of the minute's calls so far that they were
  throttled_peak double precision not null,
  failed_peak double precision not null,
  -- calls without an answer by status or code
  errors jsonb not null,
  -- answered calls per bucket of src/core/math/latency-sketch.ts
  latencies jsonb not null,
  -- the first throttled or failed one; null: none
  troubled_at timestamptz,
  primary key (org_id, provider, model, start, counter_id)
) with (fillfactor = 50);
create index provider_calls_by_age on provider_calls (org_id, start);

-- Sums over a job's model calls, added to with each call. Several rows per job (a random shard per
-- call; -1: the request that made the job) and UTC day, so that concurrent calls do not wait for the
-- same row.
create table job_usage (
  job_id text not null references jobs (id) on delete cascade,
  shard int not null,
  day date not null default (now() at time zone 'utc')::date,
  org_id text not null,
  calls bigint not null,
  prompt_tokens bigint not null,
  completion_tokens bigint not null,
  cost_usd double precision not null,
  -- calls of unknown cost
  unpriced bigint not null,
  -- calls of unknown tokens
  uncounted bigint not null default 0,
  -- calls whose cost comes from the price table
  from_table bigint not null,
  -- answered calls of rollouts and judges, and how many of them the answer cache answered
  answered bigint not null,
  cached bigint not null,
  -- size of requests and answers, before compression; and of the request that made the job
  bytes bigint not null default 0,
  primary key (job_id, shard, day)
) with (fillfactor = 50);
-- The spend of a day.
create index job_usage_by_day on job_usage (org_id, day);

-- Bytes of job_usage in the days through `through`, which do not change any more. A sum of what an
-- organization stores adds the later days, and its data sets.
create table stored_bytes (
  org_id text primary key,
  through date not null,
  bytes bigint not null
);

-- Spend that no job has: of deployments' calls, one row per process and key, which only grows, and
-- of deleted jobs.
create table daily_spend (
  org_id text not null,
  -- UTC
  day date not null,
  counter_id uuid not null,
  key_id text,
  cost_usd double precision not null,
  -- job_usage counts it for the organization
  of_job boolean not null default false,
  primary key (org_id, day, counter_id)
) with (fillfactor = 50);


-- ---------------------------------------------------------------------------
-- Budgets
-- ---------------------------------------------------------------------------

-- The cost budget of a job with budget.max_cost_usd. Invariant: spent + reserved <= max.
-- numeric, because subtracting a reservation must restore the exact sum.
create table job_budgets (
  job_id text primary key references jobs (id) on delete cascade,
  org_id text not null,
  max_usd numeric not null,
  spent_usd numeric not null default 0,
  -- upper bound of the calls in flight
  reserved_usd numeric not null default 0,
  -- time of the warning at 80 %
  warned_at timestamptz,
  -- time of the first refused call; every later call is refused
  exhausted_at timestamptz
) with (fillfactor = 50);

-- Calls in flight and refused calls.
create table cost_reservations (
  id text primary key,
  org_id text not null,
  job_id text not null references jobs (id) on delete cascade,
  -- null: a call of the proposer
  rollout_id text,
  -- upper bound of the call's cost
  amount_usd numeric not null,
  -- the process that sends the call (Notifications.presence)
  presence int not null,
  -- true: amount 0; the outcome of its rollout does not count for the candidate
  refused boolean not null default false,
  created_at timestamptz not null default clock_timestamp()
);
create index cost_reservations_by_job on cost_reservations (job_id);


-- ---------------------------------------------------------------------------
-- Sensor frames
-- ---------------------------------------------------------------------------

-- Readings over the rollouts of one candidate in one batch of a stage. Recorded with the decision
-- that follows the batch.
create table sensor_frames (
  job_id text not null references jobs (id) on delete cascade,
  -- lowest ordinal of its rollouts; identifies the frame, since a rollout belongs to one frame
  ordinal int not null,
  org_id text not null,
  candidate_id text not null,
  stage text not null,
  generation int not null,
  -- the first hundred, by ordinal
  trace_ids text[] not null,
  -- readings of each sensor, in the field names of the API; null: nothing to read
  rollout jsonb,
  reward jsonb,
  resource jsonb,
  created_at timestamptz not null default now(),
  primary key (job_id, ordinal)
);


-- ---------------------------------------------------------------------------
-- Graph jobs
-- ---------------------------------------------------------------------------

-- The data set of a graph job.
create table graph_tasks (
  job_id text not null references jobs (id) on delete cascade,
  -- index in the data set, and seed of the task's rollouts
  task_index int not null,
  org_id text not null,
  task_id text not null,
  -- the model sees the fields in this order
  input json not null,
  -- {"value": ...}, so that the gold output itself may be null; null: no gold output
  gold json,
  -- the task's own or the default rubric
  rubric json,
  primary key (job_id, task_index)
);


-- ---------------------------------------------------------------------------
-- Deployments
-- ---------------------------------------------------------------------------

-- Immutable content of deployments; the id is a hash of the content.
create table snapshots (
  org_id text not null,
  id text not null,
  -- graph inputs keep their order
  content json not null,
  -- the model of messages, the models of a graph: read without the rest
  policy json generated always as (content->'policy') stored,
  policies json generated always as (content->'policies') stored,
  created_at timestamptz not null default now(),
  primary key (org_id, id)
);

-- Columns of a deployment besides its job's row.
create table deployments (
  id text primary key references jobs (id) on delete cascade,
  org_id text not null,
  name text not null,
  -- numbered per name from 1; see deployment_versions
  version int not null,
  -- why it was made, in the words of its creator
  reason text,
  -- null: not built yet
  snapshot_id text,
  -- result of the gate; null: no gate, or no result yet
  gate jsonb,
  -- time of the promotion, and the deployment that it replaced; null: never, none
  live_at timestamptz,
  previous_id text,
  deleted_at timestamptz,
  foreign key (org_id, snapshot_id) references snapshots (org_id, id)
);

-- The deployments of a name.
create unique index deployments_by_name on deployments (org_id, name, version);

-- The last version of a name, which no other deployment gets, also after its deletion. Its row lock
-- serializes what the name and its labels serve.
create table deployment_versions (
  org_id text not null,
  name text not null,
  last_version int not null,
  -- how the name is served, in the field names of the API
  settings jsonb not null default '{}',
  primary key (org_id, name)
) with (fillfactor = 50);

-- The deployment that serves a name. If that deployment is deleted, the name serves nothing.
create table deployment_names (
  org_id text not null,
  name text not null,
  deployment_id text not null references deployments (id),
  primary key (org_id, name)
);

-- How requests of a name move from the version that it serves to a new one, step by step.
create table deployment_canaries (
  -- the new version
  deployment_id text primary key references deployments (id) on delete cascade,
  org_id text not null,
  name text not null,
  -- the version that the name serves
  live_id text references deployments (id) on delete set null,
  -- the one that decides
  metric text not null,
  -- of the current step: the share of the requests that the new version answers, or is asked, too
  percent double precision not null,
  is_shadow boolean not null,
  -- user, correlation_id, or a header; null: what a request has
  sticky_by text,
  status text not null check (status in ('running', 'paused', 'awaiting_approval', 'promoted', 'rolled_back')),
  -- as src/core/deployments/rollout decides by it
  state jsonb not null,
  -- why it ended, in a sentence, and what its last step had shown
  reason text,
  evidence jsonb,
  started_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz
) with (fillfactor = 50);
-- One at a time for a name.
create unique index deployment_canaries_open on deployment_canaries (org_id, name) where ended_at is null;
create index deployment_canaries_newest on deployment_canaries (org_id, name, started_at desc);

-- The first value of the deciding metric of each unit (a user, an episode or an answer) and version.
create table canary_values (
  deployment_id text not null references deployment_canaries (deployment_id) on delete cascade,
  unit text not null,
  org_id text not null,
  is_canary boolean not null,
  value double precision not null,
  -- whether the state of the rollout includes it
  is_counted boolean not null default false,
  at timestamptz not null default clock_timestamp(),
  primary key (deployment_id, unit, is_canary)
);
create index canary_values_new on canary_values (deployment_id, at) where not is_counted;

-- Further labels of a name, each of a deployment that is ready; `production` is deployment_names.
create table deployment_labels (
  org_id text not null,
  name text not null,
  label text not null,
  deployment_id text not null references deployments (id) on delete cascade,
  primary key (org_id, name, label)
);
create index deployment_labels_by_deployment on deployment_labels (deployment_id);

-- Changes of what a name or a label of it serves.
create table deployment_changes (
  id text primary key,
  org_id text not null,
  name text not null,
  label text not null,
  action text not null check (action in ('build', 'canary', 'rollback', 'label', 'delete')),
  -- versions; null: it served nothing, or serves nothing now
  from_version int,
  to_version int,
  -- null: the service
  key_id text,
  reason text,
  -- under the lock of the name, so that times are in the order of the changes
  created_at timestamptz not null default clock_timestamp()
);
create index deployment_changes_newest on deployment_changes (org_id, name, created_at desc, id desc);

-- Request totals of a deployment, in all and by hour and minute, one row per process. They only
-- grow: a repeated or late write changes nothing. Statistics are sums over the rows.
create table deployment_counters (
  deployment_id text not null,
  -- all, hour, minute; shadow: all that callers did not see
  width text not null,
  -- where the hour or minute begins; of all: the epoch
  start timestamptz not null,
  -- chosen by the process at its first request in the period
  counter_id text not null,
  org_id text not null,
  requests bigint not null,
  errors bigint not null,
  -- requests that the client aborted
  aborted bigint not null,
  prompt_tokens bigint not null,
  completion_tokens bigint not null,
  -- sum over the requests of known cost
  cost_usd double precision not null,
  -- sum of the squares of these costs
  cost_squares double precision not null,
  -- requests of unknown cost
  without_cost bigint not null,
  -- answered requests per bucket of src/core/math/latency-sketch.ts
  latencies jsonb not null,
  -- errors by code
  error_codes jsonb not null,
  -- tries of models by provider and model, and how many of them failed
  models jsonb not null,
  updated_at timestamptz not null default now(),
  primary key (deployment_id, width, start, counter_id)
) with (fillfactor = 50);
-- The counters that have expired.
create index deployment_counters_by_age on deployment_counters (org_id, width, start) where width in ('hour', 'minute');

-- Tokens and dollars of a deployment's name that one process has counted: for the name, a key or a
-- tag with such a limit. Totals only grow; what a write adds belongs to the minute and the day of it.
create table deployment_uses (
  org_id text not null,
  -- whose uses, and of which name
  subject text not null,
  counter_id uuid not null,
  tokens bigint not null,
  usd double precision not null,
  minute timestamptz not null,
  minute_tokens bigint not null,
  -- UTC
  day date not null,
  day_usd double precision not null,
  primary key (org_id, subject, counter_id)
) with (fillfactor = 50);

-- The latest failed requests of a deployment.
create table deployment_failures (
  deployment_id text not null,
  answer_id text not null,
  org_id text not null,
  at timestamptz not null,
  status int not null,
  code text not null,
  message text not null,
  latency_ms double precision not null,
  primary key (deployment_id, at, answer_id)
);

-- Requests whose texts a deployment keeps.
create table deployment_requests (
  deployment_id text not null,
  answer_id text not null,
  org_id text not null,
  -- the name of the deployment
  name text not null,
  at timestamptz not null,
  -- ok, error, aborted
  outcome text not null,
  -- of an error
  code text,
  provider text not null,
  model text not null,
  latency_ms double precision not null,
  prompt_tokens bigint,
  completion_tokens bigint,
  cost_usd double precision,
  correlation_id text,
  -- JSON as text, since jsonb refuses NUL; null: too long
  request text,
  answer text,
  primary key (deployment_id, at, answer_id)
);
create index deployment_requests_by_name on deployment_requests (org_id, name, at, answer_id);

-- Answers whose requests named an episode.
create table episode_answers (
  org_id text not null,
  correlation_id text not null,
  answer_id text not null,
  deployment_id text not null,
  created_at timestamptz not null default now(),
  primary key (org_id, correlation_id, answer_id)
);
create index episode_answers_by_deployment on episode_answers (deployment_id);
create index episode_answers_by_age on episode_answers (org_id, created_at);

-- What callers report of an answer or of an episode, once per key.
create table deployment_feedback (
  id text primary key,
  org_id text not null,
  -- the deployment that answered; of an episode the last one
  deployment_id text not null,
  -- its name
  name text not null,
  -- one of both
  answer_id text,
  correlation_id text,
  -- the deployment whose answers of the episode are meant; empty: those of the name
  within text not null,
  key text not null,
  -- answers of the episode, and the deployments that gave them
  answers int not null,
  deployments int not null,
  -- reward, metrics, comment and corrected answer, in the field names of the API
  content jsonb not null,
  created_at timestamptz not null default now()
);
-- Two: beside row-level security Postgres takes no index for an expression.
create unique index deployment_feedback_by_answer
  on deployment_feedback (org_id, name, answer_id, within, key) where answer_id is not null;
create unique index deployment_feedback_by_episode
  on deployment_feedback (org_id, name, correlation_id, within, key) where answer_id is null;
create index deployment_feedback_by_time on deployment_feedback (deployment_id, created_at, id);

-- Sums over the first report of each metric for an answer or an episode, in all and by the hour and
-- minute of the answer; `reward` is one.
create table deployment_metrics (
  deployment_id text not null,
  width text not null,
  start timestamptz not null,
  metric text not null,
  org_id text not null,
  count bigint not null,
  mean double precision not null,
  -- sum of the squared distances from the mean
  distances double precision not null,
  least double precision not null,
  greatest double precision not null,
  primary key (deployment_id, width, start, metric)
) with (fillfactor = 50);
create index deployment_metrics_by_age on deployment_metrics (org_id, width, start) where width in ('hour', 'minute');

-- Answers that wait for the judge of their deployment's name, with the texts that it reads.
create table deployment_judgements (
  deployment_id text not null,
  answer_id text not null,
  org_id text not null,
  -- the name of the deployment
  name text not null,
  -- JSON as text, since jsonb refuses NUL
  request text not null,
  answer text not null,
  -- answers of judge models by call: none of them is bought again
  verdicts jsonb not null default '{}',
  tries int not null default 0,
  -- when the next try may begin
  due_at timestamptz not null default now(),
  primary key (deployment_id, answer_id)
) with (fillfactor = 50);
create index deployment_judgements_due on deployment_judgements (org_id, name, due_at);

-- What the judge of a name has done, its spend of a day, and the lease of who works for it.
create table deployment_judges (
  org_id text not null,
  name text not null,
  judged bigint not null default 0,
  failed bigint not null default 0,
  dropped bigint not null default 0,
  -- code, message and time of the latest try without a score
  last_failure jsonb,
  -- UTC
  day date,
  -- known cost of the day's calls; of one in flight, or of unknown cost, the most that it may cost
  day_usd double precision not null default 0,
  -- the limit that refused a call of the day; null: none has
  used_up_usd double precision,
  -- of its spend in daily_spend
  counter_id uuid not null default gen_random_uuid(),
  lease_token bigint not null default 0,
  leased_until timestamptz,
  primary key (org_id, name)
) with (fillfactor = 50);

-- What people say of the rollouts of a job, or of the kept answers of a deployment: one of each
-- reviewer.
create table reviews (
  id text primary key,
  org_id text not null,
  -- a job, or a deployment
  job_id text not null references jobs (id) on delete cascade,
  -- a rollout, or an answer
  subject_id text not null,
  -- of a rollout
  seed bigint,
  candidate_id text,
  reviewer text not null,
  verdict text check (verdict in ('right', 'wrong', 'bad_expected')),
  note text,
  corrected text,
  -- score of the judge of a rollout; null: none
  judge double precision,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create unique index reviews_by_subject on reviews (job_id, subject_id, reviewer);
create index reviews_by_time on reviews (org_id, created_at, id);


-- ---------------------------------------------------------------------------
-- Schedules
-- ---------------------------------------------------------------------------

-- What is done again and again with what a name serves. Temporal Schedules hold the times.
create table schedules (
  id text primary key,
  org_id text not null,
  -- of deployments
  name text not null,
  -- the request, in the field names of the API; json keeps the order of a row's fields
  spec json not null,
  paused boolean not null,
  -- the key that created it, which its jobs count for
  key_id text,
  -- one more with each change
  version int not null default 1,
  -- version, installation and task queue that Temporal has; null: it has nothing yet
  synced text,
  -- of Temporal's schedule as it was written
  digest text,
  -- last look at Temporal
  checked_at timestamptz not null default now(),
  -- the UTC month of month_usd, which its ended runs that began in it have spent
  month date not null default date_trunc('month', now() at time zone 'utc')::date,
  month_usd double precision not null default 0,
  created_at timestamptz not null default now(),
  -- true: it is being deleted in Temporal; nobody sees it
  deleted boolean not null default false
) with (fillfactor = 70);
create index schedules_newest on schedules (org_id, created_at desc, id desc) where not deleted;
create index schedules_by_name on schedules (org_id, name, created_at desc, id desc) where not deleted;

create table schedule_runs (
  id text primary key,
  schedule_id text not null references schedules (id) on delete cascade,
  org_id text not null,
  -- when it was due
  at timestamptz not null,
  -- true: by a request, not by its time
  manual boolean not null,
  status text not null default 'due' check (status in ('due', 'started', 'skipped', 'refused')),
  -- of a skipped or refused one
  code text,
  detail text,
  -- until then a process prepares the job of a due one
  leased_until timestamptz,
  -- of a started one: its job, the UTC month, and the dollars of its budget (null: no limit)
  job_id text,
  month date,
  budget_usd double precision,
  -- what its job has cost once it has ended; null: not yet
  spent_usd double precision
) with (fillfactor = 70);
create unique index schedule_runs_once on schedule_runs (schedule_id, at) where not manual;
create index schedule_runs_newest on schedule_runs (schedule_id, at desc, id desc);
-- What the API still has to do.
create index schedule_runs_open on schedule_runs (at) where status = 'due' or (status = 'started' and spent_usd is null);


-- ---------------------------------------------------------------------------
-- Data sets
-- ---------------------------------------------------------------------------

-- Immutable rows of an uploaded file; the id is a hash of the rows.
create table datasets (
  org_id text not null,
  id text not null,
  -- the user's, no part of its hash; null: none
  name text,
  num_rows int not null,
  -- the columns in their order, with counts of their values
  columns json not null,
  -- size of the rows as JSON
  bytes bigint not null,
  created_at timestamptz not null default now(),
  primary key (org_id, id)
);
create index datasets_newest on datasets (org_id, created_at desc, id desc);

-- A data set cannot be deleted while a job needs its rows.
alter table jobs add foreign key (org_id, dataset_id) references datasets (org_id, id);
create index jobs_by_dataset on jobs (org_id, dataset_id) where dataset_id is not null;
alter table jobs add foreign key (org_id, traffic_id) references datasets (org_id, id);
create index jobs_by_traffic on jobs (org_id, traffic_id) where traffic_id is not null;

create table dataset_rows (
  org_id text not null,
  dataset_id text not null,
  row_index int not null,
  -- the columns keep their order
  data json not null,
  primary key (org_id, dataset_id, row_index),
  foreign key (org_id, dataset_id) references datasets (org_id, id) on delete cascade
);


-- ---------------------------------------------------------------------------
-- Retention
-- ---------------------------------------------------------------------------

-- What no reader sees any more and a worker deletes in batches. The last batch deletes the row.
create table deletions (
  job_id text not null references jobs (id) on delete cascade,
  org_id text not null,
  what text not null check (what in ('traces', 'events', 'job')),
  created_at timestamptz not null default now(),
  primary key (job_id, what)
);


-- ---------------------------------------------------------------------------
-- Access
-- ---------------------------------------------------------------------------

-- A transaction sees the rows of one organization (app.org). The policies after the loop are for
-- work across organizations (app.scope). See src/platform/db/db.ts.
do $$
declare t text;
begin
  foreach t in array array[
    'api_keys', 'limits', 'request_windows', 'call_slots', 'provider_keys', 'idempotency_keys',
    'jobs', 'job_labels', 'job_controls', 'search_states', 'search_inputs', 'secrets',
    'commands', 'suggestions', 'events', 'webhooks', 'job_traces',
    'candidates',
    'rollouts', 'slots', 'rewards',
    'model_calls', 'provider_calls', 'job_usage', 'daily_spend', 'stored_bytes',
    'job_budgets', 'cost_reservations',
    'sensor_frames',
    'graph_tasks',
    'snapshots', 'deployments', 'deployment_names', 'deployment_counters',
    'deployment_uses', 'deployment_versions', 'deployment_labels', 'deployment_changes',
    'deployment_canaries', 'canary_values',
    'deployment_failures', 'deployment_requests', 'episode_answers', 'deployment_feedback',
    'deployment_metrics', 'deployment_judgements', 'deployment_judges',
    'reviews',
    'schedules', 'schedule_runs',
    'datasets', 'dataset_rows',
    'deletions'
  ] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format($p$create policy org on %I using (org_id = current_setting('app.org', true))
      with check (org_id = current_setting('app.org', true))$p$, t);
  end loop;
end $$;

alter table orgs enable row level security;
alter table orgs force row level security;
create policy org on orgs
  using (id = current_setting('app.org', true))
  with check (id = current_setting('app.org', true));

-- Only the deletion of an organization deletes it and its snapshots.
create policy in_deletion on orgs as restrictive for delete using (deleted_at is not null);
create policy in_deletion on snapshots as restrictive for delete
  using (exists (select from orgs o where o.id = org_id and o.deleted_at is not null));

-- Authentication does not know the organization yet: it sees the one key with the presented hash.
create policy key_lookup on api_keys for select
  using (current_setting('app.scope', true) = 'auth'
         and encode(key_hash, 'hex') = current_setting('app.key_hash', true));
-- And the limits of that key and its organization.
create policy key_lookup on limits for select
  using (current_setting('app.scope', true) = 'auth'
         and exists (select from api_keys k where k.org_id = limits.org_id and limits.subject in (k.id, k.org_id)));

-- Entries of the audit log are final once they have a status; their age and the deletion of their
-- organization delete them.
alter table audit_log enable row level security;
alter table audit_log force row level security;
create policy org on audit_log for select
  using (current_setting('app.org', true) in (org_id, target_org));
create policy announce on audit_log for insert with check (org_id = current_setting('app.org', true));
create policy settle on audit_log for update
  using (org_id = current_setting('app.org', true) and status is null)
  with check (org_id = current_setting('app.org', true));
create policy withdraw on audit_log for delete
  using (org_id = current_setting('app.org', true) and status is null);
create policy in_deletion on audit_log for delete
  using (org_id = current_setting('app.org', true)
         and exists (select from orgs o where o.id = org_id and o.deleted_at is not null));
-- Their age limit, which only the retention sets. Without it no row is older.
create policy expire on audit_log for delete
  using (org_id = current_setting('app.org', true)
         and created_at < now() - make_interval(days => nullif(current_setting('app.audit_days', true), '')::int));

-- An operator lists the organizations, and sees no other table.
create policy operator on orgs for select using (current_setting('app.scope', true) = 'operator');

-- The reconciler and the retention work for all organizations. They see these columns only, through
-- functions that run as the owner of the tables.
do $$
declare t text;
begin
  foreach t in array array[
    'jobs', 'job_controls', 'events', 'slots', 'webhooks', 'job_traces', 'deployments', 'deployment_judges',
    'deployment_judgements', 'schedules', 'schedule_runs', 'deletions', 'orgs'
  ] loop
    execute format($p$create policy worker on %I for select
      using (current_setting('app.scope', true) = 'worker' and current_user <> 'ratchet_app')$p$, t);
  end loop;
end $$;

create function open_jobs(created_before timestamptz, most int)
  returns table (id text, org_id text, kind text, workflow_id text, workflow_started boolean, stuck_cause text)
  language sql stable security definer set search_path = public, pg_temp
as $$
  select id, org_id, kind, workflow_id, workflow_started, stuck->>'cause' from jobs
   where current_setting('app.scope', true) = 'worker'
     and status in ('running', 'paused') and created_at < created_before
   order by checked_at limit most
$$;

create function webhooks_in(state text, most int)
  returns table (org_id text, job_id text, run int, workflow_suffix text)
  language sql stable security definer set search_path = public, pg_temp
as $$
  select w.org_id, w.job_id, j.run, j.workflow_suffix from webhooks w join jobs j on j.id = w.job_id
   where current_setting('app.scope', true) = 'worker' and w.status = state
   order by random() limit most
$$;

-- Names with answers to judge for which no worker works.
create function due_judges(most int)
  returns table (org_id text, name text)
  language sql stable security definer set search_path = public, pg_temp
as $$
  select j.org_id, j.name from deployment_judges j
   where current_setting('app.scope', true) = 'worker' and (j.leased_until is null or j.leased_until < now())
     and exists (select from deployment_judgements a where a.org_id = j.org_id and a.name = j.name and a.due_at <= now())
   order by random() limit most
$$;

-- Schedules that Temporal does not have as they are, or that nobody has compared since a time.
create function unsynced_schedules(installation text, checked_before timestamptz, most int)
  returns table (org_id text, id text)
  language sql stable security definer set search_path = public, pg_temp
as $$
  select s.org_id, s.id from schedules s
   where current_setting('app.scope', true) = 'worker'
     and (s.deleted or s.checked_at < checked_before or s.synced is distinct from s.version || ' ' || installation)
   order by random() limit most
$$;

-- Runs whose job is to be made, and those whose job has ended.
create function open_schedule_runs(most int)
  returns table (org_id text, id text, schedule_id text, status text)
  language sql stable security definer set search_path = public, pg_temp
as $$
  select r.org_id, r.id, r.schedule_id, r.status from schedule_runs r left join jobs j on j.id = r.job_id
   where current_setting('app.scope', true) = 'worker'
     and case r.status when 'due' then r.leased_until is null or r.leased_until < now()
                       when 'started' then r.spent_usd is null and (j.id is null or j.completed_at is not null) end
   order by random() limit most
$$;

create function due_traces(most int)
  returns table (org_id text, job_id text)
  language sql stable security definer set search_path = public, pg_temp
as $$
  select org_id, job_id from job_traces
   where current_setting('app.scope', true) = 'worker' and due_at <= now() order by due_at limit most
$$;

-- Counts of open jobs, and the longest time since an event of those that run. Sessions that wait
-- for their callers' traffic have slots.
create function count_open_jobs()
  returns table (kind text, status text, count int, progress_age float8)
  language sql stable security definer set search_path = public, pg_temp
as $$
  select j.kind, j.status, count(*)::int,
         max(extract(epoch from now() - coalesce(e.ts, j.started_at, j.created_at)))
           filter (where j.status = 'running' and not exists (select from slots s where s.job_id = j.id))
    from jobs j left join job_controls c on c.job_id = j.id
    left join events e on e.job_id = c.job_id and e.seq = c.event_seq
   where current_setting('app.scope', true) = 'worker' and j.status in ('pending', 'running', 'paused')
   group by j.kind, j.status
$$;

create function count_stuck_jobs()
  returns table (cause text, count int)
  language sql stable security definer set search_path = public, pg_temp
as $$
  select stuck->>'cause', count(*)::int from jobs
   where current_setting('app.scope', true) = 'worker' and stuck is not null
   group by stuck->>'cause'
$$;

-- Who needs a job, which therefore cannot be deleted.
create function needs_of(job text) returns table (kind text, id text)
  language sql stable set search_path = public, pg_temp
as $$
  select 'deployment', d.id from deployments d join jobs s on s.id = d.id
   where s.source_job_id = job and d.deleted_at is null
  union all
  -- A gate's evaluation has the beginning of its deployment's id; see gateJobId.
  select 'deployment', d.id from deployments d
   where d.id between 'dep_' || substr(job, 5, 28) || '0000' and 'dep_' || substr(job, 5, 28) || 'ffff'
     and d.deleted_at is null
  union all
  -- So has a job of a migration or of a checkup; see childJobId.
  select m.kind, m.id from (values ('mig_'), ('chk_')) as parents(prefix)
    join jobs m on m.id between prefix || substr(job, 5, 28) || '0000' and prefix || substr(job, 5, 28) || 'ffff'
   where m.id <> job and not m.deleted
  union all
  select 'evaluation', e.id from jobs e where e.source_job_id = job and e.kind = 'evaluation' and not e.deleted
$$;

-- Jobs that closed before a time, the oldest first, and of which age has not removed `what` yet.
create function expired_jobs(what text, closed_before timestamptz, most int)
  returns table (org_id text, job_id text)
  language sql stable security definer set search_path = public, pg_temp
as $$
  (select j.org_id, j.id from jobs j
    where current_setting('app.scope', true) = 'worker' and what = 'traces'
      and j.completed_at < closed_before and not j.traces_expired and j.kind <> 'deployment'
    order by j.completed_at limit most)
  union all
  (select j.org_id, j.id from jobs j
    where current_setting('app.scope', true) = 'worker' and what = 'events'
      and j.completed_at < closed_before and not j.events_expired and j.kind <> 'deployment'
    order by j.completed_at limit most)
  union all
  (select j.org_id, j.id from jobs j
    where current_setting('app.scope', true) = 'worker' and what = 'job'
      and j.completed_at < closed_before and not j.deleted
      and not exists (select from needs_of(j.id))
      and not exists (select from deployments d
                       where d.id = j.id and (d.deleted_at is null or d.deleted_at >= closed_before))
    order by j.completed_at limit most)
$$;

create function due_deletions(most int)
  returns table (org_id text, job_id text, what text)
  language sql stable security definer set search_path = public, pg_temp
as $$
  select org_id, job_id, what from deletions
   where current_setting('app.scope', true) = 'worker' order by created_at limit most
$$;

create function live_orgs() returns setof text
  language sql stable security definer set search_path = public, pg_temp
as $$
  select id from orgs where current_setting('app.scope', true) = 'worker' and deleted_at is null
$$;

-- Organizations to delete, once no process takes their keys any more, which is 5 s later.
create function deleted_orgs() returns setof text
  language sql stable security definer set search_path = public, pg_temp
as $$
  select id from orgs
   where current_setting('app.scope', true) = 'worker' and deleted_at < now() - interval '10 s'
$$;
