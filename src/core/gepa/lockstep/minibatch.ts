/**
 * A generation's minibatches as one batch: where two slots want the same parent on the same seed, it is asked once and
 * both use the answer. Within one slot a seed that the caller listed twice is still asked twice.
 */
import type { Pair } from '../../search/batch.js';
import type { Slot } from './state.js';

/** The pairs to ask for, and for each slot the places of its own among them, in the order of its seeds. */
export function sharePairs(slots: readonly Slot[]): { pairs: Pair[]; places: number[][] } {
  const pairs: Pair[] = [];
  const known = new Map<string, number>();
  const places = slots.map(({ parent, seeds }) => {
    const seen = new Map<number, number>();
    return seeds.map((seed) => {
      const occurrence = seen.get(seed) ?? 0;
      seen.set(seed, occurrence + 1);
      const key = `${parent} ${seed} ${occurrence}`;
      const place = known.get(key) ?? pairs.push([parent, seed]) - 1;
      known.set(key, place);
      return place;
    });
  });
  return { pairs, places };
}
