import { z } from 'zod';
import { pageQuery, timestamp } from '../common.js';
import { leverVersionsSchema } from '../candidates/levers.js';

export const sensorKinds = ['rollout', 'reward', 'resource'] as const;

const sensorsSchema = z.object({
  rollout: z
    .object({
      count: z.int().describe('Rollouts that have ended.'),
      succeeded: z.int(),
      failed: z.int(),
      resent: z.int().describe('How often one of them was sent again after a crash.'),
    })
    .nullable(),
  reward: z
    .object({
      count: z.int().describe('Rewards: of the rollouts that succeeded.'),
      mean: z.number(),
      sd: z.number().nullable().describe('Of the sample; null of a single reward.'),
      min: z.number(),
      max: z.number(),
    })
    .nullable()
    .describe('null: no rollout succeeded.'),
  resource: z
    .object({
      prompt_tokens: z.int().nullable().describe('null: no call told.'),
      completion_tokens: z.int().nullable(),
      cost_usd: z.number().nullable().describe('null: of one of the calls it is not known, or there was none.'),
      latency_ms_p50: z
        .number()
        .nullable()
        .describe('Until a rollout’s container had answered, tries included; null: live traffic.'),
      latency_ms_p95: z.number().nullable(),
      latency_ms_max: z.number().nullable(),
      concurrency: z
        .int()
        .nullable()
        .describe('How many rollouts could be in flight when the frame was made; null: live traffic.'),
    })
    .nullable()
    .describe('null: nothing of it is known.'),
});

/** What the rollouts of a candidate in one batch came to. */
export const sensorFrameSchema = z
  .object({
    frame_id: z.string(),
    created_at: timestamp,
    candidate_id: z.string(),
    stage: z.enum(['baseline', 'minibatch', 'gate', 'evaluation', 'heldout']),
    generation: z.int(),
    sensor_count: z.int().describe('How many sensors have readings.'),
    sensor_kinds: z.array(z.enum(sensorKinds)).describe('Which.'),
    trace_ids: z.array(z.string()).describe('The rollouts in the order asked, the first 100.'),
    lever_versions: leverVersionsSchema.describe("The candidate's."),
    sensors: sensorsSchema,
  })
  .meta({ id: 'SensorFrame', description: 'What the rollouts of a candidate in one batch of a stage came to.' });

/** What a session says of its sensors. */
export const sensorFields = {
  sensor_frames: z.array(sensorFrameSchema).describe('The latest 50, in the order of their creation.'),
  sensor_frame_count: z.int().describe('How many there are; all at /sensor-frames.'),
};

export const sensorFramesQuerySchema = z.strictObject(pageQuery);
