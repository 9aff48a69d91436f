-- What a session's rollouts came to, one row for each candidate in a batch of a stage, written with the decision that follows from the batch.
-- `ordinal` is the first of its rollouts': a rollout is in one frame, so it names the frame, and frames are created in its order.
create table sensor_frames (
  job_id text not null references jobs (id) on delete cascade,
  ordinal int not null,
  org_id text not null,
  candidate_id text not null,
  stage text not null,
  generation int not null,
  -- the first hundred, in the order asked
  trace_ids text[] not null,
  -- a sensor's readings as they are answered; null: it has none
  rollout jsonb,
  reward jsonb,
  resource jsonb,
  created_at timestamptz not null default now(),
  primary key (job_id, ordinal)
);
alter table sensor_frames enable row level security;
alter table sensor_frames force row level security;
create policy org on sensor_frames using (org_id = current_setting('app.org', true))
  with check (org_id = current_setting('app.org', true));
grant select, insert, update, delete on sensor_frames to ratchet_app;
