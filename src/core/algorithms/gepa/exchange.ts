/** Sets of demonstrations made from the parent's: some rows leave, and others may come. */
import { seedRng, shuffle, uniformInt } from '../../math/random.js';
import { knownFailures } from '../../search/failure-pool.js';
import type { Composition } from '../../search/protocol.js';
import type { RewardModel } from '../../search/reward-model.js';
import { inTurns, isTested, ownSet, seedsByOrdinal, withTurns } from './demonstrations.js';
import { mostTurns } from './shown-rows.js';
import type { Demonstrations, GepaState } from './state.js';

/** The most rows that come at once. */
const mostAdded = 4;
/** One in so many sets is fresh. */
const freshOf = 3;
/** Draws of a set that was not tested before. */
const draws = 3;
/** Lower streams belong to the search and to its other draws. */
const stream = 4_000_000;

/** Whether rows are known that turns can show. */
export function canExchange({ config, demonstrations }: GepaState): boolean {
  if (typeof demonstrations !== 'object') return false;
  return mostTurns(config, demonstrations) > 0 && demonstrations.rows.length > 0;
}

/** The parent with a set that no candidate had; null: none that is drawn is new. */
export function exchangedTurns(
  state: GepaState,
  model: RewardModel,
  parent: number,
  candidate: number,
): Composition | null {
  const { config, demonstrations: known } = state;
  if (typeof known !== 'object') return null;
  const failing = (by: number) => new Set(knownFailures(state, model, by).map(({ seed }) => seed));
  const [byParent, byBaseline] = [failing(parent), failing(0)];
  const seedOf = seedsByOrdinal(state);
  const classOf = (ordinal: number) => {
    const seed = seedOf.get(ordinal)!;
    return byParent.has(seed) ? 0 : byBaseline.has(seed) ? 1 : 2;
  };
  const own = ownSet(state, parent, known);
  let rng = seedRng(config.rngSeed, stream + candidate);
  for (let draw = 0; draw < draws; draw += 1) {
    const [set, after] = drawSet(rng, own, known, mostTurns(config, known), classOf);
    if (set.length > 0 && !isTested(known, set)) return withTurns(known, parent, set);
    rng = after;
  }
  return null;
}

type Rng = ReturnType<typeof seedRng>;

/**
 * Up to half of `own` leave and up to `mostAdded` others come, or a fresh set replaces all of them.
 * Rows that the parent fails (class 0) come first, then those that the baseline fails (1).
 */
function drawSet(
  start: Rng,
  own: readonly number[],
  { rows, sameAnswer }: Demonstrations,
  most: number,
  classOf: (ordinal: number) => number,
): [set: number[], rng: Rng] {
  const [coin, afterCoin] = uniformInt(start, freshOf);
  const isFresh = own.length === 0 || coin === 0;
  const [leaving, afterCount] = uniformInt(afterCoin, 1 + Math.ceil(own.length / 2));
  const [shuffled, afterOwn] = shuffle(afterCount, [...own]);
  const left = new Set(isFresh ? own : shuffled.slice(0, leaving));
  const kept = own.filter((ordinal) => !left.has(ordinal));
  const room = most - kept.length;
  const atMost = isFresh ? room : Math.min(room, mostAdded);
  const [fewer, afterAdded] = uniformInt(afterOwn, Math.max(1, isFresh ? Math.ceil(atMost / 2) : atMost));
  const others = rows.filter((ordinal) => isFresh || !own.includes(ordinal));
  const [drawn, rng] = shuffle(afterAdded, others);
  const ranked = [0, 1, 2].flatMap((rank) => drawn.filter((ordinal) => classOf(ordinal) === rank));
  const added = ranked.slice(0, Math.max(0, atMost - fewer));
  return [inTurns([...kept, ...added], sameAnswer), rng];
}
