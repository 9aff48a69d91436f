/** Deployments: create request and views. */
import { z } from 'zod';
import { jobKinds } from '../../../core/jobs/kinds.js';
import {
  containerFields,
  containerUrlSchema,
  createdByQuery,
  envNameSchema,
  errorDetailsSchema,
  keyView,
  stuckSchema,
  timestamp,
  warningsSchema,
} from '../../../contracts/common.js';
import { fixedMessagesSchema } from '../../../contracts/prompt.js';
import { rowsSchema, rowsViewSchema, sourceRule } from '../../../datasets/contract/rows.js';
import { needsOne, together, withRule } from '../../../contracts/field-rules.js';
import { scorerSchema } from '../../../scorers/index.js';
import { isObject } from '../../../util/json.js';
import { webhookField, webhookViewSchema } from '../../../contracts/webhook.js';
import { all, either, forbidden, required } from '../../../contracts/rules.js';
import { archivedQuery, labelFields, labelViewFields, metadataQuery, tagQuery } from '../../../contracts/labels.js';
import { conclusions, intervalSchema, rowsNeededSchema } from '../../../contracts/search.js';
import { retiresSchema } from '../../../contracts/retirements.js';
import { seedsSchema } from '../../../contracts/seeds.js';
import { runAlways, unlessMissing, valueAt, wholeParameter } from '../../../contracts/validation.js';
import { heldoutRewardSchema, provenanceSchema } from './snapshot.js';
import { reasonField } from './registry.js';
import { canarySchema, canaryView } from './canary.js';
import { servedPolicySchema } from './served-policy.js';
import { changeFields, settingViewFields } from './settings.js';

const name = z
  .string(unlessMissing('must be a string'))
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/,
    'must be 1 to 100 letters, digits, dots, _ or -, and begin with a letter or a digit',
  )
  .refine(
    (value) => !value.toLowerCase().startsWith(jobKinds.deployment.prefix) && value !== 'snapshots',
    'must not begin with dep_ and must not be "snapshots"',
  );

const id = z.string().min(1).max(100);

const jobFields = ['session_id', 'graph_job_id'];
const sourceFields = [...jobFields, 'deployment'];
const sourceSchema = z
  .strictObject(
    {
      session_id: id.optional(),
      graph_job_id: id.optional(),
      candidate_id: id.optional().describe("Default: the job's best candidate."),
      deployment: z
        .string()
        .min(1)
        .max(200)
        .optional()
        .describe('The content of a deployment: its id, a name, NAME@LABEL or NAME@VERSION.'),
      messages: fixedMessagesSchema
        .optional()
        .describe('Alone with policy, or in place of the messages of the session or the deployment.'),
      policy: servedPolicySchema
        .optional()
        .describe('Required with messages alone, or in place of that of the session or the deployment.'),
    },
    unlessMissing('must be an object with session_id, graph_job_id, deployment, or messages and policy'),
  )
  .superRefine((source: unknown, ctx) => {
    if (!isObject(source)) return;
    const refuse = (path: string[], message: string) => ctx.addIssue({ code: 'custom', path, message });
    const has = (field: string) => valueAt(source, field) !== undefined;
    const given = sourceFields.filter(has);
    if (given.length > 1) return refuse([], `must have at most one of ${sourceFields.join(', ')}`);
    if (has('candidate_id') && !jobFields.some(has)) refuse(['candidate_id'], 'requires session_id or graph_job_id');
    if (has('graph_job_id')) {
      for (const field of ['messages', 'policy'].filter(has))
        refuse([field], 'is not for a graph, which has no messages and several policies');
    }
    if (given.length > 0) return;
    if (!has('messages')) return refuse([], `must have one of ${sourceFields.join(', ')}, or messages and policy`);
    if (!has('policy')) refuse(['policy'], 'is required with messages');
  }, runAlways)
  .meta(
    either(
      all(required('session_id'), forbidden('graph_job_id', 'deployment')),
      all(required('graph_job_id'), forbidden('session_id', 'deployment', 'messages', 'policy')),
      all(required('deployment'), forbidden('session_id', 'graph_job_id', 'candidate_id')),
      all(required('messages', 'policy'), forbidden(...sourceFields, 'candidate_id')),
    ),
  );
export type SourceRequest = z.infer<typeof sourceSchema>;

const reward = z.number(unlessMissing('must be a number')).min(-1e9).max(1e9);

const gateSchema = withRule(
  z.strictObject(
    {
      container_url: containerUrlSchema.optional().describe('The container that scores. Required without dataset.'),
      dataset: rowsSchema
        .optional()
        .describe('Rows in place of a container: each is a request of a caller, and scorer scores the answer.'),
      scorer: scorerSchema
        .optional()
        .describe('How answers to the rows of dataset are scored. Default: the scorer of the session.'),
      env_name: envNameSchema.optional(),
      seeds: seedsSchema(10_000)
        .refine((seeds) => new Set(seeds).size === seeds.length, 'must not repeat a seed')
        .optional()
        .describe(
          'Instances that neither candidate was optimized on. Default with dataset: all rows that the session did not train or evaluate on.',
        ),
      min_reward: reward
        .optional()
        .describe('Minimum mean reward of the candidate. Exactly one of this and min_improvement.'),
      min_improvement: reward
        .optional()
        .describe(
          'Minimum improvement over the live deployment of the name, or else over the baseline: the lower end of the paired 95 % interval must reach it.',
        ),
      ...containerFields,
      // A sampled answer may be one that the search selected the candidate by.
      answer_cache: z
        .boolean('must be true or false')
        .default(false)
        .describe('true: calls with temperature 0 get the recorded answer of an identical call of the organization.'),
    },
    unlessMissing('must be an object with container_url and seeds, or dataset, and with min_reward or min_improvement'),
  ),
  together(
    sourceRule({ container: ['container_url', 'seeds'], rows: [] }),
    needsOne(['min_reward', 'min_improvement'], 'must have exactly one of min_reward and min_improvement'),
  ),
);
export type GateRequest = z.infer<typeof gateSchema>;

