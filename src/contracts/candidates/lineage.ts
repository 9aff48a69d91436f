import { z } from 'zod';
import { messageSchema, pageQuery, timestamp } from '../common.js';
import { candidateSchema } from './candidate.js';

export const candidatesQuerySchema = z.strictObject({ status: candidateSchema.shape.status.optional(), ...pageQuery });
export const seedEvalsQuerySchema = z.strictObject(pageQuery);

export const decisionSchema = z
  .object({
    outcome: z.enum(['accepted', 'rejected', 'pending']),
    reason: z
      .string()
      .nullable()
      .describe(
        'not_better, worse, overtaken or budget when rejected; better, cheaper (graphs), combined or baseline when accepted; null while pending.',
      ),
    parent_sum: z
      .number()
      .nullable()
      .describe('What was expected on the seeds it was tried on, from its parents, summed.'),
    child_sum: z.number().nullable().describe("The candidate's own rewards on the same seeds, summed."),
    minibatch_size: z.int().nullable().describe('On how many seeds it was tried.'),
    estimated_reward: z
      .number()
      .nullable()
      .describe('What was expected of it on the evaluation seeds when it was accepted; null where it was not.'),
    message: z.string().describe('All of it in a sentence.'),
  })
  .meta({ id: 'CandidateDecision', description: 'Whether a candidate may be a parent, and why.' });

/** A candidate in a list. */
export const candidateItemSchema = z
  .object({ ...candidateSchema.shape, decision: decisionSchema })
  .meta({ id: 'CandidateSummary', description: 'A candidate and what was decided of it.' });

const seed = z.int().nullable().describe('null: live traffic that named none.');
const feedback = z
  .string()
  .describe('As the reflection was shown it; cut where it is long, the whole is in the trace.');

const asked = z.array(z.object({ role: z.string(), content: z.string() }));

export const attemptSchema = z.object({
  component: z.string().describe('The part of the prompt that was to be rewritten.'),
  attempt: z.int().describe('From 0 for each component.'),
  messages: asked.describe(
    'What the model was asked, after a refused answer with that answer and what was wrong with it.',
  ),
  output: z.string().describe('What the model answered.'),
  finish_reason: z.string().nullable(),
  accepted: z.boolean(),
  reason: z.string().nullable().describe('Why it was refused.'),
  prompt_tokens: z.int().nullable(),
  completion_tokens: z.int().nullable(),
  cost_usd: z.number().nullable(),
  created_at: timestamp,
});

export const reflectionSchema = z.object({
  model: z.string().nullable(),
  provider: z.string().nullable(),
  components: z.array(z.string()).describe('The parts of the prompt that it rewrote; each was a question of its own.'),
  messages: asked.describe('What the model was asked for the first of them; for others see attempts.'),
  output: z.string().nullable().describe('The answer to that which was taken.'),
  examples: z
    .array(z.object({ rollout_id: z.string(), seed, reward: z.number(), feedback }))
    .describe("The rollouts that it was shown: the parent's own, or an ancestor's."),
  attempts: z.array(attemptSchema).describe('Every answer for this candidate, also those that were refused.'),
});

const minibatchSchema = z.array(
  z.object({
    seed,
    role: z
      .enum(['shown', 'guard', 'live'])
      .describe(
        'shown: a failure that its reflection, or that of what it combines, was shown; guard: one that it might lose; live: a call of live traffic that named no seed.',
      ),
    parent_reward: z
      .number()
      .nullable()
      .describe('What was last measured there before: of its parent, else of the nearest ancestor. null: nothing was.'),
    parent_candidate_id: z.string().nullable().describe('Of whom.'),
    parent_rollout_id: z.string().nullable(),
    candidate_reward: z.number().nullable().describe('Mean of its rollouts there; null while none is finished.'),
    candidate_rollouts: z.array(z.object({ rollout_id: z.string(), reward: z.number().nullable() })),
  }),
);

const segmentSchema = z.object({
  component: z.string().describe('The part of the prompt that it stands in.'),
  text: z.string().describe('A sentence with its white space; all of a component joined are its text.'),
  introduced_by: z.string().describe('The first ancestor, or the candidate itself, from which on it was always there.'),
  feedback: z
    .array(z.object({ rollout_id: z.string(), seed, feedback }))
    .describe("What that candidate's reflection was shown; empty for the baseline."),
});

/** A candidate and where it comes from. */
export const candidateDetailSchema = z
  .object({
    session_id: z.string(),
    job_id: z.string(),
    ...candidateItemSchema.shape,
    messages: z
      .array(
        z.object({
          ...messageSchema.shape,
          name: z.string().optional().describe('Of the component that it is, where there are several.'),
        }),
      )
      .nullable()
      .describe('null until the baseline is known.'),
    diff: z
      .array(z.object({ parent_id: z.string(), component: z.string(), unified: z.string() }))
      .describe('Against each parent, for each component that differs.'),
    reflection: reflectionSchema.nullable().describe('null for a candidate that no model proposed.'),
    minibatch: minibatchSchema.describe(
      'Every seed it was tried on, in the order asked for. A failed rollout counts 0.',
    ),
    segments: z.array(segmentSchema),
  })
  .meta({ id: 'CandidateDetail', description: 'Where a candidate comes from, and why it was accepted or rejected.' });

export const seedEvalSchema = z
  .object({
    rollout_id: z.string().describe("Also its trace's id."),
    seed,
    stage: z.string().describe('baseline, minibatch, gate, evaluation or heldout.'),
    generation: z.int(),
    reward: z.number().nullable(),
    status: z.enum(['queued', 'running', 'awaiting_reward', 'succeeded', 'failed', 'cancelled']),
    feedback: feedback.nullable(),
    error: z.string().nullable(),
    completed_at: timestamp.nullable(),
  })
  .meta({ id: 'SeedEval', description: 'A rollout of a candidate.' });

export const paretoSchema = z
  .object({
    session_id: z.string(),
    job_id: z.string(),
    seeds: z
      .array(
        z.object({
          seed: z.int(),
          best_reward: z.number().nullable().describe('null until a candidate is evaluated.'),
          holders: z.int().describe('How many candidates have it.'),
          candidate_ids: z.array(z.string()).describe('Those that have it, the first 100.'),
        }),
      )
      .describe('Every evaluation seed, in the order of the request.'),
    front: z
      .array(z.object({ candidate_id: z.string(), reward: z.number(), seeds_held: z.int() }))
      .describe('The candidates that hold a seed, dominated ones dropped.'),
  })
  .meta({ id: 'ParetoFront', description: 'Over the candidates that are evaluated.' });
