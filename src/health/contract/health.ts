/** What is slow or failing now, and whom it affects. */
import { z } from 'zod';
import { keyView, lastCommandSchema, statusSchema, stuckSchema, timestamp } from '../../contracts/common.js';
import type { HealthState } from '../../core/health/state.js';

const states = ['ok', 'slow', 'throttled', 'failing'] as const satisfies readonly HealthState[];
const stateSchema = z
  .enum(states)
  .meta({ id: 'HealthState' })
  .describe(
    'throttled: from 10 % of the latest calls refused as too many (429), until less than 5 % are; failing: from 20 % failed, until less than 10 % do; slow: the median is three times the usual one and a second above it.',
  );
const since = timestamp.nullable().describe('null: for as long as the counts go back, at most a day.');
const milliseconds = z.number().nullable().describe('Of answered calls; null without one.');
const errorCounts = z
  .record(z.string(), z.int())
  .describe('Calls without an answer by HTTP status, or by code where there was none.');
const models = z.array(z.object({ provider: z.string(), model: z.string() })).describe('Those that it names.');
const counts = { calls: z.int(), errors: errorCounts, throttled: z.int(), p50_ms: milliseconds, p95_ms: milliseconds };

const windowSchema = z
  .object({
    ...counts,
    error_rate: z.number().nullable().describe('Calls without an answer as a share of all; null without calls.'),
  })
  .meta({ id: 'CallWindow' });
const windows = {
  last_minute: windowSchema.describe('The current minute and the one before.'),
  last_15_minutes: windowSchema,
  last_hour: windowSchema,
  minutes: z
    .array(z.object({ start: timestamp, ...counts }).meta({ id: 'CallMinute' }))
    .describe('Minutes of the last hour with calls, in the order of time.'),
};

const providerHealthSchema = z
  .object({
    provider: z.string(),
    model: z.string(),
    state: stateSchema,
    since,
    because: z.string().nullable().describe('The status or code of most errors of the state; null: ok or slow.'),
    ...windows,
    job_ids: z.array(z.string()).describe('Open jobs that name the model; see `jobs`.'),
    deployments: z.array(z.string()).describe('Names whose live version names the model; see `deployments`.'),
  })
  .meta({ id: 'ProviderHealth' });

const openJobSchema = z
  .object({
    job_id: z.string(),
    kind: z.enum(['session', 'evaluation', 'graph']),
    name: z.string().nullable(),
    tags: z.array(z.string()),
    status: statusSchema,
    last_command: lastCommandSchema,
    created_by: keyView,
    models,
    concurrency: z.object({
      limit: z.int().describe('Rollouts at a time now.'),
      max_concurrent: z.int(),
      lowered_because: z.string().nullable(),
    }),
    rollouts_completed: z.int(),
    max_rollouts: z.int().nullable().describe('null: no limit.'),
    rollouts_per_minute: z
      .number()
      .nullable()
      .describe('Over the current minute and the one before; null: too few results since it began or went on.'),
    last_result_at: timestamp.nullable(),
    ends_at: timestamp
      .nullable()
      .describe(
        'When the first limit is reached at this pace; null: it is not known, nothing comes, or there is no limit.',
      ),
    ends_by: z
      .enum(['rollouts', 'dollars'])
      .nullable()
      .describe('The limit that is reached first: max_rollouts or max_cost_usd. A limit of minutes is not considered.'),
    usd_per_hour: z.number().nullable().describe('The pace times the mean cost of a rollout so far; null: unknown.'),
    total_cost_usd: z.number().nullable(),
    stalled: z.boolean().describe('It runs, and no result has come for 60 s.'),
    stalled_because: z.string().nullable().describe('What is known of the cause; null: it does not stall.'),
    stuck: stuckSchema,
  })
  .meta({ id: 'OpenJobHealth' });

const liveDeploymentSchema = z
  .object({
    deployment_id: z.string(),
    name: z.string(),
    version: z.int(),
    previous_id: z.string().nullable().describe('What a rollback would serve; null: nothing.'),
    models,
    state: stateSchema.describe('Of its requests.'),
    since,
    because: z.string().nullable().describe('The code of most errors; null: ok or slow.'),
    ...windows,
  })
  .meta({ id: 'DeploymentHealth' });

const spentSchema = z.object({
  today_usd: z.number().describe('Of the UTC day.'),
  limit_usd: z.number().nullable().describe('spend_usd_per_day; null: none.'),
});

export const healthSchema = z
  .object({
    at: timestamp,
    state: stateSchema.describe('The worst of the providers and deployments.'),
    providers: z
      .array(providerHealthSchema)
      .describe('The 50 models that were called most in the last hour; the worst first.'),
    jobs: z
      .array(openJobSchema)
      .describe(
        'Sessions, evaluations and graph jobs that run or are paused, at most 200; the longest without a result first.',
      ),
    deployments: z.array(liveDeploymentSchema).describe('What serves a name, at most 50; the worst first.'),
    service: z.object({
      ready: z.boolean(),
      checks: z
        .record(z.string(), z.object({ ok: z.boolean(), detail: z.string().nullable() }))
        .describe('As /readyz.'),
      queues: z
        .array(
          z.object({
            type: z.string().describe('workflow or activity.'),
            waiting: z.int().describe('Tasks that wait for a worker.'),
            oldest_s: z.number().describe('How long the oldest has waited, in seconds.'),
          }),
        )
        .nullable()
        .describe('null: Temporal does not answer.'),
    }),
    spend: z.object({ organization: spentSchema, key: spentSchema }),
  })
  .meta({ id: 'Health' });
