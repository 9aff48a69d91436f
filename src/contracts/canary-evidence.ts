import { z } from 'zod';

/** What a step of a rollout has shown. */
export const canaryEvidence = z
  .object({
    requests: z.object({ live: z.int(), canary: z.int() }).describe('In the step.'),
    guards: z.array(
      z.object({
        guard: z.string(),
        live: z.number(),
        canary: z.number(),
        bound: z.number(),
        is_beyond: z.boolean().describe('By more than chance explains.'),
      }),
    ),
    metric: z
      .object({
        live: z.object({ count: z.int(), mean: z.number() }),
        canary: z.object({ count: z.int(), mean: z.number() }),
        pairs: z.int(),
        verdict: z.enum(['better', 'worse']).nullable(),
      })
      .describe('Of the metric that decides.'),
  })
  .meta({ id: 'CanaryEvidence' });
export type CanaryEvidence = z.infer<typeof canaryEvidence>;
