import type { z } from 'zod';
import type { agreementSchema } from '../../contracts/agreement.js';
import type { RowsSpec } from '../../core/jobs/spec.js';
import { agreement, countByFolds, fitThreshold, type ScoredLabels } from '../../core/verify/agreement.js';
import type { Tx } from '../../platform/db/db.js';
import { readReviewedScores } from '../../reviews/store/reviews.js';
import { readScoredLabels } from '../../rollouts/store/agreement.js';

type View = NonNullable<z.output<typeof agreementSchema>>;

/** A field of a job's view. */
export interface JudgeAgreement {
  judge_agreement?: View;
}

/** The agreement of a job's judge with people's reviews, else with labels, so far. */
export async function readAgreement(
  tx: Tx,
  { jobId, spec }: { jobId: string; spec: { rows?: Pick<RowsSpec, 'labels'> } },
): Promise<JudgeAgreement> {
  if (!spec.rows) return {};
  const judge_agreement =
    agreementView('reviews', await readReviewedScores(tx, jobId)) ??
    (spec.rows.labels ? agreementView('expected', await readScoredLabels(tx, jobId)) : null);
  return judge_agreement ? { judge_agreement } : {};
}

/** null: there is no label. */
export function agreementView(basis: View['basis'], labels: readonly ScoredLabels[]): View | null {
  const { n, accuracy, kappa, pValue, betterThanChance } = agreement(countByFolds(labels));
  if (n === 0) return null;
  return {
    basis,
    outputs: n,
    threshold: fitThreshold(labels),
    accuracy,
    kappa,
    p_value: pValue,
    better_than_chance: betterThanChance,
  };
}
