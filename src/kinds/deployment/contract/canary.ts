/** How traffic moves from what a name serves to a new deployment, step by step. */
import { z } from 'zod';
import { timestamp } from '../../../contracts/common.js';
import { needsOne, withRule } from '../../../contracts/field-rules.js';
import { canaryEvidence } from '../../../contracts/canary-evidence.js';
import { unlessMissing } from '../../../contracts/validation.js';
import { metricNameSchema } from './feedback.js';
import { reasonField } from './registry.js';

export const durationSchema = z
  .string(unlessMissing('must be a time such as 30s, 30m, 4h or 7d'))
  .regex(/^[1-9][0-9]{0,5}[smhd]$/, 'must be a whole number with s, m, h or d, such as 30m');

const percent = z.number().gt(0).max(100);
const increase = z.number().min(0).max(1e9);
const maxRatio = z.number().min(1).max(1_000);
const metricGuardSchema = z
  .strictObject({
    max_decrease: increase.optional().describe('How much lower the mean may be than that of the live version.'),
    max_increase: increase.optional(),
  })
  .refine((guard) => Object.keys(guard).length > 0, 'must have max_decrease, max_increase, or both');

const guardFields = {
  error_rate: z
    .strictObject({ max_increase: z.number().min(0).max(1) })
    .nullish()
    .describe('How much higher the share of failed requests may be. Default: 0.05. null: no bound.'),
  p95_latency: z.strictObject({ max_ratio: maxRatio }).nullish(),
  cost: z.strictObject({ max_ratio: maxRatio }).nullish().describe('Of the mean known cost of a request.'),
  metrics: z
    .record(metricNameSchema, metricGuardSchema)
    .refine((metrics) => Object.keys(metrics).length <= 20, 'must have at most 20 metrics')
    .nullish(),
};

const headerPattern = /^header:[A-Za-z0-9-]{1,100}$/;

export const canarySchema = withRule(
  z.strictObject(
    {
      steps: z
        .array(percent)
        .min(1)
        .max(20)
        .refine((steps) => steps.at(-1) === 100, 'must end with 100')
        .refine((steps) => steps.every((step, at) => at === 0 || step > steps[at - 1]!), 'must ascend')
        .default([1, 10, 50, 100])
        .describe('Percent of the requests that the new version answers; 100: its name serves it.'),
      shadow: percent
        .nullish()
        .describe(
          'A first step: this percent of the requests is asked of the new version, too; callers do not see its answers.',
        ),
      hold: durationSchema.optional().describe('How long each step lasts. Exactly one of hold and until.'),
      until: z.literal('decided').optional().describe('The last step before 100 lasts until the metric decides.'),
      max_duration: durationSchema.default('14d').describe('Rolls back what is not decided by then.'),
      min_requests: z
        .int()
        .min(1)
        .max(1_000_000)
        .default(20)
        .describe('Requests that the new version answers in a step before the next one.'),
      metric: metricNameSchema.default('reward').describe('The metric of feedback that decides; greater is better.'),
      guard: z
        .strictObject(guardFields)
        .nullish()
        .describe('Bounds against the live version. The new one is rolled back beyond them.'),
      sticky_by: z
        .string()
        .refine(
          (by) => by === 'user' || by === 'correlation_id' || headerPattern.test(by),
          'must be user, correlation_id or header:NAME',
        )
        .nullish()
        .describe('What keeps its version: user, correlation_id or header:NAME. Default: the first that it has.'),
      require_approval: z.boolean().default(false).describe('Whether a person promotes.'),
    },
    unlessMissing('must be an object with hold or until'),
  ),
  needsOne(['hold', 'until'], 'must have exactly one of hold and until'),
);
export type CanaryRequest = z.output<typeof canarySchema>;

export const canaryActions = ['pause', 'resume', 'promote', 'roll_back'] as const;

export type CanaryAction = (typeof canaryActions)[number];

export const canaryCommandSchema = z.strictObject(
  { action: z.enum(canaryActions), reason: reasonField },
  `must be a JSON object with action: ${canaryActions.join(', ')}`,
);

export const canaryStatuses = ['running', 'paused', 'awaiting_approval', 'promoted', 'rolled_back'] as const;
export type CanaryStatus = (typeof canaryStatuses)[number];

export const canaryView = z
  .object({
    deployment_id: z.string().describe('The new version.'),
    name: z.string(),
    status: z.enum(canaryStatuses),
    step: z.int().describe('From 1; the shadow is one.'),
    steps: z.int(),
    percent: z.number().describe('Of the requests, in the current step.'),
    is_shadow: z.boolean(),
    live_deployment_id: z.string().nullable(),
    waits: z
      .enum(['few_requests', 'undecided'])
      .meta({ id: 'CanaryDelay' })
      .nullable()
      .describe('Why the step goes on after its time; null: it does not.'),
    metric: z.string().describe('The one that decides.'),
    evidence: canaryEvidence.describe(
      'In the current step; of the metric the first value of each user, episode or answer since the begin.',
    ),
    reason: z.string().nullable().describe('Why it ended.'),
    started_at: timestamp,
    ended_at: timestamp.nullable(),
  })
  .meta({ id: 'Canary' });
export type CanaryView = z.output<typeof canaryView>;
