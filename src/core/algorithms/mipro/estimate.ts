/**
 * The expected mean of a candidate on the evaluation seeds. Each edit repairs a share of what an
 * ancestor lacked on a seed. The share is uncertain: a Bayesian average over a grid of shares,
 * weighed by the rollouts of accepted candidates on seeds that no test of theirs had chosen.
 */
import { mean, solvedReward, square, sum } from '../../math/rewards.js';
import { cacheByModel } from '../../search/model-cache.js';
import { readOwn } from '../../search/results.js';
import type { RewardEstimate, RewardModel } from '../../search/reward-model.js';
import type { MiproState } from './state.js';

const shares = Array.from({ length: 24 }, (_, index) => (index + 1) / 40);
/** Prior of the share: its mean, and its weight in observations. */
const prior = { share: 0.15, weight: 2 };
/** Prior of the variance of a reward around its expectation; `weight` in observations. */
const spread = { variance: 0.12, weight: 4 };
/** Variance of a candidate's mean around its expectation. */
const processVariance = square(0.06);

interface Observation {
  reward: number;
  /** What an ancestor scored `age` edits ago. */
  before: number;
  age: number;
}

/** The weights of `shares`. */
const cachedWeights = cacheByModel<MiproState['acceptedAt'], readonly number[]>();

export function estimateOf(state: MiproState, model: RewardModel, candidate: number): RewardEstimate {
  const { reward } = state.candidates.find((summary) => summary.candidate === candidate)!;
  if (reward !== null) return { mean: reward, low: reward, high: reward };
  const { evaluationSeeds } = state.config;
  const known = evaluationSeeds.flatMap((seed) => model.posterior(candidate, seed) ?? []);
  const open = known.filter(({ age }) => age > 0).length / known.length;
  const weights = cachedWeights(model, state.acceptedAt, () => weightsOf(observationsOf(state, model)));
  const byAge = new Map<number, number[]>();
  for (const posterior of known) byAge.set(posterior.age, [...(byAge.get(posterior.age) ?? []), posterior.mean]);
  const means = shares.map((share) => {
    return sum([...byAge].flatMap(([age, rewards]) => rewards.map((own) => expected(own, age, share)))) / known.length;
  });
  const center = sum(means.map((value, index) => value * weights[index]!));
  const variance = sum(means.map((value, index) => square(value - center) * weights[index]!));
  const sampling = (spread.variance * open) / known.length;
  const reach = 1.96 * Math.sqrt(variance + processVariance * open + sampling);
  return { mean: center, low: center - reach, high: center + reach };
}

/** The expected reward after `age` edits, each of which repairs a `share` of what is missing. */
function expected(before: number, age: number, share: number): number {
  return before >= solvedReward ? before : solvedReward - (solvedReward - before) * power(1 - share, age);
}

/** Rollouts of accepted candidates after their tests, on seeds without earlier results of them. */
function observationsOf({ acceptedAt, results, candidates }: MiproState, model: RewardModel): Observation[] {
  const baseline = candidates[0]!.reward ?? 0;
  return Object.entries(acceptedAt).flatMap(([key, from]) => {
    const candidate = Number(key);
    return readOwn(results[key] ?? {}).seeds.flatMap(([seed, measured]) => {
      if (measured[0]![0] < from) return [];
      const inherited = model.prior(candidate, seed);
      const before = inherited?.mean ?? baseline;
      if (before >= solvedReward) return [];
      const reward = Math.min(solvedReward, mean(measured.map(([, own]) => own))!);
      return [{ reward, before, age: inherited?.age ?? depthOf(candidates, candidate) }];
    });
  });
}

/** Edits since the baseline. */
function depthOf(candidates: MiproState['candidates'], candidate: number): number {
  const [parent] = candidates.find((summary) => summary.candidate === candidate)!.parents;
  return parent === undefined ? 0 : 1 + depthOf(candidates, parent);
}

/** The posterior weights: of a normal likelihood with unknown variance. */
function weightsOf(observations: readonly Observation[]): number[] {
  const errors = shares.map((share) => {
    const squares = observations.map(({ reward, before, age }) => square(reward - expected(before, age, share)));
    const fromPrior = (prior.weight * spread.variance * square(share - prior.share)) / square(prior.share);
    return (spread.weight * spread.variance + fromPrior + sum(squares)) / 2;
  });
  const least = Math.min(...errors);
  const exponent = Math.ceil((spread.weight + prior.weight + observations.length) / 2);
  const raw = errors.map((error) => power(least / error, exponent));
  const total = sum(raw);
  return raw.map((weight) => weight / total);
}

/** By multiplication, so that every machine gets the same bits. */
function power(base: number, exponent: number): number {
  let result = 1;
  for (let count = 0; count < exponent; count++) result *= base;
  return result;
}
