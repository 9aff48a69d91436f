import { correctionsOf } from '../../../../src/core/reviews/corrections.js';
import { hintOf } from '../../../../src/core/reviews/hint.js';
import type { Row } from '../../data/rows/types.js';

/**
 * A hint from rows that people do not call right; held-out rows would spoil the comparison. Null:
 * there are none.
 */
export function hintOfRows(rows: readonly Row[]): string | null {
  const shown = rows.filter(
    ({ seen, after, reviews }) =>
      seen !== false && after !== null && !reviews.some(({ verdict }) => verdict === 'right'),
  );
  return hintOf(
    shown.map(({ seed, name, input, expected, after, reviews }) => {
      const { corrected = null, isBad = false } =
        correctionsOf(reviews.map((review) => ({ ...review, seed }))).get(seed) ?? {};
      return {
        name,
        input,
        wanted: corrected ?? (isBad ? null : expected),
        got: after!.answer ?? after!.error ?? '',
        notes: reviews.flatMap(({ note }) => note ?? []),
      };
    }),
  );
}
