/** What commands print: results on stdout, everything else on stderr. */

/** A line of the result. */
export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** A line about what happens meanwhile. */
export function note(line: string): void {
  process.stderr.write(`${line}\n`);
}

export function sayJson(value: unknown): void {
  say(JSON.stringify(value, null, 2));
}

/** Columns of equal width, separated by two spaces. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = rows.reduce<number[]>(
    (most, row) => row.map((cell, index) => Math.max(cell.length, most[index] ?? 0)),
    [],
  );
  return rows
    .map((row) =>
      row
        .map((cell, index) => cell.padEnd(widths[index]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

export function dollars(usd: number | null): string {
  return usd === null ? 'cost unknown' : `$${usd.toFixed(4)}`;
}

/** ±Number.MAX_VALUE: the end of an interval without a bound. */
export function decimal(value: number | null): string {
  if (value === null) return 'none';
  if (Math.abs(value) === Number.MAX_VALUE) return value < 0 ? '-∞' : '∞';
  return value.toFixed(3);
}
