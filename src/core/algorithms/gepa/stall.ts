/**
 * A stalled search: the incumbent has run every train seed, and reflections were shown all of its
 * failures. It varies its questions (`explicit-rules.ts`), and in every other generation the
 * parent.
 */
import { seedRng, weightedPick, type Rng } from '../../math/random.js';
import { mean } from '../../math/rewards.js';
import { hasRunAll, knownFailures } from '../../search/failure-pool.js';
import type { CandidateSummary } from '../../search/protocol.js';
import type { RewardModel } from '../../search/reward-model.js';
import { incumbentOf } from './pool.js';
import { isSet, type GepaState } from './state.js';

/** The generator of a generation's draws of parents. */
export function parentDraws({ config, generation }: GepaState): Rng {
  // Lower streams are used by the searches themselves.
  return seedRng(config.rngSeed, 1_000 + generation);
}

export function isStalled(state: GepaState, model: RewardModel): boolean {
  const incumbent = incumbentOf(state, model);
  return hasRunAll(state, model, incumbent) && knownFailures(state, model, incumbent).every(({ shown }) => shown > 0);
}

/** Another candidate of the pool, or a tied child: each half as likely as the next better one. */
export function drawOtherLine(state: GepaState, model: RewardModel, incumbent: number): number | undefined {
  const tied = tiedChildren(state, model, incumbent).map(({ candidate }) => candidate);
  const others = [...state.pool, ...tied].filter((candidate) => {
    return candidate !== incumbent && knownFailures(state, model, candidate).length > 0;
  });
  if (others.length === 0) return undefined;
  const means = [...model.comparable(others, state.order)].map(([candidate, own]) => [candidate, mean(own)!] as const);
  const ranked = means.sort(([newer, left], [older, right]) => right - left || newer - older);
  const weights = ranked.map((_, rank) => 2 ** Math.max(0, 20 - rank));
  const [index] = weightedPick(parentDraws(state), weights);
  return ranked[index]![0];
}

/** A parent's rejected texts without a gain or a loss on any seed; turns are no half of a gain. */
export function tiedChildren(state: GepaState, model: RewardModel, parent: number): CandidateSummary[] {
  return state.candidates.filter(({ candidate, parents, status }) => {
    const isChild = status === 'rejected' && parents.length === 1 && parents[0] === parent;
    return isChild && !isSet(state, candidate) && isTied(state, model, candidate);
  });
}

function isTied({ results }: GepaState, model: RewardModel, candidate: number): boolean {
  return Object.entries(results[candidate] ?? {}).every(([seed, own]) => {
    const expected = model.prior(candidate, Number(seed));
    return expected !== null && mean(own.map(([, reward]) => reward)) === expected.mean;
  });
}
