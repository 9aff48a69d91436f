import { z } from 'zod';
import { timestamp } from '../common.js';
import { largestWhole, wholeParameter } from '../validation.js';
import { eventSchemas } from './schema.js';

/** The fields of every event on the wire, in their order. */
const lineFields = {
  type: z.string(),
  seq: z.int().describe('1, 2, 3 … for each job, without gaps.'),
  ts: timestamp,
  session_id: z.string().optional(),
  graph_gen_job_id: z.string().optional(),
  job_id: z.string(),
  message: z.string(),
  data: z.record(z.string(), z.unknown()),
};

const eventComponent = 'Event';

/** Documents each event type in the OpenAPI document; answers are not checked against it. */
z.union(
  eventSchemas.map((schema) => z.looseObject({ ...lineFields, ...schema.shape }).meta({ ...schema.meta() })),
).meta({ id: eventComponent, description: 'Each field of `data` is also a field beside `data`.' });

const eventReference = { $ref: `#/components/schemas/${eventComponent}` };

/** Answers events as they are stored: a full schema would reorder the fields of `data`. */
const eventLineSchema = z.looseObject(lineFields).meta({ allOf: [eventReference] });
export type EventLine = z.infer<typeof eventLineSchema>;

export const eventPageSchema = z.object({
  events: z.array(eventLineSchema),
  next_seq: z.int().describe('The since_seq of the next page.'),
  has_more: z.boolean(),
});

const seq = wholeParameter(0, largestWhole);

/** `since_seq` and `limit` select a JSON page; `after` and `since_seq` are exclusive. */
export const eventQuerySchema = z.strictObject({
  after: seq.optional().describe('The stream begins after this seq, as with Last-Event-ID.'),
  since_seq: seq.optional(),
  limit: wholeParameter(1, 1_000).optional(),
});

/** The fields of each server-sent event. */
export const eventStreamSchema = z.object({
  id: z.string().describe('The seq of the event.'),
  event: z.string().describe('Its type.'),
  data: z.string().meta({
    description: 'The event as one line of JSON.',
    contentMediaType: 'application/json',
    contentSchema: eventReference,
  }),
  retry: z.int().min(0).optional().describe('Milliseconds before a reconnection; of the first event.'),
});
