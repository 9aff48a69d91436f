/** What people's reviews say of the expected values of rows. */
import type { ReviewVerdict } from '../../contracts/review.js';

export interface RowReview {
  /** null: of a live answer. */
  seed: number | null;
  verdict: ReviewVerdict | null;
  corrected: string | null;
}

export interface Correction {
  /** The latest corrected answer; null: none. */
  corrected: string | null;
  /** Whether somebody says that the expected value is wrong. */
  isBad: boolean;
}

/** The corrections of rows by their numbers. `reviews`: of any candidate, oldest first. */
export function correctionsOf(reviews: readonly RowReview[]): Map<number, Correction> {
  const bySeed = new Map<number, Correction>();
  for (const { seed, verdict, corrected } of reviews) {
    if (seed === null || (verdict !== 'bad_expected' && corrected === null)) continue;
    const before = bySeed.get(seed);
    bySeed.set(seed, {
      corrected: corrected ?? before?.corrected ?? null,
      isBad: verdict === 'bad_expected' || before?.isBad === true,
    });
  }
  return bySeed;
}
