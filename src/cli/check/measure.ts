import type { Answer, Ratchet } from '../../client/index.js';
import { meanInterval } from '../../core/math/mean-interval.js';
import { changedSeeds, compareRepeated, type RepeatedRewards } from '../../core/math/repeated-pairs.js';
import { exceeds } from '../../core/math/rewards.js';
import { conclusionOf, rowsToDecide, sampleOf } from '../../core/math/statistics.js';
import { requireCompleted, startEvaluation } from '../commands/evaluate.js';
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
  comparison: CheckComparison | null;
  lost: LostRows;
}

/** Rows on which the versions differ have run twice on both, and count by their means. */
export interface CheckComparison extends Answer<'compareCandidates'> {
  /** Rows on which a version got two rewards. */
  flipped_rows: number[];
}

/** Evaluates both versions on the rows and with the scorer of the task. */
export async function measure(
  client: Ratchet,
  task: ReadTask,
  { head, base }: { head: Version; base: Version | null },
  labels: LabelOptions,
): Promise<Measurement> {
  const fields = await inOptions(() => taskFields(client, task));
  const evaluate = async ({ prompt, model }: Version, again?: number[]): Promise<Measured> => {
    const policy = policyOf(model ?? 'local', task.policy);
    const of = { ...fields, policy, ...(again && { seeds: again, max_failure_rate: 1 }) };
    const id = await inOptions(() => startEvaluation(client, of, task, prompt, labels));
    note(`Evaluation ${id}${again ? `: ${again.length} rows that changed, once more` : ''}`);
    const job = await client.evaluations.handle(id).wait();
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
  if (!before || !base) return { head: after, base: null, comparison: null, lost: { count: 0, worst: [] } };
  const first = { candidate: [...after.rewards.values()], incumbent: [...before.rewards.values()] };
  const seeds = [...after.rewards.keys()];
  const changed = changedSeeds(first).map((at) => seeds[at]!);
  const again = changed.length > 0 && (await Promise.all([evaluate(head, changed), evaluate(base, changed)]));
  const repeats = again && {
    candidate: [...again[0].rewards.values()],
    incumbent: [...again[1].rewards.values()],
  };
  const [comparison, lost] = await Promise.all([
    client.compare(before.job_id, after.job_id),
    lostRows(client, before, after),
  ]);
  const judged = judgeRows(comparison, seeds, { ...first, ...(repeats && { repeats }) });
  return { head: after, base: before, comparison: judged, lost };
}

/** The comparison with second rollouts; failed rows of the new version count. */
function judgeRows(
  comparison: Answer<'compareCandidates'>,
  seeds: readonly number[],
  rewards: RepeatedRewards,
): CheckComparison {
  const { ours: after, theirs: before, flipped, tested } = compareRepeated(rewards);
  const won = after.filter((now, at) => exceeds(now, before[at]!)).length;
  const lost = after.filter((now, at) => exceeds(before[at]!, now)).length;
  const sideOf = (rewards: readonly number[]) => {
    const { mean, low, high } = meanInterval(sampleOf(rewards));
    return { mean_reward: mean, mean_reward_interval: { low, high } };
  };
  return {
    ...comparison,
    a: { ...comparison.a, ...sideOf(before) },
    b: { ...comparison.b, ...sideOf(after) },
    seeds_compared: after.length,
    compared_seeds: [...seeds],
    difference: { mean: tested.difference, low: tested.low, high: tested.high },
    verdict: conclusionOf(tested),
    rows_needed: rowsToDecide(tested, after.length),
    won,
    lost,
    tied: after.length - won - lost,
    flipped_rows: flipped.map((at) => seeds[at]!),
  };
}
