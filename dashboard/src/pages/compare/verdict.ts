import type { Answer } from '../../../../src/client/index.js';
import { count, signed } from '../../util/format.js';
import { rowsNeededWords } from '../search/verdict.js';

export type Comparison = Answer<'compareCandidates'>;

/** Beyond this a bound of an interval stands for none: the service sends the largest number. */
const unboundedFrom = 1e300;

export const hasInterval = ({ difference: { low, high } }: Pick<Comparison, 'difference'>): boolean =>
  Math.abs(low) < unboundedFrom && Math.abs(high) < unboundedFrom;

type Judged = Pick<Comparison, 'verdict' | 'difference' | 'seeds_compared' | 'rows_needed'>;

/** The verdict on b as a sentence. */
export function verdictOf(comparison: Judged): string {
  const { verdict, difference, seeds_compared: seeds } = comparison;
  const rows = `${count(seeds)} common ${seeds === 1 ? 'row' : 'rows'}`;
  if (verdict === 'better') return `B is better than A by ${difference.mean.toFixed(3)} on ${rows}.`;
  if (verdict === 'worse') return `B is worse than A by ${(-difference.mean).toFixed(3)} on ${rows}.`;
  const mean = `B differs from A by ${signed(difference.mean)} on ${rows}`;
  return `${mean}, which chance alone may explain.${rowsNeededWords(comparison.rows_needed)}`;
}
