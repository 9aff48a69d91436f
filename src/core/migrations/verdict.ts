/** Whether a prompt on a new model is no worse than what is live. */
import { meanInterval, type Interval } from '../math/mean-interval.js';
import { compareRepeated, type RepeatedRewards } from '../math/repeated-pairs.js';
import { mean } from '../math/rewards.js';
import { sampleOf, type Comparison } from '../math/statistics.js';

export type MigrationVerdict = 'no_worse' | 'worse' | 'inconclusive';

/** A row with a lower reward than today. */
export interface WorseRow {
  seed: number;
  today: number;
  reward: number;
}

/** A prompt on the new model beside today's, row by row. */
export interface Judged extends Comparison {
  verdict: MigrationVerdict;
  /** Mean rewards with their 95 % intervals for unseen rows. */
  reward: number;
  interval: Interval;
  today: { reward: number | null; interval: Interval };
  /** Compared rows: those with a reward today. */
  rows: number;
  /** Rows that would decide if the difference stays; null: decided, or more rows would not. */
  rowsNeeded: number | null;
  worseCount: number;
  /** The rows that lose most, at most `mostWorse`. */
  worse: WorseRow[];
}

/** Rows that lost reward which a verdict names. */
const mostWorse = 50;

type Sides = Pick<RepeatedRewards, 'candidate' | 'repeats'> & { incumbent: readonly (number | null)[] };

/** `seeds`: of the rewards, in their order. */
export function judgeSide({
  seeds,
  maxLoss,
  ...rewards
}: Sides & { seeds: readonly number[]; maxLoss: number }): Judged {
  const { candidate, incumbent, ours, theirs, tested } = compareRepeated(rewards);
  const { difference, low, high } = tested;
  const verdict = ours.length === 0 ? 'inconclusive' : verdictOf(tested, maxLoss);
  const { mean: reward, ...interval } = meanInterval(sampleOf(candidate));
  const { low: least, high: greatest } = meanInterval(sampleOf(theirs));
  return {
    verdict,
    difference,
    low,
    high,
    reward,
    interval,
    today: { reward: mean(theirs), interval: { low: least, high: greatest } },
    rows: ours.length,
    rowsNeeded: verdict === 'inconclusive' ? rowsNeeded(tested, ours.length, maxLoss) : null,
    ...lostRows(seeds, candidate, incumbent ?? []),
  };
}

/** Rows with a lower reward than today, the largest losses first; today null: not compared. */
export function lostRows(
  seeds: readonly number[],
  rewards: readonly number[],
  today: readonly (number | null)[],
): { worseCount: number; worse: WorseRow[] } {
  const worse = seeds.flatMap((seed, at): WorseRow[] => {
    const [reward, before] = [rewards[at]!, today[at] ?? null];
    return before !== null && reward < before ? [{ seed, today: before, reward }] : [];
  });
  const ordered = worse.sort((left, right) => lossOf(right) - lossOf(left) || left.seed - right.seed);
  return { worseCount: worse.length, worse: ordered.slice(0, mostWorse) };
}

const lossOf = ({ today, reward }: WorseRow): number => today - reward;

function verdictOf({ low, high }: Comparison, maxLoss: number): MigrationVerdict {
  if (low >= -maxLoss) return 'no_worse';
  return high < 0 ? 'worse' : 'inconclusive';
}

/** The width of an interval falls with the root of the rows, at best to that of equal rows. */
function rowsNeeded({ difference, low }: Comparison, rows: number, maxLoss: number): number | null {
  const room = difference + maxLoss;
  if (rows < 2 || room <= 0) return null;
  const needed = difference === 0 && low > -1 ? 0 : Math.ceil(rows * ((difference - low) / room) ** 2);
  return Math.max(needed, leastRows(maxLoss), rows + 1);
}

/** The fewest equal rows whose interval shows a loss of at most `maxLoss`. */
export function leastRows(maxLoss: number): number {
  return maxLoss >= 1 ? 2 : Math.ceil(Math.log(0.025) / Math.log1p(-Math.max(maxLoss, 1e-6)));
}
