/** What callers of a deployment may use. Counts are of its name: a new version continues them. */
import { z } from 'zod';
import { unlessMissing } from '../../../contracts/validation.js';

const whole = z.int().min(1).max(1_000_000_000).nullable().default(null);

const limitFields = {
  requests_per_minute: whole.describe('Requests that are sent on in a minute of the clock.'),
  tokens_per_minute: whole.describe(
    'Tokens of requests and answers in a minute of the clock, counted when an answer ends; beyond it requests are refused.',
  ),
  calls_in_flight: whole.describe('Requests at a time.'),
  spend_usd_per_day: z
    .number()
    .min(0)
    .max(1_000_000_000)
    .nullable()
    .default(null)
    .describe('Dollars of answers in a UTC day, counted when an answer ends; beyond it requests are refused.'),
};

const limitSetSchema = z.strictObject(limitFields).nullable();

/** Whose uses a set of limits bounds. */
const sets = {
  total: 'Of all callers together.',
  per_key: 'Of each API key.',
  per_tag: 'Of each value of the header x-ratchet-tag; requests without it share one.',
};

export const limitsSchema = z.strictObject(
  {
    total: limitSetSchema.describe(sets.total),
    per_key: limitSetSchema.describe(sets.per_key),
    per_tag: limitSetSchema.describe(sets.per_tag),
  },
  unlessMissing('must be an object with total, per_key and per_tag, or null'),
);
export const limitDefaults = { total: null, per_key: null, per_tag: null };
export type LimitSettings = z.output<typeof limitsSchema>;
export type LimitSet = NonNullable<LimitSettings['total']>;

const limitSetView = z
  .object({
    requests_per_minute: z.int().nullable(),
    tokens_per_minute: z.int().nullable(),
    calls_in_flight: z.int().nullable(),
    spend_usd_per_day: z.number().nullable(),
  })
  .nullable();

export const limitsView = z
  .object({
    total: limitSetView.describe(sets.total),
    per_key: limitSetView.describe(sets.per_key),
    per_tag: limitSetView.describe(sets.per_tag),
  })
  .meta({ id: 'DeploymentLimits' });
