/** The seeds on which candidates are tested, for the record. */
import type { Batch } from './batch.js';
import { rewardModelOf } from './model-cache.js';
import type { CandidateTest, TestedSeed } from './protocol.js';
import { addResults } from './results.js';
import type { SeededState } from './state.js';

/**
 * The tests of undecided candidates: their known rollouts, those of `batch` and those `beside` it,
 * which count too. Each seed is compared with the parent's rollout in the batch, else with the
 * ancestor's rollout that the reward model uses.
 */
export function testsOf(
  state: SeededState,
  batch: Batch,
  candidates: readonly number[],
  beside?: Batch,
): CandidateTest[] {
  const model = rewardModelOf(state);
  const requested = requestedIn(batch);
  const results = addResults(state.results, [...requested, ...(beside ? requestedIn(beside) : [])]);
  const running = new Map(requested.map(({ candidate, seed, ordinal }) => [`${candidate} ${seed}`, ordinal]));
  const parentsOf = new Map(state.candidates.map(({ candidate, parents }) => [candidate, parents]));
  return candidates.map((candidate) => {
    const seeds = Object.entries(results[candidate] ?? {}).map(([key, measured]): TestedSeed => {
      const seed = Number(key);
      const [control] = parentsOf.get(candidate)!.flatMap((parent) => running.get(`${parent} ${seed}`) ?? []);
      const ancestor = control ?? model.prior(candidate, seed)?.ordinal ?? null;
      return [seed, ancestor, ...measured.map(([ordinal]) => ordinal)];
    });
    return { candidate, seeds: seeds.sort((left, right) => left[2]! - right[2]!) };
  });
}

function requestedIn({ pairs, ordinals }: Batch) {
  return pairs.map(([candidate, seed], index) => ({ candidate, seed, ordinal: ordinals[index]!, reward: 0 }));
}
