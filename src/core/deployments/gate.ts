/** Whether a candidate may go live: its rewards against a minimum or the live candidate's. */
import { meanInterval, type Interval } from '../math/mean-interval.js';
import { mean } from '../math/rewards.js';
import { firstFew } from '../../util/first-few.js';
import { compareRepeated, type RepeatedRewards } from '../math/repeated-pairs.js';
import { counted } from '../math/words.js';
import type { Unit } from '../jobs/unit.js';
import { rowsToDecide, sampleOf, type Tested } from '../math/statistics.js';

/** The gate's condition; one of the two is set. */
export interface Threshold {
  minReward: number | null;
  minImprovement: number | null;
}

/** Of the seeds of a gate; `incumbent` null: it was not run. */
export type GateRewards = RepeatedRewards & { seeds: readonly number[] };

export interface GateVerdict {
  passed: boolean;
  candidateReward: number;
  /** Of the reward, for unseen seeds. */
  candidateInterval: Interval;
  /** null: the incumbent was not run, or none of its rollouts has a reward. */
  incumbentReward: number | null;
  incumbentInterval: Interval | null;
  comparison: (Tested & { seeds: number }) | null;
  /** On which a side has another reward in its second rollout. */
  flippedSeeds: number[];
  /** The rewards and the condition, as a sentence. */
  message: string;
}

const notMeasured = { incumbentReward: null, incumbentInterval: null, comparison: null, flippedSeeds: [] };

/**
 * Favours the incumbent: a failed rollout of the candidate counts as the worst reward (at most 0),
 * and seeds without an incumbent reward are not compared. `min_improvement` applies to the lower
 * end of the interval of `testPaired`, `min_reward` to the mean. Two rollouts of a seed count as
 * one, with their mean. `unit`: what the gate runs on.
 */
export function evaluateGate({ minReward, minImprovement }: Threshold, measured: GateRewards, unit: Unit): GateVerdict {
  const { candidate, worst, flipped, ours, theirs, tested } = compareRepeated(measured);
  const flippedSeeds = flipped.map((at) => measured.seeds[at]!);
  const failed = measured.candidate.filter((reward) => reward === null).length;
  const { mean: candidateReward, ...candidateInterval } = meanInterval(sampleOf(candidate));
  const own = { candidateReward, candidateInterval };
  const on = `on ${counted(candidate.length, unit)}${failed > 0 ? ` (${failed} failed and count ${formatNumber(worst)})` : ''}`;
  if (minReward !== null) {
    const passed = candidateReward >= minReward;
    const message = `The candidate's mean reward is ${formatNumber(candidateReward)} ${on}; min_reward is ${formatNumber(minReward)}.`;
    return { passed, ...own, ...notMeasured, message };
  }
  const incumbentReward = mean(theirs);
  if (incumbentReward === null) {
    const says = `No comparison: no answer of the live candidate has a reward. The candidate's mean reward is ${formatNumber(candidateReward)} ${on}.`;
    return { passed: false, ...own, ...notMeasured, message: says };
  }
  const rowsNeeded = rowsToDecide(tested, ours.length);
  const comparison = { ...tested, rowsNeeded, seeds: ours.length };
  const { difference, low, high } = comparison;
  const isSingle = ours.length === 1;
  const passed = !isSingle && low >= minImprovement!;
  const says =
    `The candidate's mean reward is ${formatNumber(candidateReward)} ${on}, against ${formatNumber(incumbentReward)}: better by ` +
    `${formatNumber(difference)} on ${counted(ours.length, `common ${unit}`)}${ours.length < candidate.length ? `, where it has ${formatNumber(mean(ours)!)}` : ''}, 95 % interval ${formatBound(low)} to ${formatBound(high)}${isSingle ? ` (one ${unit} shows nothing)` : ''}; its lower end ` +
    `${passed ? 'reaches' : 'does not reach'} min_improvement, ${formatNumber(minImprovement!)}.${rowsNeeded === null || difference < 0 ? '' : ` About ${counted(rowsNeeded, unit)} would show such a gain.`}${flippedWords(flippedSeeds, unit)}`;
  const { low: least, high: greatest } = meanInterval(sampleOf(theirs));
  const incumbent = { incumbentReward, incumbentInterval: { low: least, high: greatest } };
  return { passed, ...own, ...incumbent, comparison, flippedSeeds, message: says };
}

const mostNamed = 10;

function flippedWords(seeds: readonly number[], unit: Unit): string {
  if (seeds.length === 0) return '';
  const on = seeds.length === 1 ? unit : `${counted(seeds.length, unit)}:`;
  return ` The same prompt got two rewards on ${on} ${firstFew(seeds, mostNamed)}.`;
}

const formatNumber = (value: number): string => String(Number(value.toFixed(4)));
const formatBound = (value: number): string =>
  Math.abs(value) === Number.MAX_VALUE ? `${value < 0 ? '-' : '+'}infinity` : formatNumber(value);
