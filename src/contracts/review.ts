/** What a person says of an answer. */
import { z } from 'zod';
import { timestamp } from './common.js';

export const verdicts = ['right', 'wrong', 'bad_expected'] as const;

export const reviewVerdictSchema = z.enum(verdicts).meta({
  id: 'ReviewVerdict',
  description: "Of the answer: right or wrong. bad_expected: the row's expected value is wrong.",
});
export type ReviewVerdict = z.output<typeof reviewVerdictSchema>;

export const reviewSchema = z
  .object({
    review_id: z.string(),
    job_id: z.string().describe('The job, or the deployment that answered.'),
    subject_id: z.string().describe('The trace of a row, or the id of an answer.'),
    row: z.int().nullable().describe('null: an answer of a deployment.'),
    candidate_id: z.string().nullable(),
    verdict: reviewVerdictSchema.nullable(),
    note: z.string().nullable(),
    corrected: z.string().nullable().describe('What the answer should have been.'),
    by: z.string(),
    own: z.boolean().describe('Whether `by` is the API key that asks.'),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'Review' });
