-- A candidate's rollouts are read by themselves: what was it run on, and how did it fare. Evaluations have no candidates, and pay nothing.
create index rollouts_by_candidate on rollouts (candidate_id, ordinal) where source = 'service' and candidate_id is not null;
