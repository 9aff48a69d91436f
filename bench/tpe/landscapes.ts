import { nextUint32, seedRng, type Rng } from '../../src/core/math/random.js';

/** A function over a categorical space with a known maximum; values have mean about 0. */
interface Landscape {
  space: number[];
  /** The noise-free value of a combination. */
  valueOf(choices: readonly number[]): number;
  /** The maximum. */
  best: number;
  /** The standard deviation of `valueOf` over the space. */
  spread: number;
}

/** A sum over blocks of dimensions with separate tables: its maximum is the sum of theirs. */
interface Block {
  sizes: number[];
  /** Cell (i, j) is at i * sizes[1] + j. */
  table: number[];
}

/** A family of functions, one per seed. */
export interface Family {
  name: string;
  make(seed: number): Landscape;
}

const separable = (...space: number[]): Family => ({
  name: `separable, ${space.join('x')}`,
  make: (seed) => landscape(seed, (draw) => space.map((size) => ({ sizes: [size], table: normals(draw, size) }))),
});

/**
 * Pairs of dimensions: effects of row and column, and an interaction `strength` times as strong.
 */
const paired = (name: string, strength: number, pairs: [number, number][]): Family => ({
  name: `${name}, ${pairs.map((pair) => pair.join('x')).join(' ')}`,
  make: (seed) => landscape(seed, (draw) => pairs.map((sizes) => ({ sizes, table: pairTable(draw, sizes, strength) }))),
});

/** Deceptive pairs: the best cell is where the worst row and the worst column meet. */
const deceptive = (pairs: [number, number][]): Family => ({
  name: `deceptive, ${pairs.map((pair) => pair.join('x')).join(' ')}`,
  make: (seed) =>
    landscape(seed, (draw) =>
      pairs.map((sizes) => {
        const table = pairTable(draw, sizes, 0);
        table[table.indexOf(Math.min(...table))] = Math.max(...table) + 1;
        return { sizes, table };
      }),
    ),
});

/** The measured families: 2 to 6 dimensions of 4 to 20 choices. */
export const families: readonly Family[] = [
  separable(20, 20),
  separable(10, 10, 10),
  separable(8, 8, 8, 8),
  separable(4, 4, 4, 4, 4, 4),
  paired('interacting', 1, [[8, 8]]),
  paired('interacting', 1, [
    [5, 5],
    [5, 5],
  ]),
  paired('interacting', 1, [
    [4, 4],
    [4, 4],
    [4, 4],
  ]),
  deceptive([[8, 8]]),
  deceptive([
    [4, 4],
    [4, 4],
  ]),
  paired('MIPRO-like', 0.5, [[6, 6]]),
  paired('MIPRO-like', 0.5, [[6, 19]]),
  paired('MIPRO-like', 0.5, [[19, 19]]),
  paired('MIPRO-like', 0.5, [
    [6, 6],
    [6, 6],
  ]),
];

type Draw = () => number;

function pairTable(draw: Draw, [rows, columns]: [number, number], strength: number): number[] {
  const row = normals(draw, rows);
  const column = normals(draw, columns);
  return row.flatMap((left) => column.map((right) => left + right + strength * draw()));
}

function landscape(seed: number, splitBlocks: (draw: Draw) => Block[]): Landscape {
  const blocks = splitBlocks(normalDraws(seedRng(seed, 1)));
  const sum = (of: (block: Block) => number) => blocks.reduce((total, block) => total + of(block), 0);
  return {
    space: blocks.flatMap(({ sizes }) => sizes),
    valueOf: (choices) => {
      let at = 0;
      return sum(({ sizes, table }) => table[sizes.reduce((cell, size) => cell * size + choices[at++]!, 0)]!);
    },
    best: sum(({ table }) => Math.max(...table)),
    spread: Math.sqrt(sum(({ table }) => variance(table))),
  };
}

/** Standard normal draws, each a sum of twelve uniform draws. */
export function normalDraws(start: Rng): Draw {
  let rng = start;
  return () => {
    let total = -6;
    for (let part = 0; part < 12; part += 1) {
      const [value, next] = nextUint32(rng);
      total += value / 2 ** 32;
      rng = next;
    }
    return total;
  };
}

function normals(draw: Draw, count: number): number[] {
  return Array.from({ length: count }, draw);
}

function variance(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
}
