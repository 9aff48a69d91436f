import { z } from 'zod';
import { pageQuery, timestamp } from '../../../contracts/common.js';
import { leverVersionsSchema } from '../../../candidates/contract/levers.js';

export const sensorKinds = ['rollout', 'reward', 'resource'] as const;

const sensorsSchema = z.object({
  rollout: z
    .object({
      count: z.int().describe('Finished rollouts.'),
      succeeded: z.int(),
      failed: z.int(),
      resent: z.int().describe('Repetitions after a crash.'),
    })
    .nullable(),
  reward: z
    .object({
      count: z.int().describe('Rewards of succeeded rollouts.'),
      mean: z.number(),
      sd: z.number().nullable().describe('Sample standard deviation; null for a single reward.'),
      min: z.number(),
      max: z.number(),
    })
    .nullable()
    .describe('null if no rollout succeeded.'),
  resource: z
    .object({
      prompt_tokens: z.int().nullable().describe('null if a call did not report it, or there were no calls.'),
      completion_tokens: z.int().nullable(),
      cost_usd: z.number().nullable().describe('null if the cost of a call is unknown, or there were no calls.'),
      latency_ms_p50: z
        .number()
        .nullable()
        .describe('Time until the container answered, retries included; null: live traffic.'),
      latency_ms_p95: z.number().nullable(),
      latency_ms_max: z.number().nullable(),
      concurrency: z
        .int()
        .nullable()
        .describe('Maximum concurrent rollouts when the frame was created; null: live traffic.'),
    })
    .nullable()
    .describe('null if nothing is known.'),
});

export const sensorFrameSchema = z
  .object({
    frame_id: z.string(),
    created_at: timestamp,
    candidate_id: z.string(),
    stage: z.enum(['baseline', 'minibatch', 'gate', 'evaluation', 'heldout']),
    generation: z.int(),
    sensor_count: z.int().describe('Number of sensors with readings.'),
    sensor_kinds: z.array(z.enum(sensorKinds)).describe('The sensors with readings.'),
    trace_ids: z.array(z.string()).describe('The first 100 rollouts, in the order requested.'),
    lever_versions: leverVersionsSchema.describe("The candidate's lever versions."),
    sensors: sensorsSchema,
  })
  .meta({ id: 'SensorFrame', description: "Aggregated results of a candidate's rollouts in one batch of a stage." });

export const sensorFields = {
  sensor_frames: z.array(sensorFrameSchema).describe('The latest 50 frames, oldest first.'),
  sensor_frame_count: z.int().describe('Number of frames; /sensor-frames lists all.'),
};

export const sensorFramesQuerySchema = z.strictObject(pageQuery);
