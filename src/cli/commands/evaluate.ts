import type { z } from 'zod';
import type { evaluationResultsSchema, evaluationSchema } from '../../contracts/evaluations/evaluation.js';
import { jobKinds } from '../../core/jobs/kinds.js';
import type { Api } from '../service/api.js';
import { withService } from '../service/connect.js';
import { FailedJob } from '../service/errors.js';
import { agreementText, decimal, dollars, note, say, sayJson } from '../service/output.js';
import { noteJob } from '../service/pages.js';
import type { Prompt } from '../task/prompt-file.js';
import { labelsOf, promptOf, readTask, taskFields, type LabelOptions, type TaskOptions } from '../task/task.js';

export interface EvaluateOptions extends Omit<TaskOptions, 'budget' | 'proposer'>, LabelOptions {
  json?: boolean;
}

const { path } = jobKinds.evaluation;

type Evaluation = z.output<typeof evaluationSchema>;

/** Scores a prompt on all rows. */
export async function evaluate({ json = false, name, tag, ...options }: EvaluateOptions): Promise<void> {
  const task = await readTask(options);
  const prompt = await promptOf(task);
  await withService(async (api) => {
    const id = await startEvaluation(api, await taskFields(api, task), prompt, { name, tag });
    noteJob(api, id);
    const job = await evaluationEnd(api, id);
    if (json) sayJson(await evaluationResults(api, id));
    else {
      const { mean_reward: mean, num_successful: succeeded, num_failed: failed } = job.summary;
      say(`Mean reward ${decimal(mean)} on ${succeeded} rows${failed > 0 ? `; ${failed} failed` : ''}`);
      const agreement = agreementText(job.judge_agreement);
      if (agreement !== null) say(agreement);
      say(dollars(job.usage.total_cost_usd));
    }
    for (const warning of job.warnings) note(`Note: ${warning}`);
    requireCompleted(id, job);
  });
}

/** Starts an evaluation of a prompt; returns its id. */
export async function startEvaluation(
  api: Api,
  { proposer: _, ...fields }: Awaited<ReturnType<typeof taskFields>>,
  { messages }: Prompt,
  labels: LabelOptions,
): Promise<string> {
  const body = { ...fields, candidate: { messages }, ...labelsOf(labels) };
  return (await api.call<{ job_id: string }>('POST', path, body)).job_id;
}

/** The evaluation when it has ended. */
export function evaluationEnd(api: Api, id: string): Promise<Evaluation> {
  return api.ended<Evaluation>(`${path}/${id}`);
}

export function evaluationResults(api: Api, id: string) {
  return api.call<z.output<typeof evaluationResultsSchema>>('GET', `${path}/${id}/results`);
}

/** The result at a place of the list of results, with its texts. */
export async function evaluationTexts(api: Api, id: string, offset: number) {
  const query = new URLSearchParams({ include: 'outputs', limit: '1', offset: String(offset) }).toString();
  const page = await api.call<z.output<typeof evaluationResultsSchema>>('GET', `${path}/${id}/results?${query}`);
  return page.results[0]!;
}

/** Fails with the error of an evaluation that did not complete. */
export function requireCompleted(id: string, { status, error }: Evaluation): void {
  if (status !== 'completed')
    throw new FailedJob(`The evaluation ${id} ${status}${error === null ? '.' : `: ${error}`}`);
}
