/** The order and the heights of the cells in each layer of a graph. */

/** A box, or a gap that a long edge passes in a layer between its ends. */
export interface Cell {
  id: string;
  width: number;
  height: number;
  layer: number;
  before: Cell[];
  after: Cell[];
  /** Of the middle. */
  y: number;
}

const rowGap = 18;
const sweeps = 12;

/** The layers, in the order with the fewest crossings that some sweeps find. */
export function ordered(cells: readonly Cell[]): Cell[][] {
  const count = Math.max(-1, ...cells.map(({ layer }) => layer)) + 1;
  let columns = Array.from({ length: count }, (_, layer) => cells.filter((cell) => cell.layer === layer));
  let best = { columns, crossings: crossingsOf(columns) };
  for (let sweep = 0; sweep < sweeps && best.crossings > 0; sweep += 1) {
    const side = sweep % 2 === 0 ? 'before' : 'after';
    columns = sweptBy(side, columns);
    const crossings = crossingsOf(columns);
    if (crossings < best.crossings) best = { columns, crossings };
  }
  return best.columns;
}

/** Each layer sorted by the mean place of its neighbors on one side. */
function sweptBy(side: 'before' | 'after', columns: Cell[][]): Cell[][] {
  const swept = [...columns];
  const order = [...columns.keys()];
  for (const layer of side === 'before' ? order : order.reverse()) {
    const places = placesOf(swept);
    const mean = (cell: Cell) => meanOf(cell[side].map((each) => places.get(each)!)) ?? places.get(cell)!;
    swept[layer] = swept[layer]!.toSorted((a, b) => mean(a) - mean(b));
  }
  return swept;
}

const placesOf = (columns: Cell[][]): Map<Cell, number> =>
  new Map(columns.flatMap((column) => column.map((cell, place) => [cell, place] as const)));

function crossingsOf(columns: Cell[][]): number {
  const places = placesOf(columns);
  let crossings = 0;
  for (const column of columns) {
    const pairs = column.flatMap((cell) => cell.after.map((to) => [places.get(cell)!, places.get(to)!] as const));
    for (const [n, [a, b]] of pairs.entries())
      for (const [c, d] of pairs.slice(n + 1)) if ((a - c) * (b - d) < 0) crossings += 1;
  }
  return crossings;
}

const meanOf = (values: number[]): number | null =>
  values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;

/** Moves cells towards their neighbors, in their order and without an overlap; the top is at 0. */
export function placeVertically(columns: Cell[][]): void {
  for (const column of columns) place(column, () => 0);
  for (let sweep = 0; sweep < sweeps; sweep += 1) {
    const side = sweep % 2 === 0 ? 'before' : 'after';
    for (const column of side === 'before' ? columns : columns.toReversed())
      place(column, (cell) => meanOf(cell[side].map(({ y }) => y)) ?? cell.y);
  }
  const top = Math.min(...columns.flat().map(({ y, height }) => y - height / 2));
  for (const cell of columns.flat()) cell.y -= top;
}

function place(column: Cell[], wish: (cell: Cell) => number): void {
  const wishes = column.map(wish);
  const distance = (n: number) => (column[n - 1]!.height + column[n]!.height) / 2 + rowGap;
  const down = [...wishes];
  for (let n = 1; n < down.length; n += 1) down[n] = Math.max(down[n]!, down[n - 1]! + distance(n));
  const up = [...wishes];
  for (let n = up.length - 1; n > 0; n -= 1) up[n - 1] = Math.min(up[n - 1]!, up[n]! - distance(n));
  for (const [n, cell] of column.entries()) cell.y = (down[n]! + up[n]!) / 2;
}
