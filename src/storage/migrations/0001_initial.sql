-- Everything a first deployment holds. Every table that belongs to an organization carries org_id and is under
-- row-level security: a transaction sees one organization (app.org), or, for the parts of the service that work
-- across organizations, what its scope allows (app.scope = 'worker' for the reconciler, 'auth' for the key look-up).

create table orgs (
  id text primary key,
  name text not null,
  created_at timestamptz not null default now()
);

create table api_keys (
  id text primary key,
  org_id text not null references orgs (id),
  name text not null,
  key_hash bytea not null unique,
  scopes text[] not null default '{}',
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz
);

-- One row a job of any kind. `spec` is the validated request without secrets; `projection` is what the workflow last
-- recorded of its own state, and what HTTP reads.
create table jobs (
  id text primary key,
  org_id text not null references orgs (id),
  kind text not null check (kind in ('session', 'evaluation', 'graph', 'deployment')),
  algorithm text,
  status text not null check (status in ('pending', 'running', 'paused', 'completed', 'failed', 'cancelled')),
  workflow_id text not null,
  -- The workflow's start is an intent until Temporal has confirmed it; the reconciler starts what was lost.
  workflow_started boolean not null default false,
  app_id text,
  correlation_id text,
  spec jsonb not null,
  projection jsonb not null default '{}',
  error_details jsonb,
  stopped_by text,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  completed_at timestamptz,
  checked_at timestamptz not null default now()
);
create index jobs_by_org on jobs (org_id, kind, created_at desc, id desc);
create index jobs_open on jobs (checked_at) where status in ('pending', 'running', 'paused');

-- The hot, narrow part of a job: what runners look at before each start and what serializes its events.
--   control: what runners may do. 'run' start rollouts; 'pause' start none, let those in flight finish; 'stop' abort.
--   lease_*: the one runner that may run this job's rollouts; lease_token fences every write of an older one.
create table job_controls (
  job_id text primary key references jobs (id) on delete cascade,
  org_id text not null,
  control text not null default 'run' check (control in ('run', 'pause', 'stop')),
  event_seq bigint not null default 0,
  rollout_idx bigint not null default 0,
  -- outcomes of the service's own rollouts so far, and how many in a row could not reach the container
  rollouts_succeeded int not null default 0,
  rollouts_failed int not null default 0,
  connect_failures int not null default 0,
  lease_token bigint not null default 0,
  lease_owner text,
  lease_expires_at timestamptz
) with (fillfactor = 50);

create table secrets (
  org_id text not null,
  job_id text not null references jobs (id) on delete cascade,
  name text not null,
  origin text not null,
  ciphertext bytea not null,
  primary key (job_id, name)
);

create table candidates (
  id text primary key,
  org_id text not null,
  job_id text not null references jobs (id) on delete cascade,
  lever_version int not null,
  generation int not null,
  parent_ids text[] not null default '{}',
  status text not null check (status in ('proposed', 'rejected', 'evaluated')),
  -- null until the baseline's prompt is known
  messages jsonb,
  reward double precision,
  rollout_count int not null default 0,
  detail jsonb not null default '{}',
  created_at timestamptz not null default now(),
  unique (job_id, lever_version)
);

-- One logical rollout: a candidate on a seed. `ordinal` is the order in which it was asked for; `idx` counts all
-- rollouts of the job, the caller's own included. `attempt` counts claims, and an outcome is only written by the
-- claim that holds the row.
create table rollouts (
  id text primary key,
  org_id text not null,
  job_id text not null references jobs (id) on delete cascade,
  idx bigint not null,
  source text not null check (source in ('service', 'caller')),
  ordinal int,
  stage text,
  generation int,
  seed bigint,
  candidate_id text,
  status text not null check (status in ('queued', 'running', 'awaiting_reward', 'succeeded', 'failed', 'cancelled', 'open')),
  attempt int not null default 0,
  lease_token bigint not null default 0,
  resent int not null default 0,
  deadline_at timestamptz,
  reward double precision,
  feedback text,
  details jsonb,
  -- {code, message, infrastructure}
  error jsonb,
  latency_ms double precision,
  prompt_tokens bigint,
  completion_tokens bigint,
  cost_usd double precision,
  cost_source text,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  completed_at timestamptz,
  unique (job_id, idx),
  unique (job_id, ordinal)
) with (fillfactor = 80);
create index rollouts_open on rollouts (job_id, ordinal) where status in ('queued', 'running');
create index rollouts_awaiting on rollouts (job_id, deadline_at) where status = 'awaiting_reward';

