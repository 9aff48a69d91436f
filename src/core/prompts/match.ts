/**
 * Matches the elements of two sequences in order: by a longest common subsequence within a bound,
 * else along the elements unique in both ("patience diff", Bram Cohen). Bounded: at most
 * `exactCells` table cells in total, otherwise time linear in the lengths up to a logarithm.
 */

const exactCells = 50_000;

/** A range of both sequences, from (inclusive) and to (exclusive). */
interface Part {
  aFrom: number;
  aTo: number;
  bFrom: number;
  bTo: number;
}

/** For each element of `rowB` the index of its equal in `rowA`, ascending, or -1. */
export function matchRows(rowA: readonly string[], rowB: readonly string[]): number[] {
  // Compare numbers instead of texts: long sentences with equal beginnings are slow to compare.
  const numbers = new Map<string, number>();
  const match = new Match(internTexts(rowA, numbers), internTexts(rowB, numbers));
  match.run();
  return match.partner;
}

/** A match in the making. Each step takes a part in which nothing is matched yet. */
class Match {
  /** For each element of `b` the index of its equal in `a`; -1: none so far. */
  readonly partner: number[];
  readonly #a: Int32Array;
  readonly #b: Int32Array;
  /** Cells that further tables may have. */
  #cells = exactCells;

  constructor(a: Int32Array, b: Int32Array) {
    this.#a = a;
    this.#b = b;
    this.partner = Array.from(b, () => -1);
  }

