/** Which part of its work a job is in. */
import { z } from 'zod';
import type { JobPhase } from '../core/jobs/phase.js';

const phases = ['baseline', 'search', 'evaluation', 'heldout', 'rows'] as const satisfies readonly JobPhase['name'][];

export const phaseSchema = z
  .object({
    name: z
      .enum(phases)
      .describe(
        'baseline: the first prompt on the evaluation rows; search: new prompts and their tests; evaluation: a better one on all evaluation rows; heldout: winner and baseline on rows that the search has not seen; rows: those of an evaluation.',
      ),
    done: z.int().describe('Finished rollouts of the phase; in the search, of its round.'),
    total: z.int().describe('0: the search waits for proposals.'),
    mean_reward: z
      .number()
      .nullable()
      .describe('Of the finished ones so far; null: none, or they are of different prompts (search, heldout).'),
  })
  .meta({ id: 'Phase' })
  .nullable()
  .describe('null: the job has not begun its work, or has ended.');
