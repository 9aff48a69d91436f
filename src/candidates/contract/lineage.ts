import { z } from 'zod';
import { messageSchema, pageQuery, timestamp } from '../../contracts/common.js';
import { approachSchema } from '../../contracts/search.js';
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
        'not_better, worse, overtaken, parent_rejected or budget when rejected; better, cheaper (graphs), shorter, combined or baseline when accepted; null while pending.',
      ),
    parent_sum: z.number().nullable().describe('Sum of the rewards expected from its parents on the tested seeds.'),
    child_sum: z.number().nullable().describe("Sum of the candidate's rewards on the same seeds."),
    minibatch_size: z.int().nullable().describe('Number of tested seeds.'),
    estimated_reward: z
      .number()
      .nullable()
      .describe('Expected reward on the evaluation seeds at the time of acceptance; null if it was not accepted.'),
    message: z.string().describe('The decision as a sentence.'),
  })
  .meta({ id: 'CandidateDecision', description: 'Whether a candidate may be a parent, and why.' });

export const candidateItemSchema = z
  .object({ ...candidateSchema.shape, decision: decisionSchema })
  .meta({ id: 'CandidateListItem', description: 'A candidate and its decision.' });

const seed = z.int().nullable().describe('null: live traffic without a seed.');
const feedback = z.string().describe('As shown to the reflection. Long feedback is cut; the trace has all of it.');

const requestMessages = z.array(z.object({ role: z.string(), content: z.string() }));

export const attemptSchema = z.object({
  component: z.string().describe('The component to rewrite.'),
  attempt: z.int().describe('Number of the attempt, from 0 for each component.'),
  messages: requestMessages.describe(
    'The request to the model. After a rejected answer it includes that answer and the reason.',
  ),
  output: z.string().describe("The model's answer."),
  finish_reason: z.string().nullable(),
  accepted: z.boolean(),
  reason: z.string().nullable().describe('Why the answer was rejected.'),
  prompt_tokens: z.int().nullable(),
  completion_tokens: z.int().nullable(),
  cost_usd: z.number().nullable(),
  created_at: timestamp,
});

export const reflectionSchema = z.object({
  model: z.string().nullable(),
  provider: z.string().nullable(),
  components: z.array(z.string()).describe('The rewritten components, each by a request of its own.'),
  approach: approachSchema.nullable().describe('How the proposer was asked; null: as at first.'),
  messages: requestMessages.describe('The request for the first component; see attempts for the others.'),
  output: z.string().nullable().describe('The accepted answer to that request.'),
  examples: z
    .array(z.object({ rollout_id: z.string(), seed, reward: z.number(), feedback }))
    .describe('The rollouts shown, of the parent or of an ancestor.'),
  attempts: z.array(attemptSchema).describe('All answers for this candidate, including rejected ones.'),
});

const minibatchSchema = z.array(
  z.object({
    seed,
    role: z
      .enum(['shown', 'guard', 'live'])
      .describe(
        'shown: a failure shown to its reflection, or to that of a candidate it combines; guard: a regression test; live: a call of live traffic without a seed.',
      ),
    parent_reward: z
      .number()
      .nullable()
      .describe(
        'The last earlier reward on this seed, of the parent or else the nearest ancestor; null if there is none.',
      ),
    parent_candidate_id: z.string().nullable().describe('The candidate with parent_reward.'),
    parent_rollout_id: z.string().nullable(),
    candidate_reward: z
      .number()
      .nullable()
      .describe('Mean of its rollouts on this seed; null until a rollout is finished.'),
    candidate_rollouts: z.array(z.object({ rollout_id: z.string(), reward: z.number().nullable() })),
  }),
);

const segmentSchema = z.object({
  component: z.string().describe('The component that contains it.'),
  text: z.string().describe('A sentence with its white space. The joined segments of a component are its text.'),
  introduced_by: z.string().describe('The candidate, or the earliest ancestor, since which the text has been kept.'),
  feedback: z
    .array(z.object({ rollout_id: z.string(), seed, feedback }))
    .describe("The feedback shown to that candidate's reflection; empty for the baseline."),
});

export const candidateDetailSchema = z
  .object({
    session_id: z.string(),
    job_id: z.string(),
    ...candidateItemSchema.shape,
    messages: z
      .array(
        z.object({
          ...messageSchema.shape,
          name: z.string().optional().describe('Name of the component if there are several.'),
        }),
      )
      .nullable()
      .describe('null until the baseline is known.'),
    diff: z
      .array(z.object({ parent_id: z.string(), component: z.string(), unified: z.string() }))
      .describe('Diffs against each parent, for each component that differs.'),
    is_given: z.boolean().describe('A person wrote it: `POST …/candidates`.'),
    reflection: reflectionSchema.nullable().describe('null for a candidate without a proposal by a model.'),
    minibatch: minibatchSchema.describe('All tested seeds, in the order requested. A failed rollout counts 0.'),
    segments: z.array(segmentSchema),
  })
  .meta({ id: 'CandidateDetail', description: "A candidate's origin, and why it was accepted or rejected." });

export const seedEvalSchema = z
  .object({
    rollout_id: z.string().describe('Also the id of its trace.'),
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
          holders: z.int().describe('Number of candidates with this reward.'),
          candidate_ids: z.array(z.string()).describe('The first 100 candidates with this reward.'),
        }),
      )
      .describe('Every evaluation seed, in the order of the request.'),
    front: z
      .array(z.object({ candidate_id: z.string(), reward: z.number(), seeds_held: z.int() }))
      .describe('The non-dominated candidates that are best on a seed.'),
    weighed: z
      .array(
        z.object({
          candidate_id: z.string(),
          reward: z.number(),
          cost_usd: z.number().nullable().describe('null if the price of a call is unknown.'),
          tokens: z.number().nullable().describe('null if a provider did not report them.'),
          calls: z.number(),
          latency_ms: z.number().nullable().describe('Of its model calls; null if an answer was not bought.'),
          prompt_tokens: z.int().describe('The prompt with its demonstrations, at four bytes a token.'),
        }),
      )
      .describe(
        'The evaluated candidates that are not dominated in reward, cost, time and length of the prompt, the best first. Means over the rollouts of their evaluation.',
      ),
  })
  .meta({ id: 'ParetoFront', description: 'The Pareto front of the evaluated candidates.' });
