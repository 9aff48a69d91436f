import { z } from 'zod';

export const agreementSchema = z
  .object({
    basis: z
      .enum(['reviews', 'expected'])
      .describe(
        "Whose labels: people's reviews where there are any, else whether the output equals the expected value.",
      ),
    outputs: z.int().describe('Outputs with a score of the judge and a label.'),
    threshold: z
      .number()
      .describe("The judge's score from which on an output is good, as it agrees most with the labels."),
    accuracy: z
      .number()
      .nullable()
      .describe(
        'Share on which both say good, or both say bad: on each fifth of the rows with the threshold of the others.',
      ),
    kappa: z.number().nullable().describe("Cohen's kappa; null if judge and labels all say the same."),
    p_value: z.number().describe("Probability of at least this agreement by chance (Fisher's exact test)."),
    better_than_chance: z.boolean().describe('Whether p_value is below 0.05.'),
  })
  .meta({
    id: 'JudgeAgreement',
    description: "Agreement of a rubric's judge with the labels of the rows. Absent: no judge, labels or outputs.",
  })
  .optional();
