import { z } from 'zod';
import { timestamp, usageSchema } from '../../contracts/common.js';

const callSchema = z.object({
  call_id: z.string(),
  step: z.string().nullable().optional().describe('Graph jobs: the step that made the call; null: the judge.'),
  provider: z.string(),
  model: z.string(),
  stream: z.boolean(),
  http_status: z.int(),
  request: z.unknown().describe('As sent to the model.'),
  response: z.unknown().describe('As the model answered; null without an answer.'),
  prompt_tokens: z.int().nullable(),
  completion_tokens: z.int().nullable(),
  cost_usd: z.number().nullable(),
  cost_source: z.string(),
  latency_ms: z.number().nullable(),
  cached_from: z
    .string()
    .nullable()
    .describe('The call whose answer the answer cache used again; null: the model answered.'),
  created_at: timestamp,
});

const stepSchema = z.object({
  step: z.string(),
  calls: z.int(),
  prompt_tokens: z.int().nullable(),
  completion_tokens: z.int().nullable(),
  cost_usd: z.number().nullable(),
  latency_ms: z.number().describe('Sum over its calls, which may be concurrent.'),
});

export const traceSchema = z
  .object({
    trace_id: z.string(),
    rollout_id: z.string(),
    correlation_id: z.string(),
    session_id: z.string().optional(),
    graph_gen_job_id: z.string().optional(),
    job_id: z.string(),
    rollout_idx: z.int(),
    source: z.enum(['service', 'caller']),
    candidate_id: z.string().nullable(),
    seed: z.int().nullable(),
    task_id: z.string().optional().describe('Graph jobs: the task whose index is seed.'),
    stage: z.string().nullable(),
    generation: z.int().nullable(),
    status: z.string(),
    reward: z.number().nullable(),
    feedback: z.string().nullable(),
    details: z.unknown(),
    error: z.string().nullable(),
    error_code: z.string().nullable(),
    resent: z.int(),
    latency_ms: z.number().nullable(),
    created_at: timestamp,
    started_at: timestamp.nullable(),
    completed_at: timestamp.nullable(),
    usage: usageSchema.pick({ prompt_tokens: true, completion_tokens: true, total_tokens: true, total_cost_usd: true }),
    steps: z.array(stepSchema).optional().describe('Graph jobs: usage of each step with model calls.'),
    calls: z.array(callSchema),
  })
  .meta({ id: 'Trace' });
