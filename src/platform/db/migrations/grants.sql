-- What ratchet_app may do, which owns nothing and cannot bypass row-level security. A migration runs
-- this again after a change of the schema, and where the grants are missing: after a restore.
grant select on schema_migrations to ratchet_app;
grant select, insert, update, delete on
  api_keys, limits, request_windows, call_slots, provider_keys, audit_log, idempotency_keys,
  jobs, job_labels, job_controls, search_states, search_inputs, secrets,
  commands, suggestions, events, webhooks, job_traces,
  candidates,
  rollouts, slots, rewards,
  model_calls, provider_calls, job_usage, daily_spend, stored_bytes,
  job_budgets, cost_reservations,
  sensor_frames,
  graph_tasks,
  deployments, deployment_names, deployment_counters,
  deployment_canaries, canary_values, deployment_uses, deployment_versions, deployment_labels, deployment_changes,
  deployment_failures, deployment_requests, episode_answers, deployment_feedback, deployment_metrics,
  deployment_judgements, deployment_judges,
  reviews,
  schedules, schedule_runs,
  datasets, dataset_rows,
  deletions
to ratchet_app;
grant select, update on write_probe to ratchet_app;
grant select, insert, update, delete on worker_reports to ratchet_app;
grant select, insert, update (deleted_at, webhook_secrets, webhook_grace_until), delete on orgs to ratchet_app;
grant select, insert, delete on snapshots to ratchet_app;
grant select, insert on secret_key_fingerprint to ratchet_app;
grant select, insert, update on installation to ratchet_app;

revoke execute on function open_jobs, webhooks_in, due_judges, due_traces, unsynced_schedules, open_schedule_runs,
  count_open_jobs, count_stuck_jobs, expired_jobs, due_deletions, live_orgs, deleted_orgs from public;
grant execute on function open_jobs, webhooks_in, due_judges, due_traces, unsynced_schedules, open_schedule_runs,
  count_open_jobs, count_stuck_jobs, expired_jobs, due_deletions, live_orgs, deleted_orgs to ratchet_app;
