/** The id of the task that a rollout `r` of a graph job runs, as a column; null: another job. */
export const taskIdOf = '(select t.task_id from graph_tasks t where t.job_id = r.job_id and t.task_index = r.seed)';
