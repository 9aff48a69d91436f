-- What a caller-driven session wants run: a candidate, on a seed where the caller's calls name theirs. A call of live traffic claims a slot
-- under its correlation id; the reward of that rollout answers it, and it is gone. After the deadline another call may claim it, too:
-- whoever's reward comes first answers it.
create table slots (
  job_id text not null references jobs (id) on delete cascade,
  ordinal int not null,
  org_id text not null,
  candidate_id text not null,
  seed bigint not null,
  stage text not null,
  generation int not null,
  -- until when whoever has claimed it has it alone; null: nobody has
  deadline_at timestamptz,
  primary key (job_id, ordinal)
) with (fillfactor = 50);

-- Of a live rollout: the slot that it has claimed.
alter table rollouts add column slot int;

alter table job_controls
  -- How live calls are compared, as the first of them decided: by the seeds that they name, or without.
  add column traffic text check (traffic in ('paired', 'unpaired')),
  -- Since when the workflow is to be told that all it wanted is answered; null: it knows.
  add column wake_at timestamptz;

alter table slots enable row level security;
alter table slots force row level security;
create policy org on slots using (org_id = current_setting('app.org', true))
  with check (org_id = current_setting('app.org', true));
grant select, insert, update, delete on slots to ratchet_app;

-- The rollouts of the search are those with an ordinal: of live traffic, too.
drop index rollouts_by_candidate;
create index rollouts_by_candidate on rollouts (candidate_id, ordinal) where ordinal is not null and candidate_id is not null;
