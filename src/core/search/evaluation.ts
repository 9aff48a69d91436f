/** Full evaluations, and the comparison of baseline and winner on held-out seeds. */
import { meanInterval } from '../math/mean-interval.js';
import { mean } from '../math/rewards.js';
import type { Sample } from '../math/statistics.js';
import { hasAllFailed, type Batch, type Pair } from './batch.js';
import { remainingRollouts, type BudgetState } from './budget.js';
import { changeCandidate } from './candidates.js';
import { evaluationPairs, type SearchConfig } from './config.js';
import type { Decision } from './protocol.js';
import { measuredOn } from './results.js';
import type { HeldoutResults, RatedCandidate, SearchState, SeededState } from './state.js';

/**
 * The rollouts that an evaluation lacks; with noise, rewards of earlier tests do not count. Seeds
 * on which the baseline is not verified are left out.
 */
export function missingPairs({ config, results }: SeededState, candidate: number, isNoisy: boolean): Pair[] {
  const pairs = evaluationPairs(config, candidate, config.evaluationSeeds);
  const verified = pairs.filter(([, seed]) => candidate === 0 || measuredOn(results, 0, seed).length > 0);
  return isNoisy ? verified : verified.filter(([, seed]) => measuredOn(results, candidate, seed).length === 0);
}

/** On each seed the rewards of the latest `repeats` rollouts. */
export function evaluationRewards(state: SeededState, candidate: number): number[] {
  return rewardsBySeed(state, candidate).flat();
}

/** The mean reward on each evaluation seed that has one, as rows of the evaluation. */
export function evaluatedRows(state: SeededState, candidate: number): number[] {
  return evaluationMeans(state, candidate).filter((reward) => reward !== null);
}

/** The mean reward on each evaluation seed; null: it is not measured. */
export function evaluationMeans(state: SeededState, candidate: number): (number | null)[] {
  return rewardsBySeed(state, candidate).map(mean);
}

/** Whether an evaluation has no reward: it consists of this batch, and every rollout failed. */
export function isFailedEvaluation(state: SeededState, batch: Batch, candidate: number): boolean {
  const own = batch.pairs.filter(([of]) => of === candidate);
  return hasAllFailed(batch, candidate) && evaluationRewards(state, candidate).length <= own.length;
}

function rewardsBySeed({ config, results }: SeededState, candidate: number): number[][] {
  return config.evaluationSeeds.map((seed) =>
    measuredOn(results, candidate, seed)
      .slice(-config.repeats)
      .map(([, reward]) => reward),
  );
}

/** `rows`: of the mean rewards on each seed. */
export function recordEvaluation<State extends SearchState>(
  state: State,
  { candidate, reward }: RatedCandidate,
  rows: Sample,
  decisions: Decision[],
): State {
  const { generation } = state;
  const { low, high } = meanInterval(rows);
  // Where repeats of a row failed, the mean over rollouts is another one.
  const interval = { low: Math.min(low, reward), high: Math.max(high, reward) };
  const seedsEvaluated = rows.count;
  decisions.push({ type: 'candidate_evaluated', candidate, generation, reward, interval, seedsEvaluated });
  const evaluated = { status: 'evaluated', reward, interval } as const;
  return { ...state, candidates: changeCandidate(state.candidates, candidate, evaluated) };
}

/**
 * Baseline, then winner; empty without held-out seeds, budget or a new winner. An extended search
 * knows the baseline's rewards already.
 */
export function heldoutPairs(state: BudgetState & Pick<SeededState, 'heldout'>, winner: number): Pair[] {
  const { config, heldout } = state;
  if (winner === 0 || heldout?.candidate === winner) return [];
  const unknown = config.heldoutSeeds.filter((seed) => !heldout?.seeds.includes(seed));
  const pairs = [...evaluationPairs(config, 0, unknown), ...evaluationPairs(config, winner, config.heldoutSeeds)];
  return pairs.length > remainingRollouts(state) ? [] : pairs;
}

/**
 * The rewards of `heldoutPairs` as means over the repeats of each seed on which both are verified;
 * null: there is none. `known`: an earlier comparison with the baseline.
 */
export function heldoutMeans(
  { heldoutSeeds }: SearchConfig,
  pairs: readonly Pair[],
  rewards: readonly number[],
  known: HeldoutResults | null,
): HeldoutResults | null {
  const meanOn = (isWinner: boolean, seed: number) =>
    mean(rewards.filter((_, index) => pairs[index]![0] > 0 === isWinner && pairs[index]![1] === seed));
  const before = new Map(known?.seeds.map((seed, index) => [seed, known.baseline[index]!]));
  const compared = heldoutSeeds.flatMap((seed) => {
    const [baseline, winner] = [before.get(seed) ?? meanOn(false, seed), meanOn(true, seed)];
    return baseline === null || winner === null ? [] : [{ seed, baseline, winner }];
  });
  if (compared.length === 0) return null;
  return {
    candidate: pairs.find(([candidate]) => candidate > 0)![0],
    seeds: compared.map(({ seed }) => seed),
    baseline: compared.map(({ baseline }) => baseline),
    winner: compared.map(({ winner }) => winner),
  };
}
