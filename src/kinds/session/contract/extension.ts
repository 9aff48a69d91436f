/** POST …/sessions/{id}/extend: larger limits for a session that has ended. */
import { z } from 'zod';
import { containerFields, statusSchema } from '../../../contracts/common.js';
import { wholeNumber } from '../../../contracts/validation.js';

const total = 'The new total; it must be larger than the present one.';

/** The limits that can be raised. */
const limitFields = {
  max_rollouts: wholeNumber(1, 10_000_000).optional().describe(`budget.max_rollouts. ${total}`),
  max_cost_usd: z.number().gt(0).max(1_000_000).optional().describe(`budget.max_cost_usd. ${total}`),
  max_minutes: z.number().gt(0).max(43_200).optional().describe(`budget.max_minutes, of all runs. ${total}`),
  generations: wholeNumber(1, 2_000).optional().describe(`gepa.generations. ${total}`),
  num_trials: wholeNumber(1, 1_990).optional().describe(`mipro.num_trials. ${total}`),
};
export type LimitName = keyof typeof limitFields;
export const limitNames = Object.keys(limitFields) as LimitName[];

export const extendSessionSchema = z
  .strictObject(
    {
      ...limitFields,
      container_api_key: containerFields.container_api_key.describe(
        'Required where the create had one: it was deleted when the session ended.',
      ),
    },
    'must be a JSON object with larger limits, or absent',
  )
  .nullish();
export type ExtendSession = NonNullable<z.infer<typeof extendSessionSchema>>;

export const sessionExtendedSchema = z
  .object({
    session_id: z.string(),
    job_id: z.string(),
    status: statusSchema,
    run: z.int().describe('Counts the runs of the session; the create began run 1.'),
    workflow_id: z.string().describe('The Temporal workflow of this run.'),
    temporal_url: z.string().nullable(),
  })
  .meta({ id: 'SessionExtended' });
