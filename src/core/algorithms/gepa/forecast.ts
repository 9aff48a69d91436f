/**
 * The expected mean of a candidate on the evaluation seeds. A gain on shown failures says little
 * about other seeds: in the tuning worlds, while most seeds were unsolved, an accepted child
 * repaired 0.3 to 0.6 of the shown failures and 0.07 to 0.14 of the others.
 * An extended Kalman filter (Kalman 1960) follows the lineage with three values: the mean, the
 * share of a shown gain that transfers to other seeds, and how much easier the train seeds are than
 * the evaluation seeds. It observes evaluations, and scores on train seeds without results of any
 * ancestor: no edit was made for those. Regression seeds of all tested children measure how often
 * an edit breaks a solved seed. Turns are tested on seeds that they do not show, so the gain of
 * their test counts for all seeds as it is.
 */
import { mean, solvedReward, square, sum } from '../../math/rewards.js';
import { studentT95 } from '../../math/statistics.js';
import type { RewardEstimate, RewardModel } from '../../search/reward-model.js';
import { evaluationRollouts } from '../../search/config.js';
import { measuredOn, readOwn } from '../../search/results.js';
import { comparedSeeds } from '../../search/targeted-test.js';
import { overallGain } from './open-text.js';
import { isSet, type GepaState } from './state.js';

/** Prior of a session's transfer: the ratio of repair rates on other and on shown failures. */
const transfer = { mean: 0.19, variance: square(0.11) };
/** Prior of the share of solved reward that an edit breaks; `weight` in edits. */
const regressionPrior = { share: 0.005, weight: 20 };
/**
 * The variance of an edit's true gain around its expected gain. With noise a test accepts losses
 * too: `noiseShare` of a reward's variance is added.
 */
const processNoise = { variance: square(0.065), noiseShare: 0.05 };
/** Prior of the variance between seeds; `weight` in measurements. */
const spread = { variance: 0.25, weight: 30 };
/** Of the interval: all edits of a session share the errors of the priors above. */
const freedom = 8;

/** Mean on the evaluation seeds, transfer, ease of the train seeds. */
type Vector = readonly [number, number, number];

/** Rewards scaled to 0 (least seen) .. 1 (greatest, at least solved): extremes do not overflow. */
interface Filter {
  at: Vector;
  /** By rows. */
  covariance: readonly [Vector, Vector, Vector];
}

/** The scores behind each reward model, for several candidates. Not part of any state. */
const lastRead = new WeakMap<RewardModel, TrainScores>();

/** The forecast of a candidate; the measured mean if it is evaluated. */
export function forecast(state: GepaState, model: RewardModel, candidate: number): RewardEstimate {
  const summaries = new Map(state.candidates.map((summary) => [summary.candidate, summary]));
  let scores = lastRead.get(model);
  if (!scores) lastRead.set(model, (scores = new TrainScores(state, model)));
  const { scale, regressionRate } = scores;
  const noise = model.noise.variance / scale.range / scale.range;
  const evaluationNoise = noise / evaluationRollouts(state.config);
  const measured = summaries.get(candidate)!.reward;
  if (measured !== null) {
    const { variance, comparisons } = model.noise;
    const reach = variance === 0 ? 0 : studentT95(comparisons) * Math.sqrt(variance / evaluationRollouts(state.config));
    return { mean: measured, low: measured - reach, high: measured + reach };
  }
  const steps = lineage(candidate, (member) => summaries.get(member)!.parents);
  const between = spreadOf(steps.flatMap(([member]) => (member === 0 ? [] : scores.unseenScores(member))));
  const processVariance = processNoise.variance + processNoise.noiseShare * noise;
  let filter: Filter = {
    at: [scale.to(summaries.get(0)!.reward!), transfer.mean, 0],
    covariance: [
      [evaluationNoise, 0, 0],
      [0, transfer.variance, 0],
      [0, 0, between / state.config.evaluationSeeds.length],
    ],
  };
  for (const [member, edits] of steps) {
    for (const edit of edits) {
      filter = isSet(state, edit)
        ? afterTurns(filter, scores.gainOfTurns(edit, summaries.get(edit)!.parents[0]!), processVariance)
        : afterEdit(filter, scores.repairRate(edit), regressionRate, processVariance);
    }
    const { reward } = summaries.get(member)!;
    if (reward !== null) filter = afterObservation(filter, [1, 0, 0], scale.to(reward), evaluationNoise);
    for (const score of scores.unseenScores(member)) filter = afterObservation(filter, [1, 0, 1], score, between);
  }
  const base = steps.findLast(([member]) => summaries.get(member)!.reward !== null)![0];
  const from = scale.to(summaries.get(base)!.reward!);
  const to = Math.min(1, Math.max(0, filter.at[0]));
  const isDisjoint = !state.config.evaluationSeeds.some((seed) => scores.train.has(seed));
  const { expected, open } = isDisjoint
    ? { expected: to, open: 1 }
    : onEvaluationSeeds(state, model, scale, { base, candidate, from, to });
  const reach = studentT95(freedom) * Math.sqrt(Math.max(0, filter.covariance[0][0])) * open;
  const [low, center, high] = [-reach, 0, reach].map((by) => scale.from(Math.min(1, Math.max(0, expected + by))));
  return { mean: center!, low: low!, high: high! };
}

