import { firstReward, firstRewardName } from '../../../../src/core/comparisons/first-reward.js';
import type { Named } from '../first-reward.js';
import type { Deployment } from './types.js';

/** The reward of a version: of its gate, else that of its run; null: nothing was measured. */
export function rewardOf({ gate, source }: Pick<Deployment, 'gate' | 'source'>): Named | null {
  if (gate?.candidate && gate.candidate.reward !== null) {
    const { reward, interval } = gate.candidate;
    const name = `Reward on ${gate.seeds} ${gate.seeds === 1 ? 'row' : 'rows'} of its gate`;
    return { name, reward, interval, baseline: gate.incumbent?.reward ?? null };
  }
  const { heldout, reward: best_reward } = source;
  const comparison = heldout && {
    basis: 'heldout' as const,
    seeds: heldout.rows,
    baseline_reward: heldout.baseline_reward,
    winner_reward: heldout.reward,
    winner_interval: heldout.interval,
  };
  const first = firstReward({ comparison, best_reward });
  return first && { ...first, name: firstRewardName(first) };
}
