import { decimal } from '../service/output.js';
import type { Measurement } from './measure.js';

export interface Gate {
  minReward?: number | undefined;
  minImprovement?: number | undefined;
}

/** Why the gate refuses; empty: it does not. Without bounds it refuses a worse prompt. */
export function refusalsOf({ minReward, minImprovement }: Gate, { head, base, comparison }: Measurement): string[] {
  const { mean_reward: reward, rows, rows_failed: failed } = head;
  const failedBefore = base?.rows_failed ?? 0;
  const refusals: string[] = [];
  if (minReward !== undefined && (reward === null || reward < minReward))
    refusals.push(`the mean reward ${decimal(reward)} is below ${minReward}`);
  if (minImprovement !== undefined && comparison && comparison.difference.low < minImprovement)
    refusals.push(
      `the improvement may be as low as ${decimal(comparison.difference.low)}, which is below ${minImprovement}`,
    );
  if (minReward === undefined && minImprovement === undefined && comparison?.verdict === 'worse')
    refusals.push('the prompt is worse than before');
  if (failed > failedBefore) refusals.push(`${failed} of ${rows} rows failed, before ${failedBefore}`);
  return refusals;
}
