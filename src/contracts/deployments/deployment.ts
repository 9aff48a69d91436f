/** A deployment on the wire: the body that creates it, and what it says of itself. */
import { z } from 'zod';
import {
  runAlways,
  containerFields,
  containerUrlSchema,
  envNameSchema,
  errorDetailsSchema,
  policySchema,
  promptMessagesSchema,
  seedsSchema,
  timestamp,
  unlessMissing,
  valueAt,
} from '../common.js';

const name = z
  .string(unlessMissing('must be a string'))
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/,
    'must be 1 to 100 letters, digits, dots, _ or -, and begin with a letter or a digit',
  )
  .refine((value) => !/^dep_/i.test(value) && value !== 'snapshots', 'must not be what an id or a path looks like');

const id = z.string().min(1).max(100);

const sourceSchema = z
  .strictObject(
    {
      session_id: id.optional(),
      graph_job_id: id.optional(),
      candidate_id: id.optional().describe("The job's best where absent."),
      messages: promptMessagesSchema.optional(),
      policy: policySchema.optional().describe("Beside messages; a session's and a graph job's are their own."),
    },
    unlessMissing('must be an object with session_id, graph_job_id, or messages and policy'),
  )
  .superRefine((source: unknown, ctx) => {
    if (typeof source !== 'object' || source === null || Array.isArray(source)) return;
    const refuse = (path: string[], message: string) => ctx.addIssue({ code: 'custom', path, message });
    const has = (field: string) => valueAt(source, field) !== undefined;
    const given = ['session_id', 'graph_job_id', 'messages'].filter(has);
    if (given.length !== 1) return refuse([], 'must have exactly one of session_id, graph_job_id and messages');
    if (has('messages') && !has('policy')) refuse(['policy'], 'is required beside messages: which model answers');
    if (!has('messages') && has('policy')) refuse(['policy'], 'is only for messages: a job has its own');
    if (has('messages') && has('candidate_id')) refuse(['candidate_id'], 'needs session_id or graph_job_id');
  }, runAlways);
export type SourceRequest = z.infer<typeof sourceSchema>;

const reward = z.number(unlessMissing('must be a number')).min(-1e9).max(1e9);

const gateSchema = z
  .strictObject(
    {
      container_url: containerUrlSchema,
      env_name: envNameSchema.optional(),
      seeds: seedsSchema(10_000)
        .refine((seeds) => new Set(seeds).size === seeds.length, 'must not list a seed twice: it would count twice')
        .describe('Instances that neither candidate was made on.'),
      min_reward: reward.optional().describe('The least mean reward of the candidate; this or min_improvement.'),
      min_improvement: reward
        .optional()
        .describe(
          'By how much the candidate is to be better, seed by seed, than what the name serves (else than the baseline): the lower end of the paired 95 % interval is to reach it.',
        ),
      ...containerFields,
    },
    unlessMissing('must be an object with container_url, seeds, and min_reward or min_improvement'),
  )
  .superRefine((gate: unknown, ctx) => {
    if (typeof gate !== 'object' || gate === null || Array.isArray(gate)) return;
    const given = ['min_reward', 'min_improvement'].filter((field) => valueAt(gate, field) !== undefined);
    if (given.length !== 1)
      ctx.addIssue({ code: 'custom', path: [], message: 'must have exactly one of min_reward and min_improvement' });
  }, runAlways);
export type GateRequest = z.infer<typeof gateSchema>;

export const createDeploymentSchema = z.strictObject(
  { name, source: sourceSchema, gate: gateSchema.optional() },
  'must be a JSON object with name and source',
);

export const deploymentStatusSchema = z.enum(['pending', 'building', 'ready', 'failed']).meta({
  id: 'DeploymentStatus',
  description: 'pending and building are active; ready and failed are final.',
});
export type DeploymentStatus = z.infer<typeof deploymentStatusSchema>;

export const deploymentQuerySchema = z.strictObject({
  status: deploymentStatusSchema.optional(),
  limit: z.coerce.number().int().min(1).max(1_000).default(50),
  offset: z.coerce.number().int().min(0).max(1_000_000_000).default(0),
});

const summary = {
  id: z.string(),
  name: z.string(),
  status: deploymentStatusSchema,
  live: z.boolean().describe('Whether its name is served by it.'),
  snapshot_id: z.string().nullable().describe('null until it is frozen.'),
  created_at: timestamp,
};

export const deploymentListSchema = z.object({
  deployments: z.array(z.object(summary).meta({ id: 'DeploymentSummary' })),
});

const measured = z.object({
  job_id: z.string().describe('The evaluation.'),
  deployment_id: z.string().nullable().describe('null: the baseline.'),
  reward: z.number().nullable(),
});

const gateView = z.object({
  seeds: z.int(),
  min_reward: z.number().nullable(),
  min_improvement: z.number().nullable(),
  evaluation: z
    .object({ job_id: z.string(), status: z.enum(['running', 'paused']) })
    .nullable()
    .describe('What it waits for; one that is paused it waits for until that is resumed or cancelled. null: for none.'),
  candidate: measured.omit({ deployment_id: true }).nullable().describe('null until it is known.'),
  incumbent: measured
    .nullable()
    .describe('What the name served, else the baseline; null where it was not asked for, or is not known yet.'),
  comparison: z
    .object({ difference: z.number(), interval: z.object({ low: z.number(), high: z.number() }), seeds: z.int() })
    .nullable()
    .describe('Candidate less incumbent, seed by seed, with the 95 % interval.'),
  passed: z.boolean().nullable(),
});
export type GateView = z.infer<typeof gateView>;

export const deploymentSchema = z
  .object({
    ...summary,
    source: z.object({
      session_id: z.string().nullable(),
      graph_job_id: z.string().nullable(),
      candidate_id: z.string().nullable(),
    }),
    gate: gateView.nullable(),
    chat_completions_url: z.string().describe('Of this very deployment, whatever its name serves.'),
    name_chat_completions_url: z.string().describe('Of whatever its name serves.'),
    previous_id: z.string().nullable().describe('Whose name it was before; a rollback gives it back.'),
    ready_at: timestamp.nullable(),
    started_at: timestamp.nullable(),
    completed_at: timestamp.nullable(),
    error: z.string().nullable().describe('Why it failed; null otherwise.'),
    error_details: errorDetailsSchema.nullable(),
    workflow_id: z.string().describe('The Temporal workflow that builds it.'),
    temporal_url: z.string().nullable(),
  })
  .meta({ id: 'Deployment' });

export const rolledBackSchema = z.object({
  name: z.string(),
  id: z.string().describe('The deployment that the name is served by now.'),
  snapshot_id: z.string(),
  rolled_back_id: z.string(),
});