-- Every model call that passed the proxy, and the proposer's own.
create table model_calls (
  id text primary key,
  org_id text not null,
  job_id text not null references jobs (id) on delete cascade,
  purpose text not null check (purpose in ('rollout', 'caller', 'proposer')),
  rollout_id text,
  correlation_id text,
  candidate_id text,
  -- The n-th call with this very request within its rollout: a rollout that is sent again gets the same answers back.
  request_hash bytea not null,
  occurrence int not null default 0,
  -- The attempt of the rollout that was given this answer last. A rollout that is sent again is given each recorded
  -- answer once: the next that its present attempt has not had. Here, so that it holds across restarts and API replicas.
  served_attempt int not null default 0,
  provider text not null,
  model text not null,
  request jsonb not null,
  response jsonb,
  stream boolean not null default false,
  http_status int not null,
  prompt_tokens bigint,
  completion_tokens bigint,
  cost_usd double precision,
  cost_source text not null default 'unknown',
  latency_ms double precision,
  created_at timestamptz not null default now()
);
create index model_calls_by_rollout on model_calls (job_id, rollout_id, created_at);
create unique index model_calls_once on model_calls (rollout_id, request_hash, occurrence)
  where purpose <> 'caller' and http_status < 300;

-- The inbox of rewards that callers report. One reward a rollout: the same again is a no-op, another is refused.
create table rewards (
  id text primary key,
  org_id text not null,
  job_id text not null references jobs (id) on delete cascade,
  rollout_id text,
  correlation_id text,
  candidate_id text,
  reward double precision,
  body jsonb not null,
  counted boolean not null,
  created_at timestamptz not null default now()
);
create unique index rewards_once on rewards (job_id, rollout_id) where rollout_id is not null;

-- A command sent by signal, and what the workflow answered.
create table commands (
  id text primary key,
  org_id text not null,
  job_id text not null references jobs (id) on delete cascade,
  kind text not null check (kind in ('pause', 'resume', 'cancel', 'stop')),
  outcome text check (outcome in ('accepted', 'refused')),
  status_after text,
  created_at timestamptz not null default now(),
  settled_at timestamptz
);

create table events (
  job_id text not null references jobs (id) on delete cascade,
  seq bigint not null,
  org_id text not null,
  key text not null,
  type text not null,
  message text not null,
  data jsonb not null,
  ts timestamptz not null default now(),
  primary key (job_id, seq),
  unique (job_id, key)
);

create table idempotency_keys (
  org_id text not null,
  key text not null,
  fingerprint bytea not null,
  status int,
  response jsonb,
  created_at timestamptz not null default now(),
  primary key (org_id, key)
);
create index idempotency_keys_by_age on idempotency_keys (org_id, created_at);

do $$
declare t text;
begin
  foreach t in array array['jobs', 'job_controls', 'secrets', 'candidates', 'rollouts', 'model_calls', 'rewards',
                           'commands', 'events', 'idempotency_keys', 'api_keys'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format($p$create policy org on %I using (org_id = current_setting('app.org', true))
      with check (org_id = current_setting('app.org', true))$p$, t);
    execute format('grant select, insert, update, delete on %I to ratchet_app', t);
  end loop;
end $$;
alter table orgs enable row level security;
alter table orgs force row level security;
create policy org on orgs using (id = current_setting('app.org', true)) with check (id = current_setting('app.org', true));
grant select, insert on orgs to ratchet_app;

-- The key look-up comes before the organization is known: it sees the one row whose hash was presented, nothing else.
create policy key_lookup on api_keys for select
  using (current_setting('app.scope', true) = 'auth' and encode(key_hash, 'hex') = current_setting('app.key_hash', true));
-- The reconciler works across organizations, on the list of open jobs alone.
create policy worker on jobs for select using (current_setting('app.scope', true) = 'worker');
