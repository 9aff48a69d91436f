import { z } from 'zod';
import { estimateSchema, warningsSchema } from './common.js';
import { splitSchema } from '../datasets/contract/rows.js';

/** The answer of a create with `dry_run`. */
export const dryRunSchema = z
  .object({
    estimate: estimateSchema,
    split: splitSchema.optional().describe('Of a session on a data set.'),
    warnings: warningsSchema,
  })
  .meta({ id: 'DryRun', description: 'What the create would answer, without a job.' });
