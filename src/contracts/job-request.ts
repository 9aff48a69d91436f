import { z } from 'zod';
import { createQuerySchema, messageSchema, originSchema, statusSchema, timestamp } from './common.js';

const candidateQuery = {
  candidate_id: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .describe("A candidate of the job: the request's first prompt or graph is that of the candidate."),
};

/** Query of the request of a search, and of its clone. */
export const requestQuerySchema = z.strictObject(candidateQuery);
export const branchQuerySchema = createQuerySchema.extend(candidateQuery);

/** The request of a job, as it can be sent again. */
export const jobRequestSchema = z
  .object({
    job_id: z.string(),
    request: z
      .record(z.string(), z.unknown())
      .nullable()
      .describe(
        'The body of a create, with the labels of now. null: no request made the job; it belongs to a deployment, a migration or a checkup.',
      ),
    omitted: z
      .array(z.string())
      .describe('JSON pointers into request of fields that were sent and are never returned. Send them again.'),
    dataset: z.object({ dataset_id: z.string(), name: z.string().nullable(), num_rows: z.int() }).nullable(),
    prompt: z
      .array(messageSchema)
      .nullable()
      .describe("What a session begins with, or what an evaluation runs. null: the container's own, or a graph."),
    branched_from: originSchema,
    branches: z
      .array(
        z.object({
          job_id: z.string(),
          name: z.string().nullable(),
          status: statusSchema,
          candidate_id: z.string().nullable(),
          created_at: timestamp,
        }),
      )
      .describe('The latest 50 jobs made from this one.'),
  })
  .meta({ id: 'JobRequest' });
