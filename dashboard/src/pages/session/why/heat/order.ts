import { failed, type Part, type RewardMatrix } from './matrix.js';

/** Rows and columns of a matrix in the order of the map. */
export interface Order {
  rows: number[];
  columns: number[];
}

/**
 * The hardest rows first, the best candidates first: by their known reward, others after them by
 * the mean of their cells. Without the rows of other parts, and the candidates that ran on none.
 */
export function orderOf(matrix: RewardMatrix, rewards: ReadonlyMap<string, number | null>, part: Part | null): Order {
  const rows = [...matrix.seeds.keys()].filter((row) => part === null || matrix.isIn(row, part));
  const indexes = [...matrix.candidateIds.keys()];
  const byRow = meansOf(rows, indexes, (row, index) => matrix.value(row, index));
  const byColumn = meansOf(indexes, rows, (index, row) => matrix.value(row, index));
  const known = (index: number) => rewards.get(matrix.candidateIds[index]!) ?? -Infinity;
  const down = (x: number, y: number) => (x === y ? 0 : y > x ? 1 : -1);
  return {
    rows: rows.sort((a, b) => byRow.get(a)! - byRow.get(b)! || matrix.seeds[a]! - matrix.seeds[b]!),
    columns: [...byColumn.keys()].sort(
      (a, b) => down(known(a), known(b)) || down(byColumn.get(a)!, byColumn.get(b)!) || a - b,
    ),
  };
}

/** The mean of each line; failed cells count 0. Lines without a cell have none. */
function meansOf(
  lines: readonly number[],
  across: readonly number[],
  read: (line: number, other: number) => number,
): Map<number, number> {
  const means = new Map<number, number>();
  for (const line of lines) {
    let [sum, count] = [0, 0];
    for (const other of across) {
      const value = read(line, other);
      if (Number.isNaN(value)) continue;
      count += 1;
      if (value !== failed) sum += value;
    }
    if (count > 0) means.set(line, sum / count);
  }
  return means;
}
