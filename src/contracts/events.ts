import { z } from 'zod';
import { timestamp } from './common.js';

/** After one of these a job's stream ends. */
export const terminalEvents: readonly string[] = [
  'job_complete',
  'job_failed',
  'job_cancelled',
  'eval.policy.job.completed',
  'eval.policy.job.failed',
  'eval.policy.job.cancelled',
];

/** One event as it stands in a stream's `data:` line and in a JSON page; the fields of `data` are also beside it. */
const eventSchema = z
  .looseObject({
    type: z.string(),
    seq: z.int().describe('1, 2, 3 … for each job, without gaps.'),
    ts: timestamp,
    session_id: z.string().optional(),
    graph_gen_job_id: z.string().optional(),
    job_id: z.string(),
    message: z.string(),
    data: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'Event' });
export type EventLine = z.infer<typeof eventSchema>;

export const eventPageSchema = z.object({
  events: z.array(eventSchema),
  next_seq: z.int().describe('The since_seq of the next page.'),
  has_more: z.boolean(),
});

const seq = z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER);

/** `since_seq` and `limit` ask for JSON, `after` places a stream; all count from the event after it. */
export const eventQuerySchema = z.strictObject({
  after: seq.optional().describe('Begin after this seq, as Last-Event-ID does.'),
  since_seq: seq.optional(),
  limit: z.coerce.number().int().min(1).max(1_000).optional(),
});
