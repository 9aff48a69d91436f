/**
 * What a candidate is expected to score on the evaluation seeds, from measurements that its lineage was not shown. A child is
 * made for the failures that it is shown, so its gain there says little of other seeds: while most was unsolved in the worlds for
 * tuning, an accepted child mended 0.3 to 0.6 of what it was shown, and 0.07 to 0.14 elsewhere. The mean is followed along the lineage by an extended Kalman
 * filter (Kalman 1960) over three things: that mean, the share of a shown gain that is had elsewhere (`transfer`), and by how
 * much the train seeds are easier than the evaluation seeds. It reads evaluations, and what a candidate scored on train
 * seeds on which none of its ancestors was run: nobody had learned from those. So the share is learned where both are known.
 * What guards show, how often an edit spoils what was solved, counts for every child that was tried, the rejected ones too.
 */
import { mean, solvedReward, square, sum } from '../../math/rewards.js';
import { studentT95 } from '../../math/statistics.js';
import type { RewardModel } from '../../search/reward-model.js';
import { evaluationRollouts } from '../../search/config.js';
import { measuredOn, readOwn } from '../../search/results.js';
import type { GepaState } from './state.js';

/** A mean that is expected, and its 95 % interval. */
export interface Forecast {
  mean: number;
  low: number;
  high: number;
}

/** What share of the failures mended among the shown ones is mended among others: mean and variance before anything is known. */
const transfer = { mean: 0.2, variance: square(0.2), drift: square(0.03) };
/** What share of what was solved an edit spoils before anything is known, and of how many guards' worth that is. */
const regressionPrior = { share: 0.005, weight: 20 };
/** How far an edit's true gain lies beside what is expected of it: a standard deviation. */
const processNoise = 0.06;
/** The variance between seeds before it is known, and of how many measurements that is. */
const spread = { variance: 0.12, weight: 4 };

/** Mean (of the evaluation seeds), transfer, ease of the train seeds. */
type Vector = readonly [number, number, number];

/** Rewards in it are from 0 (the least that was seen) to 1 (the greatest, or perfect): made-up ones must not make it Infinity. */
interface Filter {
  at: Vector;
  /** Covariance, by rows. */
  covariance: readonly [Vector, Vector, Vector];
}

/** What was read from the results behind some beliefs: several candidates are asked for. Not part of any state. */
const lastRead = new WeakMap<RewardModel, TrainScores>();

/** What is expected of a candidate on the evaluation seeds; of one that was evaluated that is what was measured. */
export function forecast(state: GepaState, model: RewardModel, candidate: number): Forecast {
  const summaries = new Map(state.candidates.map((one) => [one.candidate, one]));
  let tests = lastRead.get(model);
  if (!tests) lastRead.set(model, (tests = new TrainScores(state, model)));
  const { scale, regressionRate: spoils } = tests;
  const noise = model.noise.variance / scale.range / scale.range / evaluationRollouts(state.config);
  const measured = summaries.get(candidate)!.reward;
  if (measured !== null) {
    const { variance, comparisons } = model.noise;
    const reach = variance === 0 ? 0 : studentT95(comparisons) * Math.sqrt(variance / evaluationRollouts(state.config));
    return { mean: measured, low: measured - reach, high: measured + reach };
  }
  const steps = lineage(candidate, (one) => summaries.get(one)!.parents);
  const between = spreadOf(steps.flatMap(([one]) => (one === 0 ? [] : tests.unseenScores(one))));
  let filter: Filter = {
    at: [scale.to(summaries.get(0)!.reward!), transfer.mean, 0],
    covariance: [
      [noise, 0, 0],
      [0, transfer.variance, 0],
      [0, 0, between / state.config.evaluationSeeds.length],
    ],
  };
  for (const [one, edits] of steps) {
    for (const edit of edits) filter = edited(filter, tests.repairRate(edit), spoils);
    const { reward } = summaries.get(one)!;
    if (reward !== null) filter = observed(filter, [1, 0, 0], scale.to(reward), noise);
    for (const score of tests.unseenScores(one)) filter = observed(filter, [1, 0, 1], score, between);
  }
  const base = steps.findLast(([one]) => summaries.get(one)!.reward !== null)![0];
  const from = scale.to(summaries.get(base)!.reward!);
  const to = Math.min(1, Math.max(0, filter.at[0]));
  const isApart = !state.config.evaluationSeeds.some((seed) => tests.train.has(seed));
  const { expected, open } = isApart
    ? { expected: to, open: 1 }
    : onEvaluationSeeds(state, model, scale, { base, candidate, from, to });
  const reach = 1.96 * Math.sqrt(Math.max(0, filter.covariance[0][0])) * open;
  const [low, center, high] = [-reach, 0, reach].map((by) => scale.from(Math.min(1, Math.max(0, expected + by))));
  return { mean: center!, low: low!, high: high! };
}

