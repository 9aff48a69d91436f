-- A claim changes no indexed column, so that Postgres updates the row in place (HOT) and touches no index: of five index
-- entries a rollout, claim and outcome each, the claim's are gone.
drop index rollouts_open;
create index rollouts_open on rollouts (job_id, ordinal) where completed_at is null;
drop index rollouts_awaiting;
create index rollouts_awaiting on rollouts (job_id, deadline_at) where deadline_at is not null and completed_at is null;
