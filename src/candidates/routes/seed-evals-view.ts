import type { z } from 'zod';
import type { seedEvalSchema } from '../contract/lineage.js';
import type { SeedEval } from '../store/lineage.js';
import { isoOrNull } from '../../jobs/routes/view.js';
import { cutToBytes } from '../../util/text.js';

/** Limit in a list; the trace of the rollout has the whole feedback. */
const feedbackBytes = 4 * 1024;

/** A rollout of a candidate, in a list. */
export function seedEvalView(row: SeedEval): z.output<typeof seedEvalSchema> {
  return {
    rollout_id: row.rolloutId,
    seed: row.seed,
    stage: row.stage,
    generation: row.generation,
    reward: row.reward,
    status: row.status,
    feedback: row.feedback === null ? null : cutToBytes(row.feedback, feedbackBytes),
    error: row.error,
    completed_at: isoOrNull(row.completedAt),
  };
}