/**
 * The mean when evaluation seeds may be train seeds too: one on which the lineage was run since `base` was evaluated counts as
 * it scored, the others as they scored then, moved as the mean is expected to have moved `from` there `to` here. `open` is the
 * share of them on which the candidate itself was not run.
 */
function onEvaluationSeeds(
  { config, results }: GepaState,
  model: RewardModel,
  scale: Scale,
  { base, candidate, from, to }: { base: number; candidate: number; from: number; to: number },
): { expected: number; open: number } {
  const scores: number[] = [];
  let own = 0;
  for (const seed of config.evaluationSeeds) {
    const now = model.posterior(candidate, seed)!;
    if (now.age === 0) own += 1;
    if (now.ordinal !== model.posterior(base, seed)!.ordinal) {
      scores.push(scale.to(now.mean));
      continue;
    }
    const then = scale.to(mean(measuredOn(results, base, seed).map(([, reward]) => reward))!);
    scores.push(to >= from ? then + (1 - then) * ((to - from) / Math.max(1e-9, 1 - from)) : then * (to / from));
  }
  return { expected: mean(scores)!, open: 1 - own / config.evaluationSeeds.length };
}

/** From the baseline on: each candidate with the edits that made it of the one before; of a merge those of all its parents. */
function lineage(
  candidate: number,
  parentsOf: (candidate: number) => readonly number[],
): [candidate: number, edits: number[]][] {
  const steps: [number, number[]][] = [];
  for (let one = candidate; ;) {
    const parents = parentsOf(one);
    const [parent] = parents;
    if (parent === undefined) break;
    const [base] = parentsOf(parent);
    const isMerge = parents.length > 1 && base !== undefined;
    steps.push([one, isMerge ? [...parents] : [one]]);
    one = isMerge ? base : parent;
  }
  return [[0, []] as [number, number[]], ...steps.reverse()];
}

interface Scale {
  range: number;
  to(reward: number): number;
  from(score: number): number;
}

function scaleOf({ results }: GepaState): Scale {
  let low = Infinity;
  let high = solvedReward;
  for (const own of Object.values(results)) {
    const read = readOwn(own);
    low = Math.min(low, read.low);
    high = Math.max(high, read.high);
  }
  const range = high > low ? high - low : 1;
  return { range, to: (reward) => (reward - low) / range, from: (score) => low + score * range };
}

/** A candidate on a train seed: its score, and what was expected from its ancestors, if any was run there, `age` edits ago. */
interface Tested {
  score: number;
  expected: number | null;
  age: number;
}

/** What candidates scored on train seeds. */
class TrainScores {
  readonly scale: Scale;
  /** The share of what was solved that an edit spoils. */
  readonly regressionRate: number;
  readonly train: ReadonlySet<number>;
  private readonly state: GepaState;
  private readonly beliefs: RewardModel;
  private readonly perfect: number;
  private readonly known = new Map<number, Tested[]>();

