/** What people suggest to a running session: a prompt of their own, a hint for the proposer. */
import { z } from 'zod';
import { promptMessagesSchema } from '../../../contracts/prompt.js';

export const suggestedCandidateSchema = z.strictObject(
  {
    messages: promptMessagesSchema.describe(
      "The prompt, with the components and placeholders of the baseline. Components that are left out are the baseline's.",
    ),
  },
  'must be a JSON object with messages',
);

export const hintSchema = z.strictObject(
  {
    hint: z
      .string()
      .regex(/\S/, 'must not be empty; null removes the hint')
      .max(4_000)
      .trim()
      .nullable()
      .describe("Stands in the proposer's prompts from now on, in place of an earlier one; null removes it."),
  },
  'must be a JSON object with hint',
);
