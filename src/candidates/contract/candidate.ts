import { z } from 'zod';
import { intervalSchema } from '../../contracts/search.js';

export const candidateSchema = z
  .object({
    candidate_id: z.string(),
    parent_ids: z.array(z.string()),
    generation: z.int(),
    status: z.enum(['proposed', 'rejected', 'evaluated']),
    reward: z.number().nullable().describe('Mean over the evaluation seeds; null until it is evaluated.'),
    reward_interval: intervalSchema.nullable().describe('95 % interval of the reward, for unseen seeds.'),
    avg_reward: z.number().nullable().describe('Mean over all its rollouts, including minibatches.'),
    rollout_count: z.int(),
    is_baseline: z.boolean(),
    lever_version: z.int(),
  })
  .meta({ id: 'Candidate' });
