import { z } from 'zod';

/** RFC 9457 problem details with OpenAI's `error`. */
export const problemSchema = z
  .looseObject({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string().describe('What happened and what to do.'),
    instance: z.string(),
    code: z.string(),
    request_id: z.string(),
    errors: z.array(z.object({ pointer: z.string(), message: z.string() })).optional(),
    error: z.object({ message: z.string(), type: z.string(), code: z.string(), param: z.string().nullable() }),
  })
  .meta({ id: 'Problem', description: 'RFC 9457 problem details.' });
