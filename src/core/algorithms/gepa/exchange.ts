/** Sets of demonstrations made from the parent's: some rows leave, and others may come. */
import { seedRng, shuffle, uniformInt } from '../../math/random.js';
import { knownFailures } from '../../search/failure-pool.js';
import type { Composition } from '../../search/protocol.js';
import type { RewardModel } from '../../search/reward-model.js';
import { inTurns, isTested, ownSet, seedsByOrdinal, turnOrder, withTurns } from './demonstrations.js';
import { mostTurns } from './shown-rows.js';
import type { Demonstrations, GepaState } from './state.js';

/** So many rows may leave and come, even where they are more than a quarter. */
const leastChanged = 4;
/** A fresh set fills all, half or a quarter of the room, with 8 rows at least if it can. */
const halvings = 3;
const leastFresh = 8;
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
  tested: readonly number[],
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
    if (set.length > 0 && !isTested(known, set)) {
      return withTurns(known, parent, turnOrder(state, model, parent, tested)(set));
    }
    rng = after;
  }
  return null;
}

type Rng = ReturnType<typeof seedRng>;

/**
 * Up to a quarter of `own` leave, and one to as many others come; or a fresh set replaces them.
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
  const changed = Math.max(leastChanged, Math.ceil(own.length / 4));
  const [leaving, afterCount] = uniformInt(afterCoin, 1 + Math.min(changed, own.length));
  const [shuffled, afterOwn] = shuffle(afterCount, [...own]);
  const left = new Set(isFresh ? own : shuffled.slice(0, leaving));
  const kept = own.filter((ordinal) => !left.has(ordinal));
  const room = Math.min(most, rows.length) - kept.length;
  const [halved, afterHalved] = uniformInt(afterOwn, halvings);
  const [coming, afterAdded] = uniformInt(afterHalved, changed);
  const added = isFresh
    ? Math.max(Math.min(leastFresh, room), Math.ceil(room / 2 ** halved))
    : Math.min(room, 1 + coming);
  const others = rows.filter((ordinal) => isFresh || !own.includes(ordinal));
  const [drawn, rng] = shuffle(afterAdded, others);
  const ranked = [0, 1, 2].flatMap((rank) => drawn.filter((ordinal) => classOf(ordinal) === rank));
  return [inTurns([...kept, ...ranked.slice(0, Math.max(0, added))], sameAnswer), rng];
}
