import { decimal, say, shortLine, table } from '../service/output.js';

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
    shortLine(input, mostChars),
    shortLine(output, mostChars),
  ]);
  say(table([['ROW', ...heads, 'INPUT', 'ANSWER'], ...cells]));
}
