import type { z } from 'zod';
import type { evaluationResultsSchema, evaluationSchema } from '../contracts/evaluations/evaluation.js';
import { jobKinds } from '../core/jobs/kinds.js';
import { withService } from './connect.js';
import { FailedJob } from './errors.js';
import { agreementText, decimal, dollars, note, say, sayJson } from './output.js';
import { labelsOf, promptOf, readTask, taskFields, type LabelOptions, type TaskOptions } from './task.js';

export interface EvaluateOptions extends Omit<TaskOptions, 'budget' | 'proposer'>, LabelOptions {
  json?: boolean;
}

/** Scores a prompt on all rows. */
export async function evaluate({ json = false, name, tag, ...options }: EvaluateOptions): Promise<void> {
  const task = await readTask(options);
  const { messages } = await promptOf(task);
  await withService(async (api) => {
    const { proposer: _, ...fields } = await taskFields(api, task);
    const { job_id: id } = await api.call<{ job_id: string }>('POST', jobKinds.evaluation.path, {
      ...fields,
      candidate: { messages },
      ...labelsOf({ name, tag }),
    });
    const path = `${jobKinds.evaluation.path}/${id}`;
    note(`Evaluation ${id}`);
    const job = await api.ended<z.output<typeof evaluationSchema>>(path);
    if (json) sayJson(await api.call<z.output<typeof evaluationResultsSchema>>('GET', `${path}/results`));
    else {
      const { mean_reward: mean, num_successful: succeeded, num_failed: failed } = job.summary;
      say(`Mean reward ${decimal(mean)} on ${succeeded} rows${failed > 0 ? `; ${failed} failed` : ''}`);
      const agreement = agreementText(job.judge_agreement);
      if (agreement !== null) say(agreement);
      say(dollars(job.usage.total_cost_usd));
    }
    for (const warning of job.warnings) note(`Note: ${warning}`);
    if (job.status !== 'completed')
      throw new FailedJob(`The evaluation ${id} ${job.status}${job.error === null ? '.' : `: ${job.error}`}`);
  });
}
