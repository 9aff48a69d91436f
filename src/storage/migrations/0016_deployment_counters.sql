-- What a deployment's requests came to: what one process has counted is one row, written by it alone with its totals, which only grow. So a write
-- that is repeated, or comes late, changes nothing, and processes never wait for one another. The deployment's are the sums over its rows.
-- A row is written over again and again, hence the room left beside it.
create table deployment_counters (
  deployment_id text not null,
  -- made by the process when it first counts for the deployment
  counter_id text not null,
  org_id text not null,
  requests bigint not null,
  errors bigint not null,
  aborted bigint not null,
  prompt_tokens bigint not null,
  completion_tokens bigint not null,
  -- of the requests whose cost is known
  cost_usd float8 not null,
  without_cost bigint not null,
  -- of those that were answered: how many in each bucket of src/core/latency-sketch.ts
  latencies jsonb not null,
  updated_at timestamptz not null default now(),
  primary key (deployment_id, counter_id)
) with (fillfactor = 50);
alter table deployment_counters enable row level security;
alter table deployment_counters force row level security;
create policy org on deployment_counters using (org_id = current_setting('app.org', true))
  with check (org_id = current_setting('app.org', true));
grant select, insert, update, delete on deployment_counters to ratchet_app;
