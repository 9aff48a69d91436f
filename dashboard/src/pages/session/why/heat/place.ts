/** Places in the map: a row and a column of its order. */
export interface Place {
  row: number;
  column: number;
}

/** The size of a cell, so that the map fills its width; a large map scrolls. */
export function cellSize(rows: number, columns: number, width: number): { width: number; height: number } {
  return {
    width: Math.max(2, Math.min(32, Math.floor(width / columns))),
    height: Math.max(2, Math.min(18, Math.floor(480 / rows))),
  };
}

const steps: Record<string, [number, number]> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  PageUp: [-10, 0],
  PageDown: [10, 0],
  Home: [0, -Infinity],
  End: [0, Infinity],
};

/** Where a key leads; undefined: it does not move. */
export function moved(from: Place | null, key: string, rows: number, columns: number): Place | undefined {
  const step = steps[key];
  if (step === undefined) return undefined;
  if (from === null) return { row: 0, column: 0 };
  const within = (value: number, count: number) => Math.max(0, Math.min(count - 1, value));
  return { row: within(from.row + step[0], rows), column: within(from.column + step[1], columns) };
}
