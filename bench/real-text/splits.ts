/** Which rows a search learns from, chooses by, and never sees. */
import { range } from '../curve/arguments.js';
import { seedRng, shuffle } from '../../src/core/math/random.js';

export interface TextRow {
  input: string;
  expected: string;
}

/** Seeds are indexes of the rows. */
export interface Split {
  rows: TextRow[];
  trainSeeds: number[];
  evaluationSeeds: number[];
  heldoutSeeds: number[];
}

const train = 60;
const evaluation = 40;

/** The split with this number; rows with equal inputs stand in it once. */
export function splitOf(all: readonly TextRow[], split: number, heldout: number): Split {
  const seen = new Set<string>();
  const distinct = all.filter(({ input }) => {
    const key = input.trim().replace(/\s+/g, ' ').toLowerCase();
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
  const [rows] = shuffle(seedRng(split), distinct);
  const unseen = train + evaluation;
  if (rows.length <= unseen) throw new RangeError(`${rows.length} rows; a split needs more than ${unseen}.`);
  return {
    rows,
    trainSeeds: range(0, train),
    evaluationSeeds: range(train, unseen),
    heldoutSeeds: range(unseen, Math.min(rows.length, unseen + heldout)),
  };
}
