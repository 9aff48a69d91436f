/** Container checks: whether a container's rewards repeat. */
import { z } from 'zod';
import {
  containerFields,
  containerUrlSchema,
  envNameSchema,
  jobFields,
  policySchema,
  statusSchema,
} from '../common.js';
import { seedsSchema, wholeNumber } from '../validation.js';

export const createCheckSchema = z.strictObject({
  container_url: containerUrlSchema,
  env_name: envNameSchema,
  policy: policySchema,
  seeds: seedsSchema(100).default([0, 1, 2]).describe('Task instances to repeat.'),
  repeats: wholeNumber(2, 20).default(3).describe('Rollouts of each seed.'),
  ...containerFields,
});
export type CheckRequest = z.infer<typeof createCheckSchema>;

export const checkCreatedSchema = z.object({ job_id: z.string(), status: statusSchema });

export const checkSchema = z.object({
  ...jobFields,
  seeds: z.array(z.object({ seed: z.int(), rewards: z.array(z.number()), failed: z.int() })),
  repeatable: z.boolean().nullable().describe('Whether each seed had one reward; null until the check is complete.'),
});
