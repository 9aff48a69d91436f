/** The rows of a job: which a candidate answers wrongly, beside the baseline. */
import { z } from 'zod';
import { pageQuery, pageSchema } from '../../contracts/common.js';
import { reviewSchema, verdicts } from '../../contracts/review.js';
import { datasetSchema } from '../../datasets/contract/dataset.js';
import { wholeParameter } from '../../contracts/validation.js';
import type { RowGroup } from '../../core/rows/groups.js';

const groups = ['failing', 'broken', 'flaky', 'failed', 'fixed', 'right', 'untried'] as const satisfies RowGroup[];

export const rowGroupSchema = z.enum(groups).meta({
  id: 'RowGroup',
  description:
    'An answer with a reward of at least 0.5 is right. failing: wrong, and the baseline is not right. broken: wrong where the baseline is right. flaky: right on some repeats of either. failed: no reward. fixed: right where the baseline is wrong. right: right otherwise. untried: the candidate has not run on the row.',
});

const text = z.string().min(1).max(2_000);

/** A truth value, in a query as a text. */
const truthParameter = z
  .union([z.boolean(), z.enum(['true', 'false']).transform((value) => value === 'true')], 'must be true or false')
  .meta({ type: 'boolean' });

/** Of rows in any kind of job. */
export const rowFilterFields = {
  group: rowGroupSchema.optional().describe('Rows of this group.'),
  expected: text.optional().describe('Rows with this expected value.'),
  answered: text.optional().describe('Rows whose answer is in this column of the summary.'),
  other_answers: truthParameter.optional().describe('true: rows whose answer has no column.'),
  feedback: text.optional().describe('Rows whose feedback is in this cluster of the summary.'),
  review: z
    .enum(['none', 'any', ...verdicts])
    .optional()
    .describe('none: rows whose answer has no verdict of a person. any: with one. Else rows with this verdict.'),
  q: z.string().min(1).max(500).optional().describe('A part of input, expected value or answer, in any case.'),
};

const seen = 'true: rows that the search selected on. false: those held out from it.';
const candidateId = z
  .string()
  .regex(/^cand_\w{1,100}$/, 'must be the id of a candidate')
  .describe("Default: the job's best candidate, or its baseline while there is none.");

export const rowsFilterQuerySchema = z.strictObject({
  candidate_id: candidateId.optional(),
  ...rowFilterFields,
  seen: truthParameter.optional().describe(seen),
});

export const rowsQuerySchema = z.strictObject({
  ...rowsFilterQuerySchema.shape,
  limit: wholeParameter(1, 500).default(100),
  cursor: pageQuery.cursor,
});

/** Of an evaluation, which has one candidate. */
export const resultRowsFilterQuerySchema = z.strictObject(rowFilterFields);

const bodyRule = 'must be a JSON object, or absent';
const corrections = {
  corrected: z
    .boolean()
    .default(false)
    .describe("true: the corrected answer of people's reviews replaces the expected value of its row."),
  bad_expected: z
    .enum(['leave_out', 'keep'])
    .default('leave_out')
    .describe('With corrected: rows whose expected value people call wrong, and nobody corrected.'),
};
export const rowsDatasetSchema = z.strictObject({ ...rowsFilterQuerySchema.shape, ...corrections }, bodyRule).nullish();
export const resultRowsDatasetSchema = z.strictObject({ ...rowFilterFields, ...corrections }, bodyRule).nullish();

export const rowsDatasetAnswerSchema = datasetSchema.extend({
  corrected: z.int().describe('Rows with a corrected answer as their expected value.'),
  left_out: z.int().describe('Rows that pass, and whose expected value is wrong.'),
});

const cut = 'cut at 2,000 characters';

const rowSideSchema = z
  .object({
    candidate_id: z.string(),
    reward: z.number().nullable().describe('Mean over the succeeded rollouts; null: all failed.'),
    rollouts: z
      .int()
      .describe('Finished rollouts on the row. The other fields are of the last one that succeeded, else of the last.'),
    answer: z.string().nullable().describe(`The last answer, ${cut}; null: none, or its texts have expired.`),
    answer_truncated: z.boolean(),
    feedback: z.string().nullable().describe(`Of the scorer, ${cut}.`),
    error: z.string().nullable().describe('Why it failed.'),
    finish_reason: z.string().nullable().describe('Why the answer ended, such as stop or length.'),
    trace_id: z.string(),
  })
  .meta({ id: 'RowSide' });

export const rowSchema = z
  .object({
    row: z.int().describe('The row of the data set, or the seed.'),
    task_id: z.string().nullable().describe('The task of a graph job.'),
    group: rowGroupSchema,
    seen: z.boolean().describe(seen),
    input: z
      .string()
      .nullable()
      .describe(`The input column, or the row as JSON, ${cut}; null: a container has the rows.`),
    expected: z.string().nullable().describe(`The expected value, ${cut}.`),
    baseline: rowSideSchema.nullable().describe('null: the baseline has not run on the row.'),
    candidate: rowSideSchema.nullable().describe('null: the candidate has not run on the row.'),
    reviews: z.array(reviewSchema).describe("What people say of the candidate's answer, oldest first."),
  })
  .meta({ id: 'JobRow' });

export const rowsPageSchema = pageSchema(rowSchema).extend({
  total: z.int().nullable().describe('All rows that pass the filter, with the first page; null behind a cursor.'),
  baseline_candidate_id: z.string().nullable(),
  candidate_id: z.string().nullable().describe('null: no candidate has a prompt yet.'),
});

const count = z.int();

export const rowsSummarySchema = z
  .object({
    total: z.int().describe('Rows that pass the filter.'),
    groups: z
      .object({
        failing: count,
        broken: count,
        flaky: count,
        failed: count,
        fixed: count,
        right: count,
        untried: count,
      } satisfies Record<RowGroup, typeof count>)
      .describe('Rows that pass all but `group`.'),
    seen: z.int().describe('Rows that pass all but `seen`, and that the search selected on.'),
    held_out: z.int().describe('The others of them.'),
    reviews: z
      .object({ none: count, any: count, right: count, wrong: count, bad_expected: count })
      .describe('Rows that pass all but `review`; a row counts for each verdict that people give.'),
    table: z
      .object({
        expected: z.array(z.string()).describe('Expected values, the most frequent first, at most 30.'),
        answered: z.array(z.string()).describe('The same values, then other answers given at least twice; at most 30.'),
        cells: z
          .array(z.object({ expected: z.string(), answered: z.string().nullable(), count }))
          .describe('Rows that pass all but `expected` and `answered`. answered null: an answer of no column.'),
      })
      .meta({ id: 'LabelTable' })
      .nullable()
      .describe('Expected values against answers; null: the expected values are no labels.'),
    clusters: z
      .array(z.object({ feedback: z.string(), count }).meta({ id: 'FeedbackCluster' }))
      .describe(
        'Without a table: wrong answers by the first line of their feedback, quoted texts and numbers left out. The rows pass all but `feedback`.',
      ),
  })
  .meta({ id: 'RowsSummary' });
