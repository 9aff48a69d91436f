/** The parts of an answer that jobs with a search share. */
import { z } from 'zod';

const intervalSchema = z.object({ low: z.number(), high: z.number() });
/** What is expected of the most promising candidate. */
export const estimate = {
  estimated_reward: z
    .number()
    .nullable()
    .describe(
      'What is expected of the most promising candidate on the evaluation seeds; it moves between evaluations, best_reward is measured.',
    ),
  estimated_reward_interval: intervalSchema.nullable().describe('95 % interval of estimated_reward.'),
  estimated_candidate_id: z.string().nullable(),
};
/** How winner and baseline compare. */
export const outcome = {
  verdict: z
    .enum(['better', 'not_significantly_better', 'worse'])
    .nullable()
    .describe('Whether the 95 % interval of the winner less the baseline is above 0; null until the search is over.'),
  comparison: z
    .object({
      basis: z
        .enum(['heldout', 'evaluation'])
        .describe('evaluation: the seeds by which the winner was chosen, so the difference is flattered.'),
      seeds: z.int(),
      baseline_reward: z.number(),
      winner_reward: z.number(),
      difference: z.number(),
      interval: intervalSchema,
    })
    .nullable()
    .describe('Winner and baseline on the same seeds, pair by pair; of live traffic without seeds two samples.'),
  noise_floor: z
    .object({
      rollout_sd: z.number().describe('Standard deviation of equal rollouts.'),
      comparisons: z.int().describe('How many comparisons of equal rollouts it rests on.'),
      reward_se: z.number().describe('The standard error that noise alone gives a mean on the evaluation seeds.'),
    })
    .nullable()
    .describe('Null: no rollout was repeated.'),
};

export const historySchema = z.array(z.object({ generation: z.int(), best_reward: z.number() }));

/** How far a search is, in every list of jobs that search. */
export const searchFields = {
  progress: z.object({
    generation: z.int(),
    total_generations: z.int(),
    best_reward: z.number().nullable(),
    rollouts_completed: z.int(),
    max_rollouts: z.int().nullable(),
  }),
  best_reward: z.number().nullable(),
  best_candidate: z.object({ candidate_id: z.string() }).nullable(),
};

/** How a search's budgets stand. */
export const budgetViewSchema = z.object({
  max_rollouts: z.int().nullable(),
  max_minutes: z.number().nullable(),
  max_cost_usd: z.number().nullable(),
  spent_usd: z.number().nullable().describe('Of max_cost_usd; what a call cost that broke off counts in full.'),
  reserved_usd: z.number().nullable().describe('What calls under way can cost at most.'),
});
