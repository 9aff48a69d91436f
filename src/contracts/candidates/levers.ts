import { z } from 'zod';
import { messageSchema, pageQuery, timestamp } from '../common.js';

/** Lever id to version. */
export const leverVersionsSchema = z.record(z.string(), z.int());

/** What a session says of its levers. */
export const leverFields = {
  lever_summary: z.object({
    prompt_lever_id: z.string().describe('The prompt as a whole; each candidate is a version of it, 0 the baseline.'),
    candidate_lever_versions: leverVersionsSchema.describe(
      'Candidate to its version of the prompt as a whole: the baseline and every candidate that was made from it.',
    ),
    best_candidate_id: z.string().nullable(),
    selected_candidate_id: z
      .string()
      .nullable()
      .describe('Whose prompt inference gets: the best, and the baseline until there is one.'),
    baseline_candidate_id: z.string().nullable(),
    lever_count: z.int().describe('Of several components each has one beside the whole prompt.'),
    mutation_count: z.int().describe('Candidates beside the baseline.'),
    latest_version: z
      .int()
      .nullable()
      .describe('The highest of candidate_lever_versions; a proposal that came to nothing leaves its number out.'),
  }),
  lever_versions: leverVersionsSchema.describe(
    'The levers at the versions of the selected candidate; of a component 0 is the text of the baseline, each new text one more.',
  ),
  best_lever_version: z.int().nullable().describe('Of the prompt as a whole; null until a candidate is the best.'),
};

export const leversQuerySchema = z.strictObject(pageQuery);

const component = z.string().nullable().describe('The part of the prompt that it is; null: the prompt as a whole.');

/** A session's levers; there are 22 at most. */
export const leverListSchema = z.object({
  data: z.array(
    z
      .object({
        lever_id: z.string(),
        component,
        latest_version: z.int().nullable().describe('null until the session has a candidate.'),
        best_version: z.int().nullable().describe("The best candidate's; null until there is one."),
      })
      .meta({ id: 'Lever' }),
  ),
});

/** A version of a lever in a list. */
export const leverVersionItemSchema = z
  .object({
    version: z.int(),
    candidate_ids: z.array(z.string()).describe('Those that have it, the first to have had it first.'),
    created_at: timestamp,
  })
  .meta({ id: 'LeverVersion' });

const whole = { lever_id: z.string(), ...leverVersionItemSchema.shape };

/** A version of a lever with what it says. */
export const leverVersionSchema = z
  .union([
    z.object({
      ...whole,
      component: z.null(),
      messages: z.array(messageSchema).nullable().describe('null until the baseline is known.'),
    }),
    z.object({ ...whole, component: z.literal('_demos'), messages: z.array(messageSchema) }),
    z.object({ ...whole, component: z.string(), text: z.string() }),
  ])
  .meta({
    id: 'LeverText',
    description: 'The prompt as a whole and its demonstrations have messages, a component has a text.',
  });
