-- The latest decision of a job's search that is recorded: decisions are written by the work that follows them, and one that was overtaken
-- (its worker was cut off, and came back) must not be written over a later one.
alter table job_controls add column step int;
