import type { Answer, Ratchet } from '../../client/index.js';
import { withService } from '../service/connect.js';
import { sayDiagnosis } from '../service/diagnosis.js';
import { FailedJob } from '../service/errors.js';
import { agreementText, decimal, dollars, note, say, sayJson, unseenText } from '../service/output.js';
import { noteJob } from '../service/pages.js';
import { inOptions } from '../task/faults.js';
import type { Prompt } from '../task/prompt-file.js';
import { evaluationRequest, type EvaluationOptions, type LabelOptions, type TaskRequest } from '../task/requests.js';
import { promptOf, readTask, type ReadTask, type TaskOptions } from '../task/task.js';
import { taskFields } from '../task/upload.js';
import { approve, requireWithin, sayPreview, type CostOptions } from './cost.js';

export interface EvaluateOptions extends Omit<TaskOptions, 'budget' | 'proposer'>, LabelOptions, CostOptions {
  json?: boolean;
}

type Evaluation = Answer<'getEvaluation'>;

/** Scores a prompt on all rows. */
export async function evaluate(given: EvaluateOptions): Promise<void> {
  const { json = false, name, tag, maxCost, dryRun = false, yes = false, ...options } = given;
  const task = await readTask(options);
  const prompt = await promptOf(task);
  const { previewEvaluation } = await import('../task/preview.js');
  const preview = await previewEvaluation(task, prompt, { name, tag });
  if (maxCost !== undefined) requireWithin(preview.estimate, maxCost);
  if (dryRun) return sayPreview(preview, json);
  await approve(preview, { yes });
  await withService(async (client) => {
    const options = { name, tag, maxCost };
    const id = await inOptions(async () =>
      startEvaluation(client, await taskFields(client, task), task, prompt, options),
    );
    noteJob(client, id);
    const job = await client.evaluations.handle(id).wait();
    if (json) sayJson(await client.evaluations.handle(id).results());
    else {
      const { mean_reward: mean, mean_reward_interval: interval, ...counts } = job.summary;
      const { num_successful: succeeded, num_failed: failed } = counts;
      const rows = `${succeeded} rows${failed > 0 ? `; ${failed} failed` : ''}`;
      say(`Mean reward ${decimal(mean)} on ${rows}${unseenText(interval)}`);
      const agreement = agreementText(job.judge_agreement);
      if (agreement !== null) say(agreement);
      say(dollars(job.usage.total_cost_usd));
      sayDiagnosis(job.diagnosis, id);
    }
    for (const warning of job.warnings) note(`Note: ${warning}`);
    requireCompleted(id, job);
  });
}

/** Starts an evaluation of a prompt; returns its id. */
export async function startEvaluation(
  client: Ratchet,
  fields: TaskRequest,
  task: ReadTask,
  prompt: Prompt,
  options: EvaluationOptions,
): Promise<string> {
  return (await client.createEvaluation(evaluationRequest(fields, task, prompt, options))).id;
}

/** The result at an index of the list of results, with its texts; undefined: there is none. */
export async function evaluationTexts(client: Ratchet, id: string, offset: number) {
  const query = { include: 'outputs', limit: 1, offset } as const;
  return (await client.request('getEvaluationResults', { path: { job_id: id }, query })).results[0];
}

/** Fails with the error of an evaluation that did not complete. */
export function requireCompleted(id: string, { status, error }: Evaluation): void {
  if (status !== 'completed')
    throw new FailedJob(`The evaluation ${id} ${status}${error === null ? '.' : `: ${error}`}`);
}