export const createDeploymentSchema = z.strictObject(
  {
    name,
    source: sourceSchema,
    gate: gateSchema.optional(),
    rollout: canarySchema
      .optional()
      .describe('Moves the requests of the name step by step, once the gate has passed. Default: at once.'),
    ...changeFields,
    tags: labelFields.tags,
    metadata: labelFields.metadata,
    notes: labelFields.notes,
    reason: reasonField,
    ...webhookField,
  },
  'must be a JSON object with name and source',
);

export const deploymentStatusSchema = z.enum(['pending', 'building', 'rolling_out', 'ready', 'failed']).meta({
  id: 'DeploymentStatus',
  description: 'pending, building and rolling_out are active; ready and failed are final.',
});
export type DeploymentStatus = z.infer<typeof deploymentStatusSchema>;

export const deploymentQuerySchema = z.strictObject({
  name: z.string().max(100).optional().describe('The versions of one name.'),
  tag: tagQuery,
  metadata: metadataQuery,
  archived: archivedQuery,
  created_by: createdByQuery,
  status: deploymentStatusSchema.optional(),
  limit: wholeParameter(1, 1_000).default(50),
  offset: wholeParameter(0, 1_000_000_000).default(0),
});

const summary = {
  id: z.string(),
  name: z.string(),
  version: z.int().describe('Counts the deployments of its name from 1; no other one gets it.'),
  labels: z.array(z.string()).describe('Labels of its name that name it; production: its name serves it.'),
  created_by: keyView,
  reason: z.string().nullable(),
  status: deploymentStatusSchema,
  live: z.boolean().describe('Whether its name serves this deployment.'),
  snapshot_id: z.string().nullable().describe('null until the snapshot is published.'),
  retires: retiresSchema,
  stuck: stuckSchema,
  tags: labelViewFields.tags,
  metadata: labelViewFields.metadata,
  notes: labelViewFields.notes,
  archived: labelViewFields.archived,
  created_at: timestamp,
};

export const deploymentListSchema = z.object({
  deployments: z.array(z.object(summary).meta({ id: 'DeploymentListItem' })),
});

const measured = z.object({
  job_id: z.string().describe('The evaluation job.'),
  deployment_id: z.string().nullable().describe('null: the baseline.'),
  reward: z.number().nullable(),
  interval: intervalSchema.nullable().describe('95 % interval of the reward, for unseen seeds.'),
});

const gateView = z.object({
  seeds: z.int(),
  dataset: rowsViewSchema,
  min_reward: z.number().nullable(),
  min_improvement: z.number().nullable(),
  evaluation: z
    .object({ job_id: z.string(), status: z.enum(['running', 'paused']), seeds_left: z.int() })
    .nullable()
    .describe('The evaluation it waits for; a paused evaluation blocks until it is resumed or cancelled. null: none.'),
  candidate: measured.omit({ deployment_id: true }).nullable().describe('null until measured.'),
  incumbent: measured
    .nullable()
    .describe('The live deployment of the name, else the baseline; null if not required or not measured yet.'),
  comparison: z
    .object({
      difference: z.number(),
      interval: intervalSchema,
      seeds: z.int(),
      verdict: z.enum(conclusions),
      rows_needed: rowsNeededSchema,
    })
    .nullable()
    .describe('Candidate less incumbent, seed by seed, with the 95 % interval.'),
  flipped_seeds: z
    .array(z.int())
    .describe(
      'Seeds on which the sides differ are run again on both. On these a side got another reward for the same prompt; both count by their means.',
    ),
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
      deployment_id: z.string().nullable().describe('The deployment whose content it has, or had in part.'),
      reward: provenanceSchema.shape.reward,
      verdict: provenanceSchema.shape.verdict,
      heldout: heldoutRewardSchema
        .nullable()
        .describe('Of the winner of its job on the held-out rows; null: another candidate, or nothing held out.'),
    }),
    gate: gateView.nullable(),
    rollout: canaryView.nullable().describe('null: it has not begun, or there is none.'),
    ...settingViewFields,
    chat_completions_url: z.string().describe('Endpoint of this deployment.'),
    name_chat_completions_url: z.string().describe('Endpoint of the live deployment of the name.'),
    previous_id: z.string().nullable().describe('The deployment that was live before; a rollback restores it.'),
    ready_at: timestamp.nullable(),
    started_at: timestamp.nullable(),
    completed_at: timestamp.nullable(),
    error: z.string().nullable().describe('Why the deployment failed; null otherwise.'),
    error_details: errorDetailsSchema.nullable(),
    warnings: warningsSchema,
    webhook: webhookViewSchema.nullable(),
    workflow_id: z.string().describe('The Temporal workflow that builds it.'),
    temporal_url: z.string().nullable(),
  })
  .meta({ id: 'Deployment' });

export const rolledBackSchema = z.object({
  name: z.string(),
  id: z.string().describe('The deployment that is live now.'),
  version: z.int(),
  snapshot_id: z.string(),
  rolled_back_id: z.string(),
});
