/** Comparisons with a baseline as a sentence. */
import { counted, signed } from '../math/words.js';
import type { Conclusion } from '../math/statistics.js';

/** A column beside the baseline, by the names that people see. */
export interface NamedVerdict {
  name: string;
  verdict: Conclusion;
  /** The difference to the baseline with its 95 % interval. */
  mean: number;
  low: number;
  high: number;
  rows: number;
}

/** The better columns first, then the worse ones, then those that chance may explain. */
export function sentenceOf(baseline: string, columns: readonly NamedVerdict[]): string {
  const of = (verdict: Conclusion) => columns.filter((column) => column.verdict === verdict);
  const told = (['better', 'worse'] as const).map((verdict) =>
    of(verdict)
      .sort((one, two) => two.mean - one.mean)
      .map((column, at) => `${column.name} is ${verdict}${at === 0 ? ` than ${baseline}` : ''} (${figures(column)})`),
  );
  const open = of('inconclusive').map(({ name }) => name);
  const from = told.flat().length === 0 ? ` from ${baseline}` : '';
  const are = open.length === 1 ? 'is' : 'are';
  const rest = open.length === 0 ? [] : [`${listOf(open)} ${are} not shown to differ${from}`];
  return `${[...told.flat(), ...rest].join('; ')}.`;
}

const figures = ({ mean, low, high, rows }: NamedVerdict): string => {
  const bounds = Math.max(-low, high) === Number.MAX_VALUE ? '' : `, 95 % ${signed(low)} to ${signed(high)}`;
  return `${signed(mean)}${bounds}, ${counted(rows, 'row')}`;
};

const listOf = (names: readonly string[]): string =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)!}`;
