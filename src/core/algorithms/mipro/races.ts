/**
 * Races of combinations that differ in their demonstrations alone: after each round on the same
 * seeds the better half goes on (successive halving).
 */
import type { Pair } from '../../search/batch.js';
import type { RewardModel } from '../../search/reward-model.js';
import { posteriorsLeft } from '../../search/targeted-test.js';
import { measuredOn, rolloutsOf } from '../../search/results.js';
import type { MiproState, Tests } from './state.js';

/** Seeds of a round. */
const roundSeeds = 4;

/** Whether several combinations compete in one test; at most one is accepted. */
export function isRace({ step, trials }: Pick<Tests, 'step' | 'trials'>): boolean {
  return step === 'combinations' && trials.length > 1;
}

/** A candidate with its gain over the leader on the seeds so far. */
export interface Racer {
  candidate: number;
  gain: number;
}

/** The better half, fewer if its next round and the leader's cost more than `left` rollouts. */
export function racersOf(racers: readonly Racer[], left: number): number[] {
  const ranked = [...racers].sort((one, other) => other.gain - one.gain);
  const count = Math.min(Math.ceil(racers.length / 2), Math.floor(left / roundSeeds) - 1);
  return ranked.slice(0, Math.max(1, count)).map(({ candidate }) => candidate);
}

/** Whether known rollouts share right answers, such as labels. */
export function hasLabels({ usable }: MiproState): boolean {
  return usable.some(({ sameAnswer }) => sameAnswer.length > 0);
}

/** The leader's seeds that the candidate lacks, own results first: failures as often as in all. */
export function mixedSeeds(state: MiproState, model: RewardModel, leader: number, candidate: number): number[] {
  return posteriorsLeft(state, model, leader, candidate)
    .sort((left, right) => left.age - right.age)
    .slice(0, roundSeeds)
    .map(({ seed }) => seed);
}

/**
 * The seeds of a round, the same for all. A rollout never shows the demonstration of its own seed:
 * with labels, seeds that no racer shows come first, of these the ones that the leader ran.
 */
export function raceSeeds(state: MiproState, model: RewardModel, leader: number, racers: readonly number[]): number[] {
  if (!hasLabels(state)) return mixedSeeds(state, model, leader, racers[0]!);
  const { order, results } = state;
  const shown = shownSeeds(state, racers);
  const rankOf = (seed: number) => (shown.has(seed) ? 2 : 0) + (measuredOn(results, leader, seed).length > 0 ? 0 : 1);
  return order
    .filter((seed) => measuredOn(results, racers[0]!, seed).length === 0)
    .sort((left, right) => rankOf(left) - rankOf(right))
    .slice(0, roundSeeds);
}

/** The leader's rollouts on seeds of a race that it did not run. */
export function leaderPairs(state: MiproState, leader: number, seeds: readonly number[]): Pair[] {
  if (!hasLabels(state)) return [];
  return seeds.flatMap((seed): Pair[] =>
    measuredOn(state.results, leader, seed).length === 0 ? [[leader, seed]] : [],
  );
}

/** The seeds of the candidates' demonstrations. */
function shownSeeds(
  { choices, components, demoSets, results }: MiproState,
  candidates: readonly number[],
): ReadonlySet<number> {
  const shown = new Set(
    candidates.flatMap((candidate) =>
      demoSets.flatMap((sets, slot) => {
        const { bootstrapped, labeled } = sets[choices[candidate]![components.length + slot]!]!;
        return [...bootstrapped, ...labeled];
      }),
    ),
  );
  return new Set(rolloutsOf(results).flatMap(({ ordinal, seed }) => (shown.has(ordinal) ? [seed] : [])));
}
