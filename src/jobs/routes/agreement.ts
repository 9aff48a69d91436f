import type { z } from 'zod';
import type { agreementSchema } from '../../contracts/agreement.js';
import type { RowsSpec } from '../../core/jobs/spec.js';
import { agreement, countByFolds, fitThreshold } from '../../core/verify/agreement.js';
import type { Tx } from '../../platform/db/db.js';
import { readScoredLabels } from '../../rollouts/store/agreement.js';

/** A field of a job's view. */
export interface JudgeAgreement {
  judge_agreement?: NonNullable<z.output<typeof agreementSchema>>;
}

/** The agreement of a job's judge with labels so far. */
export async function readAgreement(
  tx: Tx,
  { jobId, spec }: { jobId: string; spec: { rows?: Pick<RowsSpec, 'labels'> } },
): Promise<JudgeAgreement> {
  if (!spec.rows?.labels) return {};
  const labels = await readScoredLabels(tx, jobId);
  const { n, accuracy, kappa, pValue, betterThanChance } = agreement(countByFolds(labels));
  if (n === 0) return {};
  const judge_agreement = {
    outputs: n,
    threshold: fitThreshold(labels),
    accuracy,
    kappa,
    p_value: pValue,
    better_than_chance: betterThanChance,
  };
  return { judge_agreement };
}
