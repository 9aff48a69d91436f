/**
 * Agreement of a judge with labels. What score of the judge counts as good is fitted on the labels:
 * on each of five folds of the rows with the threshold that agrees most on the other four.
 */
import { sum } from '../math/rewards.js';

/** Outputs of a fold with a score of the judge and a label. */
export interface ScoredLabels {
  fold: number;
  judge: number;
  isGood: boolean;
  outputs: number;
}

/** By the index of a row. */
export const folds = 5;
/** The threshold if no label says otherwise. */
const usual = 0.5;

/** The least score that agrees with most labels as good; of equal ones the nearest to 0.5. */
export function fitThreshold(cells: readonly ScoredLabels[]): number {
  const scores = [...new Set(cells.map(({ judge }) => judge))].sort((left, right) => left - right);
  const between = scores.slice(1).map((score, at) => (score + scores[at]!) / 2);
  const agreed = (threshold: number) =>
    sum(cells.map(({ judge, isGood, outputs }) => (judge >= threshold === isGood ? outputs : 0)));
  const candidates = [usual, ...between].map((threshold) => ({ threshold, agreed: agreed(threshold) }));
  const byFit = candidates.sort(
    (left, right) => right.agreed - left.agreed || Math.abs(left.threshold - usual) - Math.abs(right.threshold - usual),
  );
  return byFit[0]!.threshold;
}

/** The counts with each fold's threshold fitted on the others. */
export function countByFolds(cells: readonly ScoredLabels[]): AgreementCounts {
  const counts: AgreementCounts = { n: 0, judged: 0, labelled: 0, bothGood: 0 };
  for (let fold = 0; fold < folds; fold += 1) {
    const threshold = fitThreshold(cells.filter((cell) => cell.fold !== fold));
    for (const { judge, isGood, outputs } of cells.filter((cell) => cell.fold === fold)) {
      const isJudgedGood = judge >= threshold;
      counts.n += outputs;
      counts.judged += isJudgedGood ? outputs : 0;
      counts.labelled += isGood ? outputs : 0;
      counts.bothGood += isJudgedGood && isGood ? outputs : 0;
    }
  }
  return counts;
}

/** Labelled outputs: all, and those that the judge, the label, and both call good. */
export interface AgreementCounts {
  n: number;
  judged: number;
  labelled: number;
  bothGood: number;
}

export interface Agreement {
  n: number;
  /** Share of outputs on which both say good, or both say bad; null without any. */
  accuracy: number | null;
  /** Cohen's kappa (1960); null if judge and labels all say the same, or without any. */
  kappa: number | null;
  /** Probability of at least this agreement by chance: Fisher's exact test, one-sided. */
  pValue: number;
  /** Whether chance alone gives so much agreement in less than 5 % of cases. */
  betterThanChance: boolean;
}

const significance = 0.05;

export function agreement(counts: AgreementCounts): Agreement {
  const { n, judged, labelled, bothGood } = counts;
  const agreed = n - judged - labelled + 2 * bothGood;
  // In counts of n² pairs: whole numbers, which do not round.
  const byChance = judged * labelled + (n - judged) * (n - labelled);
  const pValue = upperTail(counts);
  return {
    n,
    accuracy: n === 0 ? null : agreed / n,
    kappa: byChance === n * n ? null : (agreed * n - byChance) / (n * n - byChance),
    pValue,
    betterThanChance: pValue < significance,
  };
}

/** The probability of at least `bothGood` in common, if the judge said good at random as often. */
function upperTail({ n, judged, labelled, bothGood }: AgreementCounts): number {
  const logs = [0];
  for (let k = 1; k <= n; k += 1) logs.push(logs[k - 1]! + Math.log(k));
  const choose = (total: number, picked: number) => logs[total]! - logs[picked]! - logs[total - picked]!;
  let tail = 0;
  for (let common = bothGood; common <= Math.min(judged, labelled); common += 1) {
    const rest = judged - common;
    if (rest > n - labelled) continue;
    tail += Math.exp(choose(labelled, common) + choose(n - labelled, rest) - choose(n, judged));
  }
  return Math.min(1, tail);
}
