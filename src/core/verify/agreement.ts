/** Agreement of a judge with labels. */

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