/**
 * The mean if evaluation seeds can be train seeds. Seeds measured in the lineage since `base` count
 * as they are; the others shift from their score at `base` as the mean shifted `from` - `to`.
 * `open`: the share of seeds without own results of the candidate.
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
    const now = model.posterior(candidate, seed);
    // No output on the seed could be scored.
    if (now === null) continue;
    if (now.age === 0) own += 1;
    const measured = mean(measuredOn(results, base, seed).map(([, reward]) => reward));
    if (measured === null || now.ordinal !== model.posterior(base, seed)!.ordinal) {
      scores.push(scale.to(now.mean));
      continue;
    }
    const then = scale.to(measured);
    scores.push(to >= from ? then + (1 - then) * ((to - from) / Math.max(1e-9, 1 - from)) : then * (to / from));
  }
  return { expected: mean(scores)!, open: 1 - own / scores.length };
}

/** The lineage from the baseline on, each with the edits since; a merge has its parents'. */
function lineage(
  candidate: number,
  parentsOf: (candidate: number) => readonly number[],
): [candidate: number, edits: number[]][] {
  const steps: [number, number[]][] = [];
  for (let member = candidate; ;) {
    const parents = parentsOf(member);
    const [parent] = parents;
    if (parent === undefined) break;
    const [base] = parentsOf(parent);
    const isMerge = parents.length > 1 && base !== undefined;
    steps.push([member, isMerge ? [...parents] : [member]]);
    member = isMerge ? base : parent;
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

/** The score on a train seed, and the score expected from the ancestor of `age` edits ago. */
interface TrainScore {
  score: number;
  expected: number | null;
  age: number;
}

class TrainScores {
  readonly scale: Scale;
  /** The share of solved reward that an edit breaks. */
  readonly regressionRate: number;
  readonly train: ReadonlySet<number>;
  private readonly state: GepaState;
  private readonly model: RewardModel;
  private readonly perfect: number;
  private readonly known = new Map<number, TrainScore[]>();

  constructor(state: GepaState, model: RewardModel) {
    this.state = state;
    this.model = model;
    this.scale = scaleOf(state);
    this.train = new Set(state.order);
    this.perfect = this.scale.to(solvedReward);
    this.regressionRate = this.estimateRegressionRate();
  }

  /** Scores on seeds without results of the candidate's ancestors. */
  unseenScores(candidate: number): number[] {
    return this.testsOf(candidate).flatMap(({ score, expected }) => (expected === null ? [score] : []));
  }

  /** The share of the possible gain that a candidate made on the failures of its test. */
  repairRate(candidate: number): number {
    const failed = this.testsOf(candidate).filter(
      ({ expected }) => expected !== null && expected < this.perfect - 1e-9,
    );
    const gained = sum(failed.map(({ score, expected }) => score - expected!));
    const open = sum(failed.map(({ expected }) => this.perfect - expected!));
    return open <= 1e-9 ? 0 : Math.min(1, Math.max(-1, gained / open));
  }

  /** The mean gain of other turns over all seeds, from the rows of their test. */
  gainOfTurns(candidate: number, parent: number): { mean: number; variance: number } {
    const compared = comparedSeeds(this.state, this.model, candidate);
    const { gain, variance, rows } = overallGain(this.state, this.model, parent, compared);
    const whole = Math.max(1, rows) * this.scale.range;
    return { mean: gain / whole, variance: variance / square(whole) };
  }

  private estimateRegressionRate(): number {
    let lost = regressionPrior.share * regressionPrior.weight;
    let edits = regressionPrior.weight;
    for (const { candidate, parents } of this.state.candidates) {
      if (parents.length !== 1) continue;
      for (const { score, expected, age } of this.testsOf(candidate)) {
        if (expected === null || expected < this.perfect - 1e-9 || expected <= 1e-9) continue;
        lost += (expected - score) / expected;
        edits += age;
      }
    }
    return Math.max(0, lost / edits);
  }

  private testsOf(candidate: number): TrainScore[] {
    let tested = this.known.get(candidate);
    if (!tested) this.known.set(candidate, (tested = this.read(candidate)));
    return tested;
  }

  private read(candidate: number): TrainScore[] {
    return readOwn(this.state.results[candidate] ?? {}).seeds.flatMap(([seed, own]) => {
      if (!this.train.has(seed)) return [];
      const score = this.scale.to(own.length === 1 ? own[0]![1] : mean(own.map(([, reward]) => reward))!);
      const before = this.model.prior(candidate, seed);
      return [{ score, expected: before && this.scale.to(before.mean), age: before?.age ?? 0 }];
    });
  }
}

/** The variance between seeds that no edit was made for. */
function spreadOf(scores: readonly number[]): number {
  const center = mean(scores) ?? 0;
  const squares = sum(scores.map((score) => square(score - center)));
  return (spread.weight * spread.variance + squares) / (spread.weight + scores.length);
}

function afterEdit({ at, covariance }: Filter, repairRate: number, regressionRate: number, variance: number): Filter {
  const [center, share, ease] = at;
  // Late edits repair a larger share of the fewer failures that are left.
  const open = Math.sqrt(Math.max(0, 1 - center));
  // The slope at reward 0. Near 1 the true slope would make the estimate certain.
  const slope = (share * repairRate) / 2;
  const row: Vector = [Math.max(0, 1 - slope - regressionRate), repairRate * open, 0];
  const [a, b, c] = times(covariance, row);
  return {
    at: [center + share * repairRate * open - regressionRate * center, share, ease],
    covariance: [
      [row[0] * a + row[1] * b + variance, b, c],
      [b, covariance[1][1], covariance[1][2]],
      [c, covariance[2][1], covariance[2][2]],
    ],
  };
}

function afterTurns({ at, covariance }: Filter, gain: { mean: number; variance: number }, variance: number): Filter {
  const [[own, share, ease], ...others] = covariance;
  return {
    at: [at[0] + gain.mean, at[1], at[2]],
    covariance: [[own + gain.variance + variance, share, ease], ...others],
  };
}

function afterObservation({ at, covariance }: Filter, row: Vector, value: number, variance: number): Filter {
  const [a, b, c] = times(covariance, row);
  const total = row[0] * a + row[1] * b + row[2] * c + variance;
  if (total <= 0) return { at, covariance };
  const off = (value - (row[0] * at[0] + row[1] * at[1] + row[2] * at[2])) / total;
  const less = ([x, y, z]: Vector, by: number): Vector => [
    x - (by * a) / total,
    y - (by * b) / total,
    z - (by * c) / total,
  ];
  return {
    at: [at[0] + a * off, at[1] + b * off, at[2] + c * off],
    covariance: [less(covariance[0], a), less(covariance[1], b), less(covariance[2], c)],
  };
}

function times(covariance: Filter['covariance'], [x, y, z]: Vector): Vector {
  const row = ([a, b, c]: Vector) => a * x + b * y + c * z;
  return [row(covariance[0]), row(covariance[1]), row(covariance[2])];
}
