/** The dollars of a job that runs jobs one after the other, such as a migration. */

/** Comparisons of a winner, in those so far: it runs once, and what differs once more on both. */
const comparisonsOfWinner = 3;

/**
 * Dollars of the next job: what the earlier ones leave. A session leaves enough of it to compare
 * its winner, at most half.
 */
export function dollarsOf(part: string, { max, spent }: { max: number; spent: number }): number {
  const left = Math.max(0, max - spent);
  return part === 'session' ? left - Math.min(left / 2, comparisonsOfWinner * spent) : left;
}
