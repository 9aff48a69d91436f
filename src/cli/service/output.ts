/**
 * What commands print: results on stdout, everything else on stderr. A terminal gets no control
 * characters of texts, which may be those of others.
 */
import type { Answer } from '../../client/index.js';
import { counted, signed } from '../../core/math/words.js';
import { printable } from '../../util/text.js';

/** A line of the result. */
export function say(line: string): void {
  const { stdout } = process;
  stdout.write(`${stdout.isTTY ? printable(line) : line}\n`);
}

/** A line about what happens meanwhile. */
export function note(line: string): void {
  process.stderr.write(`${printable(line)}\n`);
}

export function sayJson(value: unknown): void {
  say(JSON.stringify(value, null, 2));
}

/** Columns of equal width, separated by two spaces. */
export function table(texts: readonly (readonly string[])[]): string {
  const rows = texts.map((row) => row.map((cell) => cell.replaceAll(/\p{Cc}/gu, '\uFFFD')));
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

/** A text on one line of at most `most` characters. */
export function shortLine(text: string | null, most: number): string {
  const line = (text ?? '').replaceAll(/\s+/g, ' ');
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
}

export function dollars(usd: number | null): string {
  return usd === null ? 'cost unknown' : `$${usd.toFixed(4)}`;
}

/** How far a judge can be trusted; null: it was not measured. */
export function agreementText(agreement: Answer<'getSession'>['judge_agreement']): string | null {
  if (!agreement) return null;
  const { basis, outputs, accuracy, kappa, better_than_chance: isBetter } = agreement;
  const whose = basis === 'reviews' ? "people's reviews" : 'the labels';
  const verdict = isBetter ? 'better than chance' : 'no better than chance';
  return `Judge: agrees with ${whose} on ${decimal(accuracy)} of ${outputs} outputs (kappa ${decimal(kappa)}), ${verdict}`;
}

/** The 95 % interval of a difference. */
export function intervalText({ low, high }: { low: number; high: number }): string {
  return `95 %: ${signed(low)} to ${signed(high)}`;
}

/** A mean over rows, with its interval for unseen rows of the same kind. */
export function meanText(mean: number | null, interval: { low: number; high: number } | null): string {
  return `${decimal(mean)}${unseenText(interval)}`;
}

/** The 95 % interval of a mean for unseen rows, behind it. */
export function unseenText(interval: { low: number; high: number } | null): string {
  return interval === null ? '' : ` (unseen rows: ${decimal(interval.low)} to ${decimal(interval.high)})`;
}

/** What would decide an inconclusive comparison, behind it; empty: it is decided. */
export const rowsNeededText = (rows: number | null, unit = 'row'): string =>
  rows === null ? '' : `; about ${counted(rows, unit)} would decide`;

/** ±Number.MAX_VALUE: the end of an interval without a bound. */
export function decimal(value: number | null): string {
  if (value === null) return 'none';
  if (Math.abs(value) === Number.MAX_VALUE) return value < 0 ? '-∞' : '∞';
  return value.toFixed(3);
}
