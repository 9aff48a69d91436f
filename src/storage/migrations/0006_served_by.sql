-- The API process that gave the answer to the rollout's present attempt (Notifications.presence). If it died on the way, whether
-- the answer arrived is not known, and a retry is given the answer rather than made to buy it again.
alter table model_calls add column served_by int;
