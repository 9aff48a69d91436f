import type { z } from 'zod';
import type { comparisonSchema } from '../../contracts/comparison.js';
import type { Api } from '../service/api.js';
import { evaluationEnd, evaluationResults, requireCompleted, startEvaluation } from '../commands/evaluate.js';
import { inOptions } from '../task/faults.js';
import { policyOf } from '../task/policy.js';
import type { LabelOptions } from '../task/requests.js';
import { note } from '../service/output.js';
import { taskFields, type ReadTask } from '../task/task.js';
import { lostRows, type LostRows } from './lost-rows.js';
import type { Version } from './versions.js';

/** What a version of the prompt reached. */
export interface Measured {
  job_id: string;
  mean_reward: number | null;
  rows: number;
  rows_failed: number;
  rewards: ReadonlyMap<number, number | null>;
}

export interface Measurement {
  head: Measured;
  /** null: the prompt is new. */
  base: Measured | null;
  comparison: z.output<typeof comparisonSchema> | null;
  lost: LostRows;
}

/** Evaluates both versions on the rows and with the scorer of the task. */
export async function measure(
  api: Api,
  task: ReadTask,
  { head, base }: { head: Version; base: Version | null },
  labels: LabelOptions,
): Promise<Measurement> {
  const fields = await inOptions(() => taskFields(api, task));
  const evaluate = async ({ prompt, model }: Version): Promise<Measured> => {
    const policy = policyOf(model ?? 'local', task.policy);
    const id = await inOptions(() => startEvaluation(api, { ...fields, policy }, prompt, labels));
    note(`Evaluation ${id}`);
    const job = await evaluationEnd(api, id);
    for (const warning of job.warnings) note(`Note: ${warning}`);
    requireCompleted(id, job);
    const { summary, results } = await evaluationResults(api, id);
    return {
      job_id: id,
      mean_reward: summary.mean_reward,
      rows: summary.num_seeds,
      rows_failed: summary.num_failed,
      rewards: new Map(results.map(({ seed, reward }) => [seed, reward])),
    };
  };
  const [after, before] = await Promise.all([evaluate(head), base && evaluate(base)]);
  if (before === null) return { head: after, base: null, comparison: null, lost: { count: 0, worst: [] } };
  const query = new URLSearchParams({ a: before.job_id, b: after.job_id }).toString();
  const [comparison, lost] = await Promise.all([
    api.call<z.output<typeof comparisonSchema>>('GET', `/api/v1/compare?${query}`),
    lostRows(api, before, after),
  ]);
  return { head: after, base: before, comparison, lost };
}
