/** What a paired comparison can show, before any rollout. */
import { testPaired } from './statistics.js';

/** The assumed share of rows on which a better candidate is worse. */
const lostShare = 1 / 20;

/**
 * The least difference of means that `testPaired` detects on this number of rows of right and wrong
 * answers. Assumes that the candidate loses 1 row in 20. Null: it detects no difference.
 */
export function leastShown(rows: number): number | null {
  const lost = Math.floor(rows * lostShare);
  let [least, most] = [lost, rows - lost + 1];
  while (least + 1 < most) {
    const won = Math.floor((least + most) / 2);
    if (isShown(rows, won, lost)) most = won;
    else least = won;
  }
  return most > rows - lost ? null : (most - lost) / rows;
}

function isShown(rows: number, won: number, lost: number): boolean {
  const winner = Array.from({ length: rows }, (_, row) => (row < won ? 1 : 0));
  const baseline = Array.from({ length: rows }, (_, row) => (row >= won && row < won + lost ? 1 : 0));
  return testPaired(winner, baseline).low > 0;
}

/** The fewest rows, in tens, that show a difference of 0.1. */
export const rowsForTenth = 90;
