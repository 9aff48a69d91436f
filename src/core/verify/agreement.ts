/** Agreement of a judge with labels. */
import type { ScorerSpec } from '../../contracts/scoring/scorer.js';
import { compare } from './compare.js';
import type { Verification } from './verification.js';

/** A judge's score and a label of the same output, each 0 to 1; at least 0.5 means good. */
export interface LabelledScore {
  judge: number;
  label: number;
}

/**
 * The score of a scorer's first judge beside the label: whether the output equals the expected
 * value. Null: no judge, or no expected value.
 */
export function labelledScore(
  scorer: ScorerSpec,
  expected: unknown,
  output: string,
  { reward, criteria }: Pick<Verification, 'reward' | 'criteria'>,
): LabelledScore | null {
  // A weighted scorer names its first judge `rubric`.
  const judge =
    scorer.mode === 'rubric'
      ? reward
      : scorer.mode === 'weighted' && criteria?.find(({ name }) => name === 'rubric')?.score;
  if (typeof judge !== 'number' || expected == null) return null;
  return { judge, label: compare({ mode: 'exact', caseSensitive: false }, expected, output).reward };
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
