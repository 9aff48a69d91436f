-- The tasks of a graph job, by their places in its data set. json and not jsonb: a model sees the fields in the order in which they were
-- given. `gold` is {"value": …}, so that a gold output may be null; null: the task has none. `rubric` is the task's own or the default one.
create table graph_tasks (
  job_id text not null references jobs (id) on delete cascade,
  place int not null,
  org_id text not null,
  task_id text not null,
  input json not null,
  gold json,
  rubric json,
  primary key (job_id, place)
);
alter table graph_tasks enable row level security;
alter table graph_tasks force row level security;
create policy org on graph_tasks using (org_id = current_setting('app.org', true))
  with check (org_id = current_setting('app.org', true));
grant select, insert, update, delete on graph_tasks to ratchet_app;

-- What a candidate of a graph job is, in the place of messages. json and not jsonb: lists are made of a step's inputs in their order.
alter table candidates add column graph json;

-- The judge's calls are told from the graph's own.
alter table model_calls drop constraint model_calls_purpose_check;
alter table model_calls add constraint model_calls_purpose_check
  check (purpose in ('rollout', 'caller', 'proposer', 'judge')) not valid;
