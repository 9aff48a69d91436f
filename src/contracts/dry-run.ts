import { z } from 'zod';
import { estimateSchema, warningsSchema } from './common.js';
import { plannedComparisonSchema } from './search.js';
import { splitSchema } from '../datasets/contract/rows.js';

/** The answer of a create with `dry_run`. */
export const dryRunSchema = z
  .object({
    estimate: estimateSchema,
    split: splitSchema.optional().describe('Of a session on a data set.'),
    planned_comparison: plannedComparisonSchema.optional().describe('Of a search, unless on live traffic.'),
    warnings: warningsSchema,
  })
  .meta({ id: 'DryRun', description: 'What the create would answer, without a job.' });
