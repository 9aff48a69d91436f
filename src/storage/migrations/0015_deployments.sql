-- What deployments serve, by the hash of what it is. json and not jsonb: a graph's inputs keep their order. Written once: nobody may
-- change or remove one.
create table snapshots (
  org_id text not null,
  id text not null,
  content json not null,
  created_at timestamptz not null default now(),
  primary key (org_id, id)
);

-- What a job of the kind deployment has beside its row.
create table deployments (
  id text primary key references jobs (id) on delete cascade,
  org_id text not null,
  name text not null,
  -- null until it is frozen
  snapshot_id text,
  -- what its gate has found; null: it has none, or that is not known yet
  gate jsonb,
  -- when it took its name, and from which deployment; null: it has not, and from none
  live_at timestamptz,
  previous_id text,
  deleted_at timestamptz,
  foreign key (org_id, snapshot_id) references snapshots (org_id, id)
);

-- Which deployment took a name last, or has it back; one that is deleted serves nothing.
create table deployment_names (
  org_id text not null,
  name text not null,
  deployment_id text not null references deployments (id),
  primary key (org_id, name)
);

do $$
declare t text;
begin
  foreach t in array array['snapshots', 'deployments', 'deployment_names'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format(
      'create policy org on %I using (org_id = current_setting(''app.org'', true))
         with check (org_id = current_setting(''app.org'', true))', t);
  end loop;
end $$;
grant select, insert on snapshots to ratchet_app;
grant select, insert, update, delete on deployments, deployment_names to ratchet_app;
