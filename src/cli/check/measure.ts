import type { Answer, Ratchet } from '../../client/index.js';
import { evaluationEnd, requireCompleted, startEvaluation } from '../commands/evaluate.js';
import { inOptions } from '../task/faults.js';
import { policyOf } from '../task/policy.js';
import type { LabelOptions } from '../task/requests.js';
import { note } from '../service/output.js';
import type { ReadTask } from '../task/task.js';
import { taskFields } from '../task/upload.js';
import { lostRows, type LostRows, type RowRewards } from './lost-rows.js';
import type { Version } from './versions.js';

/** What a version of the prompt reached. */
export interface Measured extends RowRewards {
  mean_reward: number | null;
  mean_reward_interval: { low: number; high: number } | null;
  rows: number;
  rows_failed: number;
}

export interface Measurement {
  head: Measured;
  /** null: the prompt is new. */
  base: Measured | null;
  comparison: Answer<'compareCandidates'> | null;
  lost: LostRows;
}

/** Evaluates both versions on the rows and with the scorer of the task. */
export async function measure(
  client: Ratchet,
  task: ReadTask,
  { head, base }: { head: Version; base: Version | null },
  labels: LabelOptions,
): Promise<Measurement> {
  const fields = await inOptions(() => taskFields(client, task));
  const evaluate = async ({ prompt, model }: Version): Promise<Measured> => {
    const policy = policyOf(model ?? 'local', task.policy);
    const id = await inOptions(() => startEvaluation(client, { ...fields, policy }, prompt, labels));
    note(`Evaluation ${id}`);
    const job = await evaluationEnd(client, id);
    for (const warning of job.warnings) note(`Note: ${warning}`);
    requireCompleted(id, job);
    const { summary, results } = await client.evaluations.handle(id).results();
    return {
      job_id: id,
      mean_reward: summary.mean_reward,
      mean_reward_interval: summary.mean_reward_interval,
      rows: summary.num_seeds,
      rows_failed: summary.num_failed,
      rewards: new Map(results.map(({ seed, reward }) => [seed, reward])),
    };
  };
  const [after, before] = await Promise.all([evaluate(head), base && evaluate(base)]);
  if (before === null) return { head: after, base: null, comparison: null, lost: { count: 0, worst: [] } };
  const [comparison, lost] = await Promise.all([
    client.compare(before.job_id, after.job_id),
    lostRows(client, before, after),
  ]);
  return { head: after, base: before, comparison, lost };
}
