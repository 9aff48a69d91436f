/** All event types. A new type is added here, and gets a builder in `src/core/events`. */
import { z } from 'zod';
import { approachSchema, intervalSchema } from '../search.js';
import { algorithmNames } from '../../kinds/session/contract/algorithms.js';
import { deploymentEvents } from './deployments.js';
import { event, eventOf } from './event.js';

const algorithm = z.enum(algorithmNames).describe('The algorithm of the search.');
const candidateId = z.string().describe('The candidate.');
const generation = z.int().describe('The generation of the search, from 0.');
const generations = z.int().describe('The planned number of generations.');
const parentSum = z.number().describe('The reward expected from the parent on the tested seeds, summed.');
const childSum = z.number().describe('The reward of the candidate on the tested seeds, summed.');
const reward = z.number().nullable().describe('null: the rollout failed.');
const stoppedBy = z.string().optional().describe('Why the job ended: completed, cancelled, reward_stop, a limit …');

const rolloutFields = {
  rollout_id: z.string().describe('The rollout.'),
  trace_id: z.string().describe('The trace of the rollout; the same as rollout_id.'),
  seed: z
    .int()
    .nullable()
    .describe('The seed, or the index of the task of a graph job; null: live traffic without one.'),
  task_id: z.string().optional().describe('The id of that task; absent from other jobs than graph jobs.'),
  status: z.enum(['succeeded', 'failed']).describe('How the rollout ended.'),
  reward,
  error: z.string().nullable().describe('Why the rollout failed; null: it succeeded.'),
};

const evaluatedCandidate = {
  candidate_id: candidateId,
  generation,
  reward: z.number().describe('The mean reward on the evaluation seeds.'),
  reward_interval: intervalSchema.describe('95 % interval of the reward, for unseen seeds.'),
  seeds_evaluated: z.int().describe('The number of evaluation seeds.'),
};

/** In the terminal events of sessions and graph jobs; absent from the events of deployments. */
const best = {
  best_reward: z
    .number()
    .nullable()
    .optional()
    .describe('The mean reward of the best candidate; null: none was evaluated.'),
  best_reward_interval: intervalSchema
    .nullable()
    .optional()
    .describe('95 % interval of best_reward, for unseen seeds.'),
  best_candidate_id: z.string().nullable().optional().describe('null: no candidate was evaluated.'),
  stopped_by: stoppedBy,
};

/** Evaluation results; absent from the event of a job whose workflow was closed from outside. */
const evaluationResults = {
  mean_reward: z.number().nullable().optional().describe('The mean over the successful seeds; null: none succeeded.'),
  mean_reward_interval: intervalSchema
    .nullable()
    .optional()
    .describe('95 % interval of mean_reward, for unseen seeds.'),
  num_seeds: z.int().optional().describe('The number of seeds of the evaluation.'),
  num_successful: z.int().optional().describe('The number of seeds that succeeded.'),
  num_failed: z.int().optional().describe('The number of seeds that failed.'),
};

const failure = { error: z.string().describe('Why the job failed.'), code: z.string().describe('The error code.') };

const byCommand = {
  command_id: z.string().nullable().describe('The command that did it; null: an operator, in Temporal.'),
};

