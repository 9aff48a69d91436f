/** Numbers in sentences. */

/**
 * A difference of rewards with its sign and three digits; none has no sign. ±Number.MAX_VALUE: the
 * end of an interval without a bound.
 */
export function signed(value: number): string {
  const size = Math.abs(value);
  const sign = value < 0 ? '−' : '+';
  if (size === Number.MAX_VALUE) return `${sign}∞`;
  return size === 0 ? '0.000' : `${sign}${size.toFixed(3)}`;
}

export const counted = (count: number, noun: string): string => `${grouped(count)} ${noun}${count === 1 ? '' : 's'}`;

/** A number with commas between thousands, independent of the locale. */
export function grouped(count: number): string {
  return Math.round(count).toLocaleString('en-US');
}

/** So many rows hold out `heldout` of them by themselves: at most a third are. */
export const rowsInAll = (heldout: number): number => 3 * heldout;

/** What would show a difference of 0.1; `enough`: held-out rows. */
export const tenthWords = (enough: number): string =>
  `0.1 needs ${grouped(enough)} held-out rows, about ${grouped(rowsInAll(enough))} rows in all`;