  constructor(state: GepaState, model: RewardModel) {
    this.state = state;
    this.beliefs = model;
    this.scale = scaleOf(state);
    this.train = new Set(state.order);
    this.perfect = this.scale.to(solvedReward);
    this.regressionRate = this.estimateRegressionRate();
  }

  /** On seeds on which its ancestors were never run. */
  unseenScores(candidate: number): number[] {
    return this.of(candidate).flatMap(({ score, expected }) => (expected === null ? [score] : []));
  }

  /** The share of what was to be gained on the failures that a candidate was tried on. */
  repairRate(candidate: number): number {
    const failed = this.of(candidate).filter(({ expected }) => expected !== null && expected < this.perfect - 1e-9);
    const gained = sum(failed.map(({ score, expected }) => score - expected!));
    const open = sum(failed.map(({ expected }) => this.perfect - expected!));
    return open <= 1e-9 ? 0 : Math.min(1, Math.max(-1, gained / open));
  }

  private estimateRegressionRate(): number {
    let lost = regressionPrior.share * regressionPrior.weight;
    let edits = regressionPrior.weight;
    for (const { candidate, parents } of this.state.candidates) {
      if (parents.length !== 1) continue;
      for (const { score, expected, age } of this.of(candidate)) {
        if (expected === null || expected < this.perfect - 1e-9 || expected <= 1e-9) continue;
        lost += (expected - score) / expected;
        edits += age;
      }
    }
    return Math.max(0, lost / edits);
  }

  private of(candidate: number): Tested[] {
    let tested = this.known.get(candidate);
    if (!tested) this.known.set(candidate, (tested = this.read(candidate)));
    return tested;
  }

  private read(candidate: number): Tested[] {
    return readOwn(this.state.results[candidate] ?? {}).seeds.flatMap(([seed, own]) => {
      if (!this.train.has(seed)) return [];
      const score = this.scale.to(own.length === 1 ? own[0]![1] : mean(own.map(([, reward]) => reward))!);
      const before = this.beliefs.prior(candidate, seed);
      return [{ score, expected: before && this.scale.to(before.mean), age: before?.age ?? 0 }];
    });
  }
}

/** The variance between seeds nobody was shown. */
function spreadOf(scores: readonly number[]): number {
  const center = mean(scores) ?? 0;
  const squares = sum(scores.map((score) => square(score - center)));
  return (spread.weight * spread.variance + squares) / (spread.weight + scores.length);
}

function edited({ at, covariance: doubt }: Filter, mended: number, spoils: number): Filter {
  const [center, share, ease] = at;
  const open = Math.max(0, 1 - center);
  const row: Vector = [1 - share * mended - spoils, mended * open, 0];
  const [a, b, c] = times(doubt, row);
  return {
    at: [center + share * mended * open - spoils * center, share, ease],
    covariance: [
      [row[0] * a + row[1] * b + square(processNoise), b, c],
      [b, doubt[1][1] + transfer.drift, doubt[1][2]],
      [c, doubt[2][1], doubt[2][2]],
    ],
  };
}

function observed({ at, covariance: doubt }: Filter, of: Vector, value: number, variance: number): Filter {
  const [a, b, c] = times(doubt, of);
  const total = of[0] * a + of[1] * b + of[2] * c + variance;
  if (total <= 0) return { at, covariance: doubt };
  const off = (value - (of[0] * at[0] + of[1] * at[1] + of[2] * at[2])) / total;
  const less = ([x, y, z]: Vector, by: number): Vector => [
    x - (by * a) / total,
    y - (by * b) / total,
    z - (by * c) / total,
  ];
  return {
    at: [at[0] + a * off, at[1] + b * off, at[2] + c * off],
    covariance: [less(doubt[0], a), less(doubt[1], b), less(doubt[2], c)],
  };
}

function times(doubt: Filter['covariance'], [x, y, z]: Vector): Vector {
  const row = ([a, b, c]: Vector) => a * x + b * y + c * z;
  return [row(doubt[0]), row(doubt[1]), row(doubt[2])];
}
