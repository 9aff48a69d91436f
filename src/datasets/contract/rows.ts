/** Jobs on the rows of a data set, in place of a container. */
import { z } from 'zod';
import { firstOf, needs, refuses, together } from '../../contracts/field-rules.js';
import { oneRequired } from '../../contracts/rules.js';

/** Rows of a create; larger sets are uploaded. */
const maxInlineRows = 1_000;

const column = z.string().regex(/\S/, 'must not be blank').max(200);
const row = z
  .record(column, z.unknown())
  .refine((values) => Object.keys(values).length > 0, 'must have a value for at least one column')
  .meta({ minProperties: 1 });

export const rowsSchema = z
  .strictObject({
    dataset_id: z
      .string()
      .max(100)
      .optional()
      .describe('An uploaded data set. A row is an instance; its number is its seed.'),
    rows: z
      .array(row)
      .min(1, 'must hold at least one row')
      .max(maxInlineRows, `must hold at most ${maxInlineRows} rows; upload larger sets with POST /api/v1/datasets`)
      .optional()
      .describe('The rows themselves, stored as a data set.'),
    input: column.default('input').describe('The column that {{input}} stands for.'),
    expected: column.default('expected').describe('The column with the right answers.'),
  })
  .superRefine((dataset, ctx) => {
    if ((dataset.dataset_id === undefined) === (dataset.rows === undefined)) {
      ctx.addIssue({ code: 'custom', message: 'must have exactly one of dataset_id and rows' });
    }
  })
  .meta({ id: 'JobRows', ...oneRequired('dataset_id', 'rows') });
export type RowsRequest = z.infer<typeof rowsSchema>;

/** The fields of a request that a job on a data set does not have. */
export const containerOnly = ['env_name', 'env_config', 'container_api_key'] as const;

/** A request has a container or rows, each with the fields that it needs. */
export const sourceRule = (fields: { container: readonly string[]; rows: readonly string[] }) =>
  firstOf(
    {
      when: refuses(['dataset']),
      then: together(
        needs(fields.container),
        refuses(['scorer'], 'requires dataset; a container scores its own rollouts'),
      ),
    },
    {
      when: needs(['dataset']),
      then: together(
        needs(fields.rows),
        refuses(['container_url', ...containerOnly], 'is not used with dataset: remove it'),
      ),
    },
  );

export const rowsViewSchema = z
  .object({
    dataset_id: z.string(),
    name: z.string().nullable().describe('The name of the data set; null: it has none.'),
    num_rows: z.int(),
    scorer: z.string().describe('The type of the scorer.'),
  })
  .optional()
  .describe('Present in jobs on a data set.');

export const splitSchema = z
  .object({ train: z.array(z.int()), evaluation: z.array(z.int()), heldout: z.array(z.int()) })
  .describe('Jobs on a data set: the rows of each part.');
