import { z } from 'zod';

export const agreementSchema = z
  .object({
    outputs: z.int().describe('Outputs with a score of the judge and a label.'),
    accuracy: z.number().nullable().describe('Share on which both say good (at least 0.5), or both say bad.'),
    kappa: z.number().nullable().describe("Cohen's kappa; null if judge and labels all say the same."),
    p_value: z.number().describe("Probability of at least this agreement by chance (Fisher's exact test)."),
    better_than_chance: z.boolean().describe('Whether p_value is below 0.05.'),
  })
  .meta({
    id: 'JudgeAgreement',
    description: "Agreement of a rubric's judge with the labels of the rows. Absent: no judge, labels or outputs.",
  })
  .optional();
