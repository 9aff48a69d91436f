import { createHash } from 'node:crypto';
import { seedRng, uniformInt, weightedPick, type Rng } from '../../src/core/math/random.js';

/** Seeded randomness. `names` select a sequence that is independent of other draws. */
export class SeededChoice {
  private rng: Rng;
  private readonly seed: number;

  constructor(seed: number, ...names: (string | number)[]) {
    this.seed = seed;
    this.rng = seedRng(seed, createHash('sha256').update(names.join('\0')).digest().readUInt32LE());
  }

  /** An independent sequence of the same seed. */
  of(...names: (string | number)[]): SeededChoice {
    return new SeededChoice(this.seed, ...names);
  }

  /** An integer between `from` and `to`, inclusive. */
  between(from: number, to: number): number {
    const [drawn, next] = uniformInt(this.rng, to - from + 1);
    this.rng = next;
    return from + drawn;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.between(0, items.length - 1)]!;
  }

  /** True with a probability of `percent`. */
  chance(percent: number): boolean {
    return this.between(1, 100) <= percent;
  }

  /** An item, drawn in proportion to its `weight`. */
  weighted<T extends { weight: number }>(items: readonly T[]): T {
    const [index, next] = weightedPick(
      this.rng,
      items.map((item) => item.weight),
    );
    this.rng = next;
    return items[index]!;
  }
}
