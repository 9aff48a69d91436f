import { z } from 'zod';

export const modelCheckRequestSchema = z.object({
  provider: z.string().min(1).max(100),
  model: z.string().min(1).max(500),
});

/** The parts of a request that are checked, in the order of the answer. */
const checkedParts = [
  'answer',
  'max_tokens',
  'system',
  'stream',
  'stream_usage',
  'tools',
  'json_schema',
  'json_object',
  'temperature_0',
  'price',
] as const;

export const modelCheckSchema = z.object({
  checks: z
    .array(
      z.object({
        part: z.enum(checkedParts),
        takes: z.boolean(),
        detail: z.string(),
        remedy: z.string().nullable().describe('What to do, or what follows; null: nothing.'),
      }),
    )
    .describe('Without an answer, no other part was asked for.'),
  seconds: z.number().nullable().describe('The time of the plain answer; null: none.'),
  cost_usd: z.number().nullable().describe('Of all calls; null: unknown.'),
});

export type ModelCheck = z.output<typeof modelCheckSchema>;
