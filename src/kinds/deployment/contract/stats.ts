import { z } from 'zod';
import { intervalSchema } from '../../../contracts/search.js';
import { timestamp } from '../../../contracts/common.js';

const latency = z.number().nullable();

export const deploymentStatsSchema = z
  .object({
    deployment_id: z.string(),
    since: timestamp.nullable().describe('When it went live; null if it has not.'),
    requests: z.int().describe('All requests, whatever their outcome.'),
    errors: z.int().describe('Requests answered with an error.'),
    aborted: z.int().describe('Requests whose caller disconnected before the end.'),
    latency_ms: z
      .object({
        p50: latency,
        p90: latency,
        p95: latency,
        p99: latency,
        max: latency,
        relative_error: z.number().describe('Maximum relative error of each latency.'),
      })
      .describe('Time to the end of the answer, over answered requests; null if there were none.'),
    usage: z
      .object({
        prompt_tokens: z
          .int()
          .nullable()
          .describe('Total of the known tokens; null if those of no answered request are known.'),
        completion_tokens: z.int().nullable(),
        total_tokens: z.int().nullable(),
        total_cost_usd: z
          .number()
          .nullable()
          .describe('Total of the known costs; null if the cost of no answered request is known.'),
        requests_without_cost: z.int().describe('Requests with an unknown cost.'),
      })
      .describe('Usage of all requests, including what providers reported for failed ones.'),
    metrics: z
      .record(
        z.string(),
        z.object({
          count: z.int().describe('Answers and episodes with a value.'),
          mean: z.number(),
          interval: intervalSchema.describe('95 % interval of the mean, for further answers.'),
        }),
      )
      .describe('What feedback reports; `reward` is one of them.'),
  })
  .meta({ id: 'DeploymentStats', description: "Statistics of a deployment's requests since it went live." });
