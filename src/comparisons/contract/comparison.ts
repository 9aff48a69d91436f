/** The comparison of two candidates on common seeds. */
import { z } from 'zod';
import { kindNames } from '../../core/jobs/kinds.js';
import { intervalSchema, outcome, rowsNeededSchema } from '../../contracts/search.js';

export const sideIdPattern = '[A-Za-z0-9_.-]{1,100}';
export const sideIdSchema = z
  .string()
  .regex(new RegExp(`^${sideIdPattern}$`), 'must be an id or the name of a deployment')
  .describe(
    'An evaluation, a session or a graph job (its best candidate), a candidate, or a deployment by id or name (the evaluation of its gate, else the candidate that it serves).',
  );

export const compareQuerySchema = z.strictObject({ a: sideIdSchema, b: sideIdSchema });

export const sideSchema = z.object({
  id: z.string().describe('As requested.'),
  kind: z.enum([...kindNames, 'candidate']),
  job_id: z.string().describe('The job whose rollouts are compared.'),
  candidate_id: z.string().nullable().describe("null: an evaluation of given messages, or of the container's own."),
  mean_reward: z.number().describe('Over the compared seeds, each of which counts once.'),
  mean_reward_interval: intervalSchema.describe('95 %, for unseen seeds of the same kind.'),
  seeds: z.int().describe('Seeds with a succeeded rollout, common or not.'),
  seeds_failed: z.int().describe('Seeds on which every rollout failed; they are not compared.'),
  cost_usd: z
    .number()
    .nullable()
    .describe('Dollars per rollout, without a judge. null: a call of unknown cost, or no recorded call.'),
  latency_ms: z
    .object({ mean: z.number(), p50: z.number() })
    .nullable()
    .describe("Of each compared seed's rollouts, in milliseconds; null: not measured."),
});

export const basisSchema = z
  .enum(['heldout', 'evaluation'])
  .describe(
    'heldout: no search selected on the compared seeds. evaluation: a search did, which favours its candidate.',
  );

export const differenceSchema = z
  .object({ mean: z.number(), low: z.number(), high: z.number() })
  .describe(
    'b minus a, paired by seed, with the 95 % interval; without a bound (one seed) -1 to 1, and ±Number.MAX_VALUE for rewards outside of 0 to 1.',
  );

export const comparisonSchema = z
  .object({
    a: sideSchema,
    b: sideSchema,
    unit: z.enum(['row', 'task', 'seed']).describe('What a seed stands for.'),
    seeds_in_common: z.int().describe('Seeds that both ran.'),
    seeds_compared: z.int(),
    compared_seeds: z.array(z.int()).describe('The seeds that all figures are over.'),
    basis: basisSchema,
    difference: differenceSchema,
    verdict: outcome.verdict.unwrap().describe('Of b: whether the interval is above 0, below 0, or around it.'),
    rows_needed: rowsNeededSchema,
    won: z.int().describe('Compared seeds on which b has the higher reward.'),
    lost: z.int(),
    tied: z.int(),
  })
  .meta({ id: 'Comparison' });