const progressEvents = [
  event('session_started', 'A session started.', {
    algorithm,
    generations,
    baseline_known: z.boolean().describe('false: the baseline prompt is taken from the first model calls.'),
  }),
  event('session_extended', 'A session that had ended goes on, with the limits that the request named.', {
    max_rollouts: z.int().optional().describe('The new budget.max_rollouts.'),
    max_cost_usd: z.number().optional().describe('The new budget.max_cost_usd.'),
    max_minutes: z.number().optional().describe('The new budget.max_minutes.'),
    generations: z.int().optional().describe('The new gepa.generations.'),
    num_trials: z.int().optional().describe('The new mipro.num_trials.'),
  }),
  event('job_started', 'A graph job started.', {
    algorithm,
    generations,
    tasks: z.int().describe('The number of tasks in the data set.'),
  }),
  event('rollout_completed', 'A rollout of a session or graph job succeeded or failed.', {
    ...rolloutFields,
    rollout_idx: z.int().describe('The index of the rollout in its job.'),
    completed: z.int().describe('The number of rollouts with a result so far.'),
    candidate_id: z.string().nullable().describe('The candidate that was run; null: the baseline before it is known.'),
    stage: z
      .enum(['baseline', 'minibatch', 'gate', 'evaluation', 'heldout'])
      .describe('The purpose of the rollout; gate: the test of a candidate.'),
    generation,
  }),
  event('eval.policy.seed.completed', 'A seed of an evaluation succeeded or failed.', {
    ...rolloutFields,
    completed: z.int().describe('The number of seeds with a result so far.'),
    total: z.int().nullable().describe('The number of seeds; null: not known yet.'),
  }),
  event('candidate_proposed', 'The search proposed a candidate.', {
    candidate_id: candidateId,
    parent_ids: z.array(z.string()).describe('The candidates it was derived from.'),
    generation,
    lever_version: z.int().describe('The number of the candidate in its job.'),
    approach: approachSchema.optional(),
    is_given: z.literal(true).optional().describe('A person wrote it; absent: the search did.'),
  }),
  event('proposal_failed', 'No candidate could be proposed.', {
    candidate_id: z.string().describe('The id that the candidate would have had.'),
    generation,
    reason: z.string().describe('Why there is no proposal.'),
  }),
  event('candidate_rejected', 'A candidate failed its test.', {
    candidate_id: candidateId,
    generation,
    reason: z
      .string()
      .describe('not_better, worse, overtaken (by a better one of its generation), parent_rejected or budget.'),
    parent_sum: parentSum,
    child_sum: childSum,
  }),
  event('candidate_accepted', 'A candidate passed its test.', {
    candidate_id: candidateId,
    generation,
    parent_sum: parentSum,
    child_sum: childSum,
    estimated_reward: z.number().describe('The mean reward expected on the evaluation seeds.'),
    reason: z
      .enum(['cheaper', 'shorter'])
      .optional()
      .describe(
        'Equal in reward and lower in cost, or a shorter text; absent: higher in reward, or, of several parents, no lower.',
      ),
  }),
  event('candidate_evaluated', 'A candidate was evaluated on all evaluation seeds.', evaluatedCandidate),
  event('evaluation_complete', 'The same as candidate_evaluated, which precedes it.', evaluatedCandidate),
  event('generation_complete', 'A generation of the search is complete.', {
    generation,
    best_reward: z.number().describe('The mean reward of the best candidate so far.'),
    best_reward_interval: intervalSchema.nullable().describe('95 % interval of best_reward, for unseen seeds.'),
    best_candidate_id: z.string().describe('The best candidate so far.'),
    rollouts_completed: z.int().describe('The number of rollouts with a result so far.'),
    estimated_reward: z.number().nullable().describe('Expected reward of the most promising candidate; null: unknown.'),
    estimated_reward_interval: intervalSchema
      .nullable()
      .describe('95 % interval of estimated_reward, for unseen seeds.'),
    cost_usd: z.number().nullable().describe('US dollars spent so far; null: the price of a model is unknown.'),
  }),
  eventOf(
    'budget_warning',
    '80 % of a budget are used.',
    z.union([
      z.object({
        rollouts_used: z.int().describe('The number of rollouts reserved so far.'),
        max_rollouts: z.int().describe('budget.max_rollouts.'),
      }),
      z.object({
        cost_usd: z.number().describe('US dollars spent so far.'),
        max_cost_usd: z.number().describe('budget.max_cost_usd.'),
      }),
    ]),
  ),
  event(
    'concurrency_lowered',
    'The container is overloaded: fewer rollouts run at once. Reported the first 20 times.',
    {
      limit: z.int().describe('The number of rollouts that may be in flight now.'),
      max_concurrent: z.int().describe('The max_concurrent of the job.'),
      because: z.string().nullable().describe('The reason.'),
    },
  ),
  event('reward_received', 'A reward was reported and counts.', {
    reward_id: z.string().describe('The reward in the inbox of the job.'),
    reward: z.number().describe('The reward as reported.'),
    rollout_id: z.string().nullable().describe('The rollout it belongs to; null: it names none.'),
    correlation_id: z.string().nullable().describe('The correlation id as reported; null: none.'),
    candidate_id: z.string().nullable().describe('The candidate as reported; null: none.'),
  }),
  event('hint_given', "The hint in the proposer's prompts changed.", {
    command_id: z.string().describe('The command that brought or removed it.'),
  }),
  event('paused', 'The job is paused: no new rollout starts.', byCommand),
  event('resumed', 'The job runs again.', byCommand),
  event('signal_ignored', "An operator's signal to the workflow had no effect.", {
    signal: z.string().describe('The name of the signal, its first 100 characters.'),
    reason: z.string().describe('Why it had no effect.'),
  }),
  event('error', 'Why the job fails; job_failed follows.', {
    code: z.string().describe('The error code.'),
    message: z.string().describe('What happened, and what to do.'),
    retryable: z.boolean().describe('Whether the same job may succeed when it is created again.'),
  }),
  ...deploymentEvents,
] as const;

const terminal = [
  event('job_complete', 'A session, graph job, deployment, migration or checkup completed.', best),
  event('job_failed', 'A session, graph job, deployment, migration or checkup failed.', { ...best, ...failure }),
  event('job_cancelled', 'A session, graph job, deployment, migration or checkup was cancelled.', best),
  event('eval.policy.job.completed', 'An evaluation completed.', evaluationResults),
  event('eval.policy.job.failed', 'An evaluation failed.', { ...evaluationResults, ...failure }),
  event('eval.policy.job.cancelled', 'An evaluation was cancelled.', evaluationResults),
] as const;

export const eventSchemas = [...progressEvents, ...terminal] as const;

/** An event of any type, as it is stored. */
export const eventSchema = z.discriminatedUnion('type', eventSchemas);
export type Event = z.infer<typeof eventSchema>;
export type EventType = Event['type'];
export type EventOf<Type extends EventType> = Extract<Event, { type: Type }>;
export type EventData<Type extends EventType> = EventOf<Type>['data'];

export type TerminalEvent = z.infer<(typeof terminal)[number]>;
/** The stream of a job ends after one of these, unless the session was extended since. */
export const terminalEvents: readonly EventType[] = terminal.map(({ shape }) => shape.type.value);

const terminalNames = new Set<string>(terminalEvents);
export const isTerminalEvent = (type: string): boolean => terminalNames.has(type);
