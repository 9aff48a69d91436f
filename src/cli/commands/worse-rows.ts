import { decimal, say, table } from '../service/output.js';

const mostRows = 10;
const mostChars = 40;

export interface WorseRow {
  seed: number;
  before: number;
  reward: number;
  input: string | null;
  output: string | null;
}

/** Prints the rows that lose most; `count` is that of all, `heads` those of both rewards. */
export function printWorse(rows: readonly WorseRow[], count: number, heads: readonly [string, string]): void {
  if (rows.length === 0) return;
  const shown = rows.slice(0, mostRows);
  say(`${count} rows got worse${count > shown.length ? `, of which ${shown.length}` : ''}:`);
  const cells = shown.map(({ seed, before, reward, input, output }) => [
    String(seed),
    decimal(before),
    decimal(reward),
    cut(input),
    cut(output),
  ]);
  say(table([['ROW', ...heads, 'INPUT', 'ANSWER'], ...cells]));
}

/** A text as one short line. */
export function cut(text: string | null): string {
  const line = (text ?? '').replaceAll(/\s+/g, ' ');
  return line.length > mostChars ? `${line.slice(0, mostChars - 1)}…` : line;
}
