/** Seeded random numbers (mulberry32), identical on every machine. */
export interface Draws {
  pick<Item>(items: readonly Item[]): Item;
  /** A number of different items in random order. */
  some<Item>(items: readonly Item[], count: number): Item[];
}

export function drawsOf(seed: number): Draws {
  let state = seed >>> 0;
  const below = (limit: number): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
  };
  return {
    pick: (items) => items[below(items.length)]!,
    some(items, count) {
      const left = [...items];
      return Array.from({ length: count }, () => left.splice(below(left.length), 1)[0]!);
    },
  };
}
