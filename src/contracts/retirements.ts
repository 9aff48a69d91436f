/** Known ends of models, and what of an organization names them. */
import { z } from 'zod';
import { wholeParameter } from './validation.js';

const day = z.iso.date();
const shutdownDate = day.describe('The day on which the vendor shuts the model down, or did.');
const replacement = z.string().nullable().describe('The model that the vendor names instead. null: it names none.');

/** In the views of deployments. */
export const retiresSchema = z
  .object({ provider: z.string(), model: z.string(), shutdown_date: shutdownDate, replacement })
  .meta({ id: 'Retires' })
  .nullable()
  .describe(
    'The first of its models, fallbacks and judges to end, by the table of the service. null: no end is known.',
  );
export type Retires = z.output<typeof retiresSchema>;

export const retirementQuerySchema = z.strictObject({
  within_days: wholeParameter(0, 3_650)
    .optional()
    .describe('Only models that end within so many days, or have ended. Default: all known ends.'),
  all: z
    .enum(['true', 'false'])
    .default('false')
    .transform((text) => text === 'true')
    .describe('true: the newest 1,000 versions that do not serve their name, too.'),
});

/** What may name a model. */
const namingKinds = ['deployment', 'session', 'evaluation', 'graph', 'migration', 'checkup'] as const;
/** As what. */
export const modelRoles = ['policy', 'proposer', 'judge', 'fallback'] as const;
export type ModelRole = (typeof modelRoles)[number];

const retirementSchema = z.object({
  kind: z.enum(namingKinds),
  id: z.string().describe('The deployment or the job.'),
  name: z.string().nullable(),
  live: z.boolean().describe('Whether it is a deployment that serves its name.'),
  role: z.enum(modelRoles).describe('As what it names the model.'),
  provider: z.string(),
  model: z.string(),
  shutdown_date: shutdownDate,
  days_left: z.int().describe('Until that day begins (UTC). Negative: it has passed.'),
  replacement,
  source: z.string().describe("The vendor's page, or the list of models of the provider, that says so."),
  as_of: day.describe('The day on which that was read.'),
});
export type RetirementView = z.output<typeof retirementSchema>;

export const retirementListSchema = z.object({
  retirements: z
    .array(retirementSchema.meta({ id: 'ModelRetirement' }))
    .describe('Live deployments first, then the earliest end.'),
  unknown_providers: z
    .array(z.object({ provider: z.string(), reason: z.string() }))
    .describe('Providers of named models about whose ends this answer says nothing, or only what the table has.'),
  complete: z
    .boolean()
    .describe('false: more than 1,000 names are served, or more than 1,000 jobs are open; the first were read.'),
});
