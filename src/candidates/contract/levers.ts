import { z } from 'zod';
import { messageSchema, pageQuery, timestamp } from '../../contracts/common.js';

/** Maps lever ids to versions. */
export const leverVersionsSchema = z.record(z.string(), z.int());

export const leverFields = {
  lever_summary: z.object({
    prompt_lever_id: z
      .string()
      .describe('The lever of the whole prompt. Each candidate is a version of it; 0 is the baseline.'),
    candidate_lever_versions: leverVersionsSchema.describe(
      'Maps candidates, including the baseline, to their versions of the whole prompt.',
    ),
    best_candidate_id: z.string().nullable(),
    selected_candidate_id: z
      .string()
      .nullable()
      .describe('The candidate that inference uses: the best, or the baseline until there is a best.'),
    baseline_candidate_id: z.string().nullable(),
    lever_count: z.int().describe('One for the whole prompt, plus one per component if there are several.'),
    mutation_count: z.int().describe('Candidates without the baseline.'),
    latest_version: z
      .int()
      .nullable()
      .describe('The highest of candidate_lever_versions. A failed proposal leaves a gap in the numbers.'),
  }),
  lever_versions: leverVersionsSchema.describe(
    "Lever versions of the selected candidate. A component's version is 0 for the baseline text and increases with each new text.",
  ),
  best_lever_version: z.int().nullable().describe('Version of the whole prompt; null until there is a best candidate.'),
};

export const leversQuerySchema = z.strictObject(pageQuery);

const component = z.string().nullable().describe('The component of the prompt; null: the whole prompt.');

/** A session's levers, at most 22. */
export const leverListSchema = z.object({
  data: z.array(
    z
      .object({
        lever_id: z.string(),
        component,
        latest_version: z.int().nullable().describe('null until the session has a candidate.'),
        best_version: z
          .int()
          .nullable()
          .describe("The best candidate's version; null until there is a best candidate."),
      })
      .meta({ id: 'Lever' }),
  ),
});

export const leverVersionItemSchema = z
  .object({
    version: z.int(),
    candidate_ids: z.array(z.string()).describe('Candidates with this version, oldest first.'),
    created_at: timestamp,
  })
  .meta({ id: 'LeverVersion' });

const whole = { lever_id: z.string(), ...leverVersionItemSchema.shape };

export const leverVersionSchema = z
  .union([
    z
      .object({
        ...whole,
        component: z.null(),
        messages: z.array(messageSchema).nullable().describe('null until the baseline is known.'),
      })
      .meta({ id: 'PromptText' }),
    z.object({ ...whole, component: z.literal('_demos'), messages: z.array(messageSchema) }).meta({ id: 'DemosText' }),
    z.object({ ...whole, component: z.string(), text: z.string() }).meta({ id: 'ComponentText' }),
  ])
  .meta({
    id: 'LeverText',
    description: 'The whole prompt and its demonstrations have messages; a component has a text.',
  });
