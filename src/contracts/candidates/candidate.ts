import { z } from 'zod';

export const candidateSchema = z
  .object({
    candidate_id: z.string(),
    parent_ids: z.array(z.string()),
    generation: z.int(),
    status: z.enum(['proposed', 'rejected', 'evaluated']),
    reward: z.number().nullable().describe('Mean over the evaluation seeds; null until evaluated.'),
    avg_reward: z.number().nullable().describe('Mean over everything it was run on, minibatches included.'),
    rollout_count: z.int(),
    is_baseline: z.boolean(),
    lever_version: z.int(),
  })
  .meta({ id: 'Candidate' });
