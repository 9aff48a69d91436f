-- How many rollouts a job may have in flight at present; null: as many as its max_concurrent. Whoever runs its rollouts next goes on from there.
alter table job_controls
  add column concurrency int,
  add column concurrency_because text,
  -- how often it was lowered, of which the first few are told as events
  add column concurrency_lowered int not null default 0;
