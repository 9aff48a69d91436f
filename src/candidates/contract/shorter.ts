import { z } from 'zod';

const removedPartSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('sentence'), component: z.string(), text: z.string() }),
  z.object({
    kind: z.literal('demonstration'),
    seed: z.int().nullable().describe('The row that it shows.'),
    text: z.string().describe('Its question.'),
  }),
]);

export const shorterPromptSchema = z
  .object({
    candidate_id: z.string(),
    removed: z.array(removedPartSchema).describe('What it lacks of the best prompt.'),
    tested_rows: z.int().describe('Rows that the best prompt gets right, on which it lost nothing.'),
    reward: z.number().nullable().describe('On the evaluation rows; null: the budget did not cover them.'),
  })
  .meta({
    id: 'ShorterPrompt',
    description: 'The best prompt without parts that could not be shown to help.',
  });
