/** Data sets: rows of a file, which jobs read by number. */
import { z } from 'zod';
import { lineSchema } from '../../contracts/rules.js';
import { timestamp } from '../../contracts/common.js';
import { mostLabels } from '../../core/prompts/drafted.js';

export const uploadLimits = {
  bytes: 100 * 1024 * 1024,
  rows: 100_000,
  /** Characters of one row. */
  rowChars: 1_000_000,
  columns: 1_000,
  columnChars: 200,
  /** Distinct values of a column that are counted. */
  distinct: 1_000,
  /** Characters of the labels of all columns. */
  labelChars: 20_000,
} as const;

const columnSchema = z
  .object({
    name: z.string(),
    num_values: z.int().describe('Rows with a value: neither absent, null nor an empty text.'),
    num_distinct: z.int().nullable().describe(`null: more than ${uploadLimits.distinct}, or long values.`),
    mean_chars: z.int().describe('Characters of a value on average; of JSON where it is no text.'),
    labels: z
      .array(z.object({ label: z.string(), count: z.int().describe('Rows.') }))
      .describe(
        `The values with their rows, the commonest first, where they are at most ${mostLabels} short texts that repeat; else empty.`,
      ),
  })
  .meta({ id: 'DatasetColumn' });

export const datasetSchema = z
  .object({
    dataset_id: z.string().describe('A hash of the rows: the same rows have the same id.'),
    name: z.string().nullable().describe('Yours; no part of the id. null: none.'),
    num_rows: z.int(),
    columns: z.array(columnSchema).describe('In the order of their first rows.'),
    bytes: z.int().describe('Size of the rows as JSON.'),
    jobs: z
      .int()
      .describe(
        'Its runs as lists show them, so without archived ones, as of tries, and parts; 1000: so many or more.',
      ),
    created_at: timestamp,
  })
  .meta({ id: 'Dataset', description: 'Immutable rows of an uploaded file.' });
const datasetName = lineSchema(200);

export const uploadQuerySchema = z.strictObject({
  name: datasetName.optional().describe('Names the data set, unless the same rows have a name.'),
});

export const datasetChangeSchema = z
  .strictObject({ name: datasetName.nullable().describe('Replaces the name; null removes it.') })
  .meta({ id: 'DatasetChange' });
export type DatasetColumn = z.infer<typeof columnSchema>;

export const datasetRowSchema = z
  .object({
    row: z.int().describe('Number of the row, from 0.'),
    data: z.record(z.string(), z.unknown()).describe('Its values by column.'),
  })
  .meta({ id: 'DatasetRow' });
