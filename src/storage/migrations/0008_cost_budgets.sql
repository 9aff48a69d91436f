-- What a session with budget.max_cost_usd may spend, has spent, and has promised to calls that are under way. numeric, so that what is
-- taken off is exactly what was put on.
create table job_budgets (
  job_id text primary key references jobs (id) on delete cascade,
  org_id text not null,
  max_usd numeric not null,
  spent_usd numeric not null default 0,
  reserved_usd numeric not null default 0,
  -- 80 % are spent, and that was said
  warned_at timestamptz,
  -- a call was refused: from then on all are
  exhausted_at timestamptz
) with (fillfactor = 50);

-- A call that is under way, with the most that it can cost; `presence` is the process that makes it (Notifications.presence). A refused
-- one has cost nothing and stays: its rollout's outcome says nothing of the candidate.
create table cost_reservations (
  id text primary key,
  job_id text not null references jobs (id) on delete cascade,
  org_id text not null,
  rollout_id text,
  amount_usd numeric not null,
  presence int not null,
  refused boolean not null default false,
  created_at timestamptz not null default clock_timestamp()
);
create index cost_reservations_by_job on cost_reservations (job_id);

do $$
declare t text;
begin
  foreach t in array array['job_budgets', 'cost_reservations'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format($p$create policy org on %I using (org_id = current_setting('app.org', true))
      with check (org_id = current_setting('app.org', true))$p$, t);
    execute format('grant select, insert, update, delete on %I to ratchet_app', t);
  end loop;
end $$;
