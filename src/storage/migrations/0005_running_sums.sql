-- Reading a session's state must not cost a look at each of half a million rollouts and model calls. What a search has
-- folded in is summed up once, candidate by candidate: the rollouts whose ordinal is below jobs.rollouts_counted. The rest,
-- one batch at most, is summed when it is read; so sessions from before this migration are right too, and only slower.
alter table jobs add column rollouts_counted int not null default 0;
alter table candidates
  add column rollouts_counted int not null default 0,
  add column rewards_counted int not null default 0,
  add column reward_sum double precision not null default 0;
create index rollouts_resent on rollouts (job_id) where resent > 0;

-- Model calls are added up as they are recorded. A job has several rows, so that its calls do not wait for one another.
create table job_usage (
  job_id text not null references jobs (id) on delete cascade,
  org_id text not null,
  shard int not null,
  calls bigint not null,
  prompt_tokens bigint not null,
  completion_tokens bigint not null,
  cost_usd double precision not null,
  -- calls whose cost is not known, and calls whose cost comes from the price table
  unpriced bigint not null,
  from_table bigint not null,
  primary key (job_id, shard)
) with (fillfactor = 50);
alter table job_usage enable row level security;
alter table job_usage force row level security;
create policy org on job_usage using (org_id = current_setting('app.org', true))
  with check (org_id = current_setting('app.org', true));
grant select, insert, update, delete on job_usage to ratchet_app;

-- Calls that are in those sums; the others, from before this migration, are added when they are read.
alter table model_calls add column counted boolean not null default false;
create index model_calls_uncounted on model_calls (job_id) where not counted;
