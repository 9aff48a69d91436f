/** Response fields shared by jobs with a search. */
import { z } from 'zod';
import { phaseSchema } from './phase.js';
import type { Conclusion } from '../core/math/statistics.js';

export const approachSchema = z
  .enum(['revise', 'restart', 'compress', 'contrast', 'causes'])
  .describe(
    'How the proposer was asked, if not as at first: to revise the text, to write it anew, to shorten it, or to compare many failures with right answers, after a list of their causes with causes.',
  );

export const conclusions = ['better', 'worse', 'inconclusive'] as const satisfies readonly Conclusion[];

export const rowsNeededSchema = z
  .int()
  .nullable()
  .describe(
    'Of an inconclusive comparison: rows that would show a difference of this size with a chance of 80 %. null: decided, or no difference was seen.',
  );
export const intervalSchema = z.object({ low: z.number(), high: z.number() }).meta({ id: 'Interval' });
export const estimate = {
  estimated_reward: z
    .number()
    .nullable()
    .describe(
      'Expected reward of the most promising candidate. It changes between evaluations; best_reward is measured.',
    ),
  estimated_reward_interval: intervalSchema
    .nullable()
    .describe('95 % interval of estimated_reward, for unseen rows of the same kind.'),
  estimated_candidate_id: z.string().nullable(),
};
export const plannedComparisonSchema = z
  .object({
    basis: z
      .enum(['heldout', 'evaluation'])
      .describe('evaluation: no seed is held out, so the difference will be biased upward.'),
    seeds: z.int(),
    least_difference: z
      .number()
      .nullable()
      .describe(
        'The least difference that such a comparison of right and wrong answers shows, if one row in twenty gets worse. null: none.',
      ),
    seeds_for_tenth: z.int().describe('Seeds that show a difference of 0.1.'),
  })
  .meta({ id: 'PlannedComparison' })
  .describe('What the comparison of winner and baseline can show, before anything is spent.');
export const outcome = {
  verdict: z
    .enum(conclusions)
    .nullable()
    .describe(
      'Whether the 95 % interval of winner minus baseline is above 0, below 0, or around it; null until the search ends.',
    ),
  comparison: z
    .object({
      basis: z
        .enum(['heldout', 'evaluation'])
        .describe('evaluation: the seeds that selected the winner, so the difference is biased upward.'),
      seeds: z.int(),
      baseline_reward: z.number(),
      winner_reward: z.number(),
      baseline_interval: intervalSchema.describe('95 %, for unseen rows of the same kind.'),
      winner_interval: intervalSchema.describe('95 %, for unseen rows of the same kind.'),
      difference: z.number(),
      interval: intervalSchema,
      rows_needed: rowsNeededSchema,
    })
    .meta({ id: 'BaselineComparison' })
    .nullable()
    .describe(
      'Paired comparison of winner and baseline on the same seeds; two independent samples for live traffic without seeds.',
    ),
  nothing_left: z
    .enum(['solved', 'train_solved', 'target_reward', 'generations', 'max_rollouts', 'patience'])
    .nullable()
    .describe(
      'Why the ended search would end again at once, however large its limits, as stopped_by says it; null: larger limits let it go on.',
    ),
  noise_floor: z
    .object({
      rollout_sd: z.number().describe('Standard deviation of repeated rollouts.'),
      comparisons: z.int().describe('Number of comparisons of repeated rollouts.'),
      reward_se: z.number().describe('Standard error of a mean on the evaluation seeds due to noise alone.'),
    })
    .meta({ id: 'NoiseFloor' })
    .nullable()
    .describe('null if no rollout was repeated.'),
};

export const historySchema = z.array(z.object({ generation: z.int(), best_reward: z.number() }));

export const searchFields = {
  progress: z.object({
    generation: z.int(),
    total_generations: z.int(),
    best_reward: z.number().nullable(),
    rollouts_completed: z.int(),
    max_rollouts: z.int().nullable(),
    phase: phaseSchema,
  }),
  best_reward: z.number().nullable(),
  best_reward_interval: intervalSchema
    .nullable()
    .describe(
      '95 % interval of best_reward, for unseen rows of the same kind. The evaluation selected the candidate, so a held-out comparison says more.',
    ),
  best_candidate: z.object({ candidate_id: z.string() }).nullable(),
};

export const costBudgetSchema = z.object({
  max_cost_usd: z.number().nullable(),
  spent_usd: z.number().nullable().describe('Spent of max_cost_usd; an interrupted call counts in full.'),
  reserved_usd: z.number().nullable().describe('Maximum cost of the calls in flight.'),
});

export const budgetViewSchema = z.object({
  max_rollouts: z.int().nullable(),
  unspent_rollouts: z
    .int()
    .nullable()
    .describe('What the ended search could not use of max_rollouts; null before its end or without a limit.'),
  max_minutes: z.number().nullable(),
  ...costBudgetSchema.shape,
});
