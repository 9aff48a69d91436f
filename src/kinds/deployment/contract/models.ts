import { z } from 'zod';

/** The form of a deployment in OpenAI's list of models. */
export const modelSchema = z
  .object({
    id: z.string().describe('The name of a deployment, or its id as asked for.'),
    object: z.literal('model'),
    created: z.int().describe('When the deployment went live, in seconds since 1970.'),
    owned_by: z.literal('ratchet'),
  })
  .meta({ id: 'Model' });

export const modelListSchema = z
  .object({ object: z.literal('list'), data: z.array(modelSchema).describe('The first 1,000 by name.') })
  .meta({ id: 'ModelList' });
