/** Whether what is live answers as well as at its release, and whether another prompt is better. */
import { meanInterval, type Interval } from '../math/mean-interval.js';
import { compareRepeated, type RepeatedRewards } from '../math/repeated-pairs.js';
import {
  compareUnpaired,
  conclusionOf,
  pairedP,
  sampleOf,
  testPaired,
  unpairedP,
  type Comparison,
  type Conclusion,
} from '../math/statistics.js';
import { lostRows, type WorseRow } from '../migrations/verdict.js';

/** `first`: there was nothing to compare with. */
export type CheckVerdict = Conclusion | 'same' | 'first';

/** A mean reward with its 95 % interval for unseen rows. */
export interface Measured {
  reward: number;
  interval: Interval;
}

/** An evaluation of the live prompt, compared with its baseline. */
export interface Checked extends Measured {
  verdict: CheckVerdict;
  rows: number;
  /** Now minus the baseline; null: there is none. */
  compared: (Comparison & { pValue: number; baseline: Measured }) | null;
  /** Rows with a lower reward than the baseline, at most 50 of them by name. */
  worseCount: number;
  worse: WorseRow[];
}

/** Which of the compared checkups of a deployment it is, from 1, and how many parts it compares. */
export interface Look {
  number: number;
  comparisons: number;
}

/** The chance that any checkup of a deployment raises a false alarm. */
const everFalse = 0.05;

/** The p-value of an alarm: the levels of all checkups add up to `everFalse`. */
export function alarmLevel({ number, comparisons }: Look): number {
  return everFalse / (number * (number + 1)) / comparisons;
}

/** Rewards in the order of the rows; null: the rollout failed. */
export type Rewards = readonly (number | null)[];

interface Judging {
  now: Rewards;
  /** null: there is none. */
  baseline: Rewards | null;
  /** A difference of mean reward that counts as none. */
  maxChange: number;
  /** Of an alarm; see `alarmLevel`. */
  level: number;
}

/** The same rows, now and before. A failed rollout counts the worst reward, at most 0. */
export function checkRows({ seeds, now, baseline, ...rule }: Judging & { seeds: readonly number[] }): Checked {
  if (baseline === null) return first(now);
  const [ours, theirs] = withFailures(now, baseline);
  const found = compared(ours, theirs, { ...testPaired(ours, theirs), pValue: pairedP(ours, theirs) }, rule);
  return { ...found, ...lostRows(seeds, ours, theirs) };
}

/** Other rows of the same kind. */
export function checkTraffic({ now, baseline, ...rule }: Judging): Checked {
  if (baseline === null) return first(now);
  const [ours, theirs] = withFailures(now, baseline);
  return compared(ours, theirs, { ...unpaired(ours, theirs), pValue: unpairedP(ours, theirs) }, rule);
}

/** Where all rewards of each side are equal, the interval is that of the unseen rows of both. */
function unpaired(ours: readonly number[], theirs: readonly number[]): Comparison {
  if ([ours, theirs].some((rewards) => sampleOf(rewards).variance > 0)) return compareUnpaired(ours, theirs);
  const [now, before] = [measured(ours), measured(theirs)];
  const { low, high } = now.interval;
  return {
    difference: now.reward - before.reward,
    low: low - before.interval.high,
    high: high - before.interval.low,
  };
}

const noLosses = { worseCount: 0, worse: [] };

function first(now: Rewards): Checked {
  const [rewards] = withFailures(now, []);
  return { verdict: 'first', ...measured(rewards), rows: now.length, compared: null, ...noLosses };
}

function compared(
  ours: number[],
  theirs: number[],
  found: Comparison & { pValue: number },
  rule: Pick<Judging, 'maxChange' | 'level'>,
): Checked {
  const { difference, low, high, pValue } = found;
  const baseline = measured(theirs);
  return {
    verdict: verdictOf(found, rule),
    ...measured(ours),
    rows: ours.length,
    compared: { difference, low, high, pValue, baseline },
    ...noLosses,
  };
}

function verdictOf(
  found: Comparison & { pValue: number },
  { maxChange, level }: Pick<Judging, 'maxChange' | 'level'>,
): CheckVerdict {
  if (found.low >= -maxChange && found.high <= maxChange) return 'same';
  return found.pValue <= level ? conclusionOf(found) : 'inconclusive';
}

/** Failures count alike on both sides: more of them than before are a loss. */
function withFailures(now: Rewards, baseline: Rewards): [number[], number[]] {
  const worst = [...now, ...baseline].reduce<number>((least, reward) => Math.min(least, reward ?? 0), 0);
  const counted = (rewards: Rewards) => rewards.map((reward) => reward ?? worst);
  return [counted(now), counted(baseline)];
}

function measured(rewards: readonly number[]): Measured {
  const { mean: reward, ...interval } = meanInterval(sampleOf(rewards));
  return { reward, interval };
}

/** A better prompt beside what is live, row by row. */
export interface Improvement extends Comparison, Measured {
  verdict: Conclusion;
  today: Measured;
  /** Compared rows: those with a reward today. */
  rows: number;
}

export function judgeImprovement(rewards: RepeatedRewards): Improvement {
  const { candidate, ours, theirs, tested } = compareRepeated(rewards);
  const { difference, low, high } = tested;
  const verdict = ours.length === 0 ? 'inconclusive' : conclusionOf(tested);
  return { verdict, difference, low, high, ...measured(candidate), today: measured(theirs), rows: ours.length };
}
