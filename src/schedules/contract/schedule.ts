/** Schedules of what is done again and again with what a name serves: requests and views. */
import { z } from 'zod';
import { keyView, pageQuery, pageSchema, timestamp, warningsSchema } from '../../contracts/common.js';
import { anyOf, needs, needsOne, refuses, together, withRule } from '../../contracts/field-rules.js';
import { labelFields, labelViewFields } from '../../contracts/labels.js';
import { unlessMissing } from '../../contracts/validation.js';
import { webhookField } from '../../contracts/webhook.js';
import { cronProblem } from './cron.js';
import { durationSchema } from '../../kinds/deployment/contract/canary.js';

import { checkupFields } from '../../kinds/checkup/contract/request.js';

const cron = z
  .string(unlessMissing('must be a cron expression, such as "0 3 * * 1"'))
  .max(200)
  .superRefine((text, context) => {
    const problem = cronProblem(text);
    if (problem !== null) context.addIssue(problem);
  })
  .describe(
    'Five fields: minute, hour, day of month, month, day of week. "0 3 * * 1" is Monday at 3. Exactly one of cron and every.',
  );

const every = durationSchema
  .refine((text) => !/^[1-5]?[0-9]s$/.test(text), 'must be at least 1m')
  .describe('Time between two runs, from 1m on, such as 6h or 7d. The first run is one such time after the create.');

function isTimezone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    // Offsets are none.
    return /^[A-Za-z]/.test(name);
  } catch {
    return false;
  }
}

const timezone = z
  .string(unlessMissing('must be the name of a time zone, such as Europe/Berlin'))
  .max(100)
  .refine(isTimezone, 'must be the name of a time zone, such as Europe/Berlin')
  .describe('Of cron, by its IANA name. Default: UTC.');

const maxCost = z
  .number()
  .gt(0, 'must be above 0')
  .max(1_000_000_000)
  .nullish()
  .describe(
    'Dollars of all runs that begin in a month (UTC). What is left of it is the most that a run may cost; nothing left: runs are skipped until the next month. null: no limit.',
  );

const { tags, metadata, notes } = labelFields;
const paused = z.boolean('must be true or false').describe('Whether its times pass without a run.');

const checkup = checkupFields
  .omit({ tags: true, metadata: true, notes: true, webhook_url: true })
  .meta({ id: 'ScheduledCheckup' })
  .describe('Of each run, as POST …/checkups takes it; labels and webhook_url are those of the schedule. Default: {}.');

const scheduleFields = {
  cron: cron.optional(),
  every: every.optional(),
  timezone: timezone.optional(),
  checkup: checkup.optional(),
  max_cost_usd_per_month: maxCost,
  tags,
  metadata,
  notes,
  ...webhookField,
};

const timezoneOfCron = anyOf(
  { path: ['timezone'], message: 'is of cron alone: remove it, or give cron' },
  refuses(['timezone']),
  needs(['cron']),
);

/** What is stored of a schedule besides `paused`, in the terms of its request. */
export type ScheduleSpec = z.output<z.ZodObject<typeof scheduleFields>> & { checkup: z.output<typeof checkup> };

/** The request that an absent one stands for. */
export const usualCheckup = (): ScheduleSpec['checkup'] => checkup.parse({});
export type ScheduleTimes = Pick<ScheduleSpec, 'cron' | 'every' | 'timezone'>;

export const createScheduleSchema = withRule(
  z.strictObject(
    { ...scheduleFields, paused: paused.default(false) },
    unlessMissing('must be a JSON object with cron or every'),
  ),
  together(needsOne(['cron', 'every'], 'must have exactly one of cron and every'), timezoneOfCron),
  'CreateSchedule',
);

const changeFields = {
  ...scheduleFields,
  timezone: timezone.nullish(),
  paused: paused.optional(),
};
const changeable = Object.keys(changeFields);

const oneAtLeast = { path: [], message: `must have one of ${changeable.join(', ')}` };
const oneAtMost = { path: [], message: 'must have only one of cron and every' };

export const changeScheduleSchema = withRule(
  z.strictObject(changeFields, 'must be a JSON object'),
  together(
    anyOf(oneAtLeast, ...changeable.map((field) => needs([field]))),
    anyOf(oneAtMost, refuses(['cron']), refuses(['every'])),
  ),
  'ChangeSchedule',
);
export type ChangeSchedule = z.output<typeof changeScheduleSchema>;

export const scheduleParams = z.object({ schedule_id: z.string() });
export const schedulesQuerySchema = z.strictObject(pageQuery);

export const runView = z
  .object({
    run_id: z.string(),
    scheduled_at: timestamp.describe('When it was due, in UTC.'),
    manual: z.boolean().describe('Whether a request asked for it.'),
    outcome: z
      .enum(['started', 'skipped', 'refused'])
      .nullable()
      .describe(
        'started: its job exists; skipped: the schedule left it out; refused: its job cannot be made now. null: it is due.',
      ),
    job_id: z.string().nullable(),
    code: z.string().nullable().describe('Why it was skipped or refused.'),
    detail: z.string().nullable().describe('The same in words.'),
  })
  .meta({ id: 'ScheduleRun' });

const summary = {
  schedule_id: z.string(),
  name: z.string().describe('The name that its runs are about.'),
  cron: z.string().nullable(),
  every: z.string().nullable(),
  timezone: z.string().nullable().describe('Of cron.'),
  max_cost_usd_per_month: z.number().nullable(),
  spent_this_month_usd: z
    .number()
    .describe('Of the runs that began in this month (UTC). One whose job is open counts with its whole budget.'),
  paused: z.boolean(),
  paused_in_temporal: z.boolean().describe('Whether an operator has paused it in Temporal, where it stays so.'),
  next_run_at: timestamp
    .nullable()
    .describe('null: it is paused, or Temporal does not have the schedule as it is now, or does not say.'),
  tags: labelViewFields.tags,
  metadata: labelViewFields.metadata,
  notes: labelViewFields.notes,
  webhook_origin: z.string().nullable().describe('Scheme, host and port of webhook_url.'),
  created_at: timestamp,
  created_by: keyView,
};

export const schedulesSchema = pageSchema(z.object(summary).meta({ id: 'ScheduleListItem' }));

export const scheduleSchema = z
  .object({
    ...summary,
    checkup: z.looseObject({}).describe('The request of each of its jobs.'),
    last_runs: z.array(runView).describe('The latest 20, the newest first.'),
    warnings: warningsSchema.optional(),
  })
  .meta({ id: 'Schedule' });
export type ScheduleView = z.output<typeof scheduleSchema>;
