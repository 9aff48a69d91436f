/** One command for many runs. */
import { z } from 'zod';
import { createdByQuery, statusSchema } from '../../contracts/common.js';
import { tagSchema } from '../../contracts/labels.js';
import { all, either, forbidden, oneRequired, required, where } from '../../contracts/rules.js';
import { runKinds } from './run.js';

/** The most runs of one request: each waits for its workflow. */
export const mostRuns = 200;

export const runActions = ['pause', 'resume', 'cancel', 'archive', 'unarchive', 'tag'] as const;
export type RunAction = (typeof runActions)[number];

const filterSchema = z
  .strictObject({
    kind: z.enum(runKinds).optional(),
    provider: z.string().min(1).max(100).optional().describe('Of a policy or of the proposer.'),
    tag: tagSchema.optional(),
    status: statusSchema.optional(),
    created_by: createdByQuery,
  })
  .refine((filter) => Object.values(filter).some((value) => value !== undefined), 'must name at least one field')
  .meta({ id: 'RunFilter', minProperties: 1 });

export const runCommandsSchema = z
  .strictObject({
    action: z.enum(runActions),
    job_ids: z.array(z.string().max(100)).min(1, 'must name a run').max(mostRuns).optional().describe('Each once.'),
    filter: filterSchema.optional().describe('The runs that pass and that the action would change.'),
    tag: tagSchema.optional().describe('What the action tag adds.'),
    dry_run: z.boolean().default(false).describe('true: answers what it would touch, and changes nothing.'),
  })
  .superRefine(({ action, job_ids: ids, filter, tag }, ctx) => {
    const refuse = (field: string, message: string) => ctx.addIssue({ code: 'custom', path: [field], message });
    if ((ids === undefined) === (filter === undefined)) refuse('job_ids', 'give exactly one of job_ids and filter');
    if (action === 'tag' && tag === undefined) refuse('tag', 'is required with action tag');
    if (action !== 'tag' && tag !== undefined) refuse('tag', 'is used with action tag only: remove it');
  })
  .meta(
    all(
      oneRequired('job_ids', 'filter'),
      either(
        all(where({ action: { const: 'tag' } }), required('tag')),
        all(where({ action: { not: { const: 'tag' } } }), forbidden('tag')),
      ),
    ),
  );
export type RunCommands = z.output<typeof runCommandsSchema>;

export const runCommandsAnswerSchema = z.object({
  action: z.enum(runActions),
  dry_run: z.boolean(),
  runs: z.array(
    z
      .object({
        job_id: z.string(),
        kind: z.enum(runKinds).nullable().describe('null: there is no such run.'),
        name: z.string().nullable(),
        status: statusSchema.nullable().describe('After the command; in a dry run, now.'),
        outcome: z
          .enum(['done', 'would', 'unchanged', 'pending', 'refused'])
          .describe(
            'done; would: a dry run; unchanged: it was so already; pending: it takes effect once a worker returns; refused: see error.',
          ),
        error: z.object({ code: z.string(), message: z.string() }).nullable(),
      })
      .meta({ id: 'RunCommandOutcome' }),
  ),
});
