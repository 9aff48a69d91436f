/** What a comparison that is planned needs, in words. */
import { grouped } from '../math/words.js';

/** So many rows hold out `heldout` of them by themselves: at most a third are. */
export const rowsInAll = (heldout: number): number => 3 * heldout;

/** What would show a difference of 0.1; `enough`: held-out rows. */
export const tenthWords = (enough: number): string =>
  `0.1 needs ${grouped(enough)} held-out rows, about ${grouped(rowsInAll(enough))} rows in all`;
