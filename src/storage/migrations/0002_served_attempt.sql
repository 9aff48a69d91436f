-- The attempt of the rollout that was given this answer last. A rollout that is sent again is given each recorded answer
-- once: the next that its present attempt has not had. Kept here so that it holds across restarts and API replicas.
alter table model_calls add column served_attempt int not null default 0;
