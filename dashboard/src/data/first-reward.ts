/** The reward that a page shows first. */
import { firstReward, firstRewardName } from '../../../src/core/comparisons/first-reward.js';
import { unitOfView } from '../../../src/core/jobs/unit.js';
import { numberOf, type Results, type SearchJob } from './search.js';

interface Interval {
  low: number;
  high: number;
}

/** A reward with its name, beside what it is measured against. */
export interface Named {
  name: string;
  reward: number;
  interval: Interval | null;
  /** null: not known, or none. */
  baseline: number | null;
}

/** Evaluation rows of a search; null: not known. */
const seenOf = ({ split }: SearchJob): number | null => split?.evaluation.length ?? null;

/** Of the winner, else of the best candidate so far; null: nothing is measured. */
export function firstOfSearch(job: SearchJob, results: Results | undefined): Named | null {
  const { best_reward, best_reward_interval } = job;
  const baseline_reward = results?.history.find(({ generation }) => generation === 0)?.best_reward ?? null;
  const known = { comparison: results?.comparison ?? null, best_reward, best_reward_interval, baseline_reward };
  const first = firstReward(known, seenOf(job));
  return first && { ...first, name: firstRewardName(first, unitOfView(job)) };
}

/** What stands behind it: the estimate, or what may become the best; null: nothing else. */
export function secondOfSearch(job: SearchJob, results: Results | undefined): Omit<Named, 'baseline'> | null {
  const { best_reward: best, best_reward_interval: interval, estimated_reward: promising } = job;
  if (results?.comparison?.basis === 'heldout')
    return best === null ? null : { ...estimate(job), reward: best, interval };
  if (promising === null || promising === best || results?.comparison) return null;
  return { name: 'Most promising so far', reward: promising, interval: job.estimated_reward_interval };
}

const estimate = (job: SearchJob) => ({
  name: firstRewardName({ isHeldOut: false, rows: seenOf(job) }, unitOfView(job)),
});

/** The name of the rewards on which a search selects. */
export const estimateName = (job: SearchJob): string => estimate(job).name;

/** The reward of a candidate on held-out rows; null: it has none. */
export function heldoutOf(
  results: Pick<Results, 'comparison' | 'best_candidate'> | undefined,
  candidateId: string,
): Omit<Named, 'baseline'> | null {
  const { comparison, best_candidate: best } = results ?? {};
  if (comparison?.basis !== 'heldout') return null;
  const name = firstRewardName({ isHeldOut: true, rows: comparison.seeds });
  if (candidateId === best?.candidate_id)
    return { name, reward: comparison.winner_reward, interval: comparison.winner_interval };
  return numberOf(candidateId) === '#0'
    ? { name, reward: comparison.baseline_reward, interval: comparison.baseline_interval }
    : null;
}
