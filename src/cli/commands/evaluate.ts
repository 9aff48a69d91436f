import type { z } from 'zod';
import type { evaluationResultsSchema, evaluationSchema } from '../../contracts/evaluations/evaluation.js';
import { jobKinds } from '../../core/jobs/kinds.js';
import type { Api } from '../service/api.js';
import { withService } from '../service/connect.js';
import { FailedJob } from '../service/errors.js';
import { agreementText, decimal, dollars, note, say, sayJson } from '../service/output.js';
import { noteJob } from '../service/pages.js';
import { inOptions } from '../task/faults.js';
import type { Prompt } from '../task/prompt-file.js';
import { evaluationRequest, type LabelOptions, type TaskRequest } from '../task/requests.js';
import { promptOf, readTask, taskFields, type TaskOptions } from '../task/task.js';
import { approve, requireWithin, sayPreview, type CostOptions } from './cost.js';

export interface EvaluateOptions extends Omit<TaskOptions, 'budget' | 'proposer'>, LabelOptions, CostOptions {
  json?: boolean;
}

const { path } = jobKinds.evaluation;

type Evaluation = z.output<typeof evaluationSchema>;

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
  await withService(async (api) => {
    const id = await inOptions(async () => startEvaluation(api, await taskFields(api, task), prompt, { name, tag }));
    noteJob(api, id);
    const job = await evaluationEnd(api, id, maxCost);
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
  fields: TaskRequest,
  prompt: Prompt,
  labels: LabelOptions,
): Promise<string> {
  return (await api.call<{ job_id: string }>('POST', path, evaluationRequest(fields, prompt, labels))).job_id;
}

/** Time between two reads of the cost. */
const costMs = 1_000;

/** The evaluation when it has ended; cancels one that has cost `maxCost` dollars. */
export async function evaluationEnd(api: Api, id: string, maxCost = Infinity): Promise<Evaluation> {
  const job = `${path}/${id}`;
  let readAt = performance.now();
  for await (const event of api.follow(`${job}/events`)) {
    void event;
    if (maxCost === Infinity || performance.now() - readAt < costMs) continue;
    readAt = performance.now();
    const { usage, status } = await api.call<Evaluation>('GET', job);
    if (status !== 'running' || (usage.total_cost_usd ?? 0) < maxCost) continue;
    note(`The evaluation has cost ${dollars(usage.total_cost_usd)}: --max-cost cancels it.`);
    await api.call('POST', `${job}/cancel`);
  }
  return api.call<Evaluation>('GET', job);
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
