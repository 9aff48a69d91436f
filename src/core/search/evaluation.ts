/** Full evaluations, and the comparison of baseline and winner on held-out seeds. */
import { mean } from '../math/rewards.js';
import type { Pair } from './batch.js';
import { remainingRollouts, type BudgetState } from './budget.js';
import { changeCandidate } from './candidates.js';
import { heldoutRollouts, type SearchConfig } from './config.js';
import type { Decision } from './protocol.js';
import { measuredOn } from './results.js';
import type { RatedCandidate, SearchState, SeededState } from './state.js';

/** A candidate on each of the seeds, `repeats` times. */
export function evaluationPairs(config: SearchConfig, candidate: number, seeds: readonly number[]): Pair[] {
  return Array.from({ length: config.repeats }, () => seeds.map((seed): Pair => [candidate, seed])).flat();
}

/** The rollouts that an evaluation lacks; with noise, rewards of earlier tests do not count. */
export function missingPairs({ config, results }: SeededState, candidate: number, isNoisy: boolean): Pair[] {
  const pairs = evaluationPairs(config, candidate, config.evaluationSeeds);
  return isNoisy ? pairs : pairs.filter(([, seed]) => measuredOn(results, candidate, seed).length === 0);
}

/** On each seed the rewards of the latest `repeats` rollouts before the ordinal `end`. */
export function evaluationRewards({ config, results }: SeededState, candidate: number, end = Infinity): number[] {
  return config.evaluationSeeds.flatMap((seed) =>
    measuredOn(results, candidate, seed)
      .filter(([ordinal]) => ordinal < end)
      .slice(-config.repeats)
      .map(([, reward]) => reward),
  );
}

export function recordEvaluation<State extends SearchState>(
  state: State,
  { candidate, reward }: RatedCandidate,
  seedsEvaluated: number,
  decisions: Decision[],
): State {
  const { generation } = state;
  decisions.push({ type: 'candidate_evaluated', candidate, generation, reward, seedsEvaluated });
  return { ...state, candidates: changeCandidate(state.candidates, candidate, { status: 'evaluated', reward }) };
}

/** Baseline, then winner; empty without held-out seeds, budget or a new winner. */
export function heldoutPairs(state: BudgetState, winner: number): Pair[] {
  const { config } = state;
  if (winner === 0 || remainingRollouts(state) < heldoutRollouts(config)) return [];
  return [0, winner].flatMap((candidate) => evaluationPairs(config, candidate, config.heldoutSeeds));
}

/** The rewards of `heldoutPairs` as means over the repeats of each seed. */
export function heldoutMeans({ heldoutSeeds }: SearchConfig, rewards: readonly number[]) {
  const half = rewards.length / 2;
  const seeds = heldoutSeeds.length;
  const means = (own: readonly number[]) =>
    Array.from({ length: seeds }, (_, index) => mean(own.filter((__, at) => at % seeds === index))!);
  return { baseline: means(rewards.slice(0, half)), winner: means(rewards.slice(half)) };
}
