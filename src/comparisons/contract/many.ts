/** Several candidates beside a baseline, and the rows behind the counts. */
import { z } from 'zod';
import { pageQuery, pageSchema } from '../../contracts/common.js';
import { intervalSchema, outcome, rowsNeededSchema } from '../../contracts/search.js';
import { wholeParameter } from '../../contracts/validation.js';
import type { RowFilterName, RowOutcome } from '../../core/comparisons/rows.js';
import { basisSchema, differenceSchema, sideIdPattern, sideIdSchema, sideSchema } from './comparison.js';

const mostColumns = 8;

const manyQuery = {
  ids: z
    .string()
    .transform((text) => text.split(','))
    .pipe(
      z
        .array(sideIdSchema)
        .min(2, 'must name at least two ids, with commas between them')
        .max(mostColumns, `must name at most ${mostColumns} ids`),
    )
    .meta({ type: 'string', pattern: `^${sideIdPattern}(,${sideIdPattern}){1,${mostColumns - 1}}$` })
    .describe(`The columns: 2 to ${mostColumns} ids with commas between them, each as \`a\` of the comparison of two.`),
  baseline: sideIdSchema.optional().describe('The one of `ids` that the others are compared with. Default: the first.'),
};

export const manyQuerySchema = z.strictObject(manyQuery);

const pair = {
  seeds_in_common: z.int().describe('Seeds with a succeeded rollout of both.'),
  seeds_compared: z.int(),
  basis: basisSchema,
  difference: differenceSchema,
  p_value: z.number().describe('Two-sided, of this comparison alone.'),
  p_corrected: z
    .number()
    .describe('By the method of Holm: of a column over the comparisons with the baseline, in `pairs` over all pairs.'),
  verdict: outcome.verdict
    .unwrap()
    .describe('By p_corrected, at most 0.04: with two columns, that of their comparison.'),
  rows_needed: rowsNeededSchema,
  won: z.int().describe('Compared seeds on which it has the higher reward.'),
  lost: z.int(),
  tied: z.int(),
};

const pairSchema = z
  .object({ a: z.string(), b: z.string(), ...pair })
  .meta({ id: 'ComparedPair', description: 'b minus a, on the seeds that count for these two.' });

const columnSchema = z
  .object({
    ...sideSchema.shape,
    name: z.string().nullable().describe('Of the job, or of the deployment.'),
    mean_reward: z
      .number()
      .nullable()
      .describe('Over the seeds that are compared with the baseline; of the baseline, with any. null: none.'),
    mean_reward_interval: intervalSchema.nullable().describe('95 %, for unseen seeds of the same kind.'),
    seeds_selected: z
      .int()
      .describe('Of the compared seeds, those on which its own search chose it among candidates, which favors it.'),
    prompt_tokens: z
      .int()
      .nullable()
      .describe('The prompt with its demonstrations, at four bytes a token; null: not known, or a graph.'),
    against_baseline: z
      .object({
        ...pair,
        baseline_reward: z.number().describe('The mean of the baseline on the same seeds.'),
        search_spread: z
          .number()
          .nullable()
          .describe(
            'How much the search itself varies: the larger spread of the groups of this column and of the baseline. null: not known.',
          ),
      })
      .meta({ id: 'AgainstBaseline' })
      .nullable()
      .describe('null: the baseline itself, or no seed in common with it.'),
  })
  .meta({ id: 'ComparedColumn' });

const groupSchema = z
  .object({
    ids: z.array(z.string()).describe('Searches of one request with different `rng_seed`; labels do not count.'),
    rng_seeds: z.int().describe('How many different ones.'),
    difference: z
      .number()
      .nullable()
      .describe('Their mean difference to the baseline; null: the baseline is one of them.'),
    spread: z
      .number()
      .nullable()
      .describe('Standard deviation of their differences to the baseline; null: fewer than three rng_seeds.'),
  })
  .meta({ id: 'SearchGroup' });

export const manySchema = z
  .object({
    baseline: z.string().describe('As in `ids`.'),
    columns: z.array(columnSchema).describe('In the order of `ids`.'),
    pairs: z.array(pairSchema).describe('Every pair with a seed in common, in the order of `ids`.'),
    groups: z.array(groupSchema),
  })
  .meta({ id: 'ManyComparison' });

const filters = ['won', 'lost', 'different', 'failed'] as const satisfies readonly RowFilterName[];
const outcomes = ['won', 'lost', 'tied', 'failed', 'left_out', 'baseline'] as const satisfies readonly RowOutcome[];

export const comparedRowsQuerySchema = z.strictObject({
  ...manyQuery,
  outcome: z
    .enum(filters)
    .optional()
    .describe('Rows on which `column` won, lost, either, or failed. Default: all rows.'),
  column: sideIdSchema.optional().describe('One of `ids`. Default: any column.'),
  q: z.string().min(1).max(500).optional().describe('A part of input, expected value or an answer, in any case.'),
  limit: wholeParameter(1, 100).default(50),
  cursor: pageQuery.cursor,
});

const cut = 'cut at 2,000 characters';

const cellSchema = z
  .object({
    outcome: z
      .enum(outcomes)
      .describe(
        'Beside the baseline. left_out: it ran, and the row does not count: a search selected on it, or the baseline has no reward. baseline: the baseline itself.',
      ),
    reward: z.number().nullable().describe('Mean over the succeeded rollouts; null: all failed.'),
    answer: z.string().nullable().describe(`The last answer, ${cut}; null: none, or its texts have expired.`),
    answer_truncated: z.boolean(),
    feedback: z.string().nullable().describe(`Of the scorer, ${cut}.`),
    error: z.string().nullable().describe('Why it failed.'),
    job_id: z.string(),
    trace_id: z.string(),
  })
  .meta({ id: 'ComparedCell' });

const count = z.int();

export const comparedRowsSchema = pageSchema(
  z
    .object({
      row: z.int().describe('The row of the data set, or the seed.'),
      task_id: z.string().nullable().describe('The task of a graph job.'),
      input: z
        .string()
        .nullable()
        .describe(`The input column, or the row as JSON, ${cut}; null: a container has the rows.`),
      expected: z.string().nullable().describe(`The expected value, ${cut}.`),
      cells: z.array(cellSchema.nullable()).describe('In the order of `ids`; null: it has not run on the row.'),
    })
    .meta({ id: 'ComparedRow' }),
).extend({
  total: z.int().nullable().describe('Rows that pass the filter, with the first page; null behind a cursor.'),
  counts: z
    .object({ all: count, won: count, lost: count, different: count, failed: count })
    .nullable()
    .describe(
      'With the first page: rows by outcome of `column`, without `outcome` and `q`: those of the comparison. all: rows that count for any column, or on which one failed.',
    ),
});
