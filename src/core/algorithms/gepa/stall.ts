/**
 * A stalled search: the incumbent has run every train seed, and reflections were shown all of its
 * failures. The same question would get the same answer, so both the parent and the failures vary.
 */
import { seedRng, uniformInt, type Rng } from '../../math/random.js';
import { mean } from '../../math/rewards.js';
import { hasRunAll, knownFailures, type Failure } from '../../search/failure-pool.js';
import type { CandidateSummary } from '../../search/protocol.js';
import type { RewardModel } from '../../search/reward-model.js';
import { incumbentOf } from './pool.js';
import type { GepaState } from './state.js';

/** The generator of a generation's draws of parents. */
export function parentDraws({ config, generation }: GepaState): Rng {
  // Lower streams are used by the searches themselves.
  return seedRng(config.rngSeed, 1_000 + generation);
}

export function isStalled(state: GepaState, model: RewardModel): boolean {
  const incumbent = incumbentOf(state, model);
  return hasRunAll(state, model, incumbent) && knownFailures(state, model, incumbent).every(({ shown }) => shown > 0);
}

/** Another candidate of the pool, or a tied child; all are as likely. */
export function drawOtherLine(state: GepaState, model: RewardModel, incumbent: number): number | undefined {
  const tied = tiedChildren(state, model, incumbent).map(({ candidate }) => candidate);
  const others = [...state.pool, ...tied].filter((candidate) => {
    return candidate !== incumbent && knownFailures(state, model, candidate).length > 0;
  });
  if (others.length === 0) return undefined;
  const [index] = uniformInt(parentDraws(state), others.length);
  return others[index];
}

/** The incumbent's failures among `failures`: one, two or more, in turn over the generations. */
export function failuresInTurn(
  state: GepaState,
  model: RewardModel,
  failures: readonly Failure[],
  size: number,
): Failure[] {
  const open = new Set(knownFailures(state, model, incumbentOf(state, model)).map(({ seed }) => seed));
  const count = 1 + (Math.floor(state.generation / 2) % size);
  return failures.filter(({ seed }) => open.has(seed)).slice(0, count);
}

/** A parent's rejected children without a gain or a loss on any seed. */
export function tiedChildren(state: GepaState, model: RewardModel, parent: number): CandidateSummary[] {
  return state.candidates.filter(({ candidate, parents, status }) => {
    return status === 'rejected' && parents.length === 1 && parents[0] === parent && isTied(state, model, candidate);
  });
}

function isTied({ results }: GepaState, model: RewardModel, candidate: number): boolean {
  return Object.entries(results[candidate] ?? {}).every(([seed, own]) => {
    const expected = model.prior(candidate, Number(seed));
    return expected !== null && mean(own.map(([, reward]) => reward)) === expected.mean;
  });
}