  run(): void {
    for (const part of this.#trim({ aFrom: 0, aTo: this.#a.length, bFrom: 0, bTo: this.#b.length })) {
      if (this.#reserveTable(part)) this.#matchExactly(part);
      else for (const piece of this.#splitAtUnique(part)) this.#matchPiece(piece);
    }
  }

  #matchPiece(piece: Part): void {
    for (const rest of this.#trim(piece)) {
      if (this.#reserveTable(rest)) this.#matchExactly(rest);
      else this.#matchGreedily(rest);
    }
  }

  /** Whether the table of a part is within the bound; counts its cells. */
  #reserveTable(part: Part): boolean {
    const needed = (part.aTo - part.aFrom) * (part.bTo - part.bFrom);
    if (needed > this.#cells) return false;
    this.#cells -= needed;
    return true;
  }

  /** Matches equal elements at both ends; returns the remaining middle if both sides have one. */
  #trim({ aFrom, aTo, bFrom, bTo }: Part): Part[] {
    const { partner } = this;
    const [a, b] = [this.#a, this.#b];
    while (aFrom < aTo && bFrom < bTo && a[aFrom] === b[bFrom]) partner[bFrom++] = aFrom++;
    while (aFrom < aTo && bFrom < bTo && a[aTo - 1] === b[bTo - 1]) partner[--bTo] = --aTo;
    return aFrom < aTo && bFrom < bTo ? [{ aFrom, aTo, bFrom, bTo }] : [];
  }

  /** Matches a longest common subsequence. */
  #matchExactly({ aFrom, aTo, bFrom, bTo }: Part): void {
    const [a, b] = [this.#a, this.#b];
    const width = bTo - bFrom + 1;
    // longest[i * width + j]: length for the suffixes from the i-th and j-th element of the part.
    const longest = new Uint32Array((aTo - aFrom + 1) * width);
    for (let i = aTo - aFrom - 1; i >= 0; i--) {
      for (let j = width - 2; j >= 0; j--) {
        const at = i * width + j;
        longest[at] =
          a[aFrom + i] === b[bFrom + j]
            ? longest[at + width + 1]! + 1
            : Math.max(longest[at + width]!, longest[at + 1]!);
      }
    }
    for (let i = 0, j = 0; i < aTo - aFrom && j < width - 1;) {
      const at = i * width + j;
      if (a[aFrom + i] === b[bFrom + j]) this.partner[bFrom + j++] = aFrom + i++;
      else if (longest[at + width]! >= longest[at + 1]!) i++;
      else j++;
    }
  }

  /** Matches the longest ascending sequence of elements unique in both; returns the rest. */
  #splitAtUnique(part: Part): Part[] {
    const inA = uniqueIndexes(this.#a, part.aFrom, part.aTo);
    const inB = uniqueIndexes(this.#b, part.bFrom, part.bTo);
    const pairs: [number, number][] = [];
    for (const [text, index] of inB) {
      const other = inA.get(text);
      if (index >= 0 && other !== undefined && other >= 0) pairs.push([other, index]);
    }
    const parts: Part[] = [];
    let { aFrom, bFrom } = part;
    for (const [aIndex, bIndex] of longestAscending(pairs.sort((left, right) => left[1] - right[1]))) {
      this.partner[bIndex] = aIndex;
      parts.push({ aFrom, aTo: aIndex, bFrom, bTo: bIndex });
      aFrom = aIndex + 1;
      bFrom = bIndex + 1;
    }
    parts.push({ aFrom, aTo: part.aTo, bFrom, bTo: part.bTo });
    return parts;
  }

  /** Matches each element with the next unused equal one, in one pass. */
  #matchGreedily({ aFrom, aTo, bFrom, bTo }: Part): void {
    const indexes = indexesByValue(this.#a, aFrom, aTo);
    let next = aFrom;
    for (let j = bFrom; j < bTo; j++) {
      const left = indexes.get(this.#b[j]!);
      while (left?.length && left.at(-1)! < next) left.pop();
      const index = left?.pop();
      if (index === undefined) continue;
      this.partner[j] = index;
      next = index + 1;
    }
  }
}

/** Like `matchRows`, then matches the remaining equal elements anywhere: a move is no change. */
export function matchMoved(a: readonly string[], b: readonly string[]): number[] {
  const partner = matchRows(a, b);
  const taken = new Set(partner);
  const left = indexesByValue(a, 0, a.length, (index) => !taken.has(index));
  return partner.map((index, j) => (index >= 0 ? index : (left.get(b[j]!)?.pop() ?? -1)));
}

/** Equal texts get the same number, across all rows that share `numbers`. */
function internTexts(row: readonly string[], numbers: Map<string, number>): Int32Array {
  return Int32Array.from(row, (text) => {
    const number = numbers.get(text) ?? numbers.size;
    numbers.set(text, number);
    return number;
  });
}

/** The indexes of each element, last first. */
function indexesByValue<Key>(
  row: ArrayLike<Key>,
  from: number,
  to: number,
  include: (index: number) => boolean = () => true,
): Map<Key, number[]> {
  const indexes = new Map<Key, number[]>();
  for (let i = to - 1; i >= from; i--) {
    if (!include(i)) continue;
    const known = indexes.get(row[i]!);
    if (known) known.push(i);
    else indexes.set(row[i]!, [i]);
  }
  return indexes;
}

/** The index of each element; -1 if it occurs several times. */
function uniqueIndexes(row: Int32Array, from: number, to: number): Map<number, number> {
  const indexes = new Map<number, number>();
  for (let i = from; i < to; i++) indexes.set(row[i]!, indexes.has(row[i]!) ? -1 : i);
  return indexes;
}

/** The longest subsequence of pairs, given by ascending second, whose firsts ascend too. */
export function longestAscending(pairs: readonly [number, number][]): [number, number][] {
  const ends: number[] = [];
  const before: number[] = [];
  for (const [index, [first]] of pairs.entries()) {
    let low = 0;
    for (let high = ends.length; low < high;) {
      const middle = (low + high) >> 1;
      if (pairs[ends[middle]!]![0] < first) low = middle + 1;
      else high = middle;
    }
    before.push(low > 0 ? ends[low - 1]! : -1);
    ends[low] = index;
  }
  const row: [number, number][] = [];
  for (let index = ends.at(-1) ?? -1; index >= 0; index = before[index]!) row.push(pairs[index]!);
  return row.reverse();
}
