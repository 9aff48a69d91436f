/** Whether a candidate may go live: its rewards against a minimum or the live candidate's. */
import { meanInterval, type Interval } from '../math/mean-interval.js';
import { mean } from '../math/rewards.js';
import { sampleOf, testPaired, type Comparison } from '../math/statistics.js';

/** The gate's condition; one of the two is set. */
export interface Threshold {
  minReward: number | null;
  minImprovement: number | null;
}

/** In the order of the seeds; null: the rollout failed, or the incumbent was not run. */
export interface GateRewards {
  candidate: readonly (number | null)[];
  incumbent: readonly (number | null)[] | null;
}

export interface GateVerdict {
  passed: boolean;
  candidateReward: number;
  /** Of the reward, for unseen seeds. */
  candidateInterval: Interval;
  /** null: the incumbent was not run, or none of its rollouts has a reward. */
  incumbentReward: number | null;
  incumbentInterval: Interval | null;
  comparison: (Comparison & { seeds: number }) | null;
  /** The rewards and the condition, as a sentence. */
  message: string;
}

const notMeasured = { incumbentReward: null, incumbentInterval: null };

/**
 * Favours the incumbent: a failed rollout of the candidate counts as the worst reward (at most 0),
 * and seeds without an incumbent reward are not compared. `min_improvement` applies to the lower
 * end of the interval of `testPaired`, `min_reward` to the mean.
 */
export function evaluateGate({ minReward, minImprovement }: Threshold, rewards: GateRewards): GateVerdict {
  const known = [...rewards.candidate, ...(rewards.incumbent ?? [])].filter((reward) => reward !== null);
  const worst = known.reduce((least, reward) => Math.min(least, reward), 0);
  const candidate = rewards.candidate.map((reward) => reward ?? worst);
  const failed = rewards.candidate.filter((reward) => reward === null).length;
  const { mean: candidateReward, ...candidateInterval } = meanInterval(sampleOf(candidate));
  const own = { candidateReward, candidateInterval };
  const on = `on ${candidate.length} seeds${failed > 0 ? ` (${failed} failed and count ${formatNumber(worst)})` : ''}`;
  if (minReward !== null) {
    const passed = candidateReward >= minReward;
    const message = `The candidate's mean reward is ${formatNumber(candidateReward)} ${on}; min_reward is ${formatNumber(minReward)}.`;
    return { passed, ...own, ...notMeasured, comparison: null, message };
  }
  const pairs = (rewards.incumbent ?? []).flatMap((reward, at) =>
    reward === null ? [] : [[candidate[at]!, reward] as const],
  );
  const [ours, theirs] = [pairs.map(([reward]) => reward), pairs.map(([, reward]) => reward)];
  const incumbentReward = mean(theirs);
  if (incumbentReward === null) {
    const says = `No comparison: no rollout of the live candidate has a reward. The candidate's mean reward is ${formatNumber(candidateReward)} ${on}.`;
    return { passed: false, ...own, ...notMeasured, comparison: null, message: says };
  }
  const comparison = { ...testPaired(ours, theirs), seeds: pairs.length };
  const { difference, low, high } = comparison;
  const isSingle = pairs.length === 1;
  const passed = !isSingle && low >= minImprovement!;
  const says =
    `The candidate's mean reward is ${formatNumber(candidateReward)} ${on}, against ${formatNumber(incumbentReward)}: better by ` +
    `${formatNumber(difference)} on ${pairs.length} common seeds${pairs.length < candidate.length ? `, where it has ${formatNumber(mean(ours)!)}` : ''}, 95 % interval ${formatBound(low)} to ${formatBound(high)}${isSingle ? ' (one seed shows nothing)' : ''}; its lower end ` +
    `${passed ? 'reaches' : 'does not reach'} min_improvement, ${formatNumber(minImprovement!)}.`;
  const { low: least, high: greatest } = meanInterval(sampleOf(theirs));
  const incumbent = { incumbentReward, incumbentInterval: { low: least, high: greatest } };
  return { passed, ...own, ...incumbent, comparison, message: says };
}

const formatNumber = (value: number): string => String(Number(value.toFixed(4)));
const formatBound = (value: number): string =>
  Math.abs(value) === Number.MAX_VALUE ? `${value < 0 ? '-' : '+'}infinity` : formatNumber(value);
