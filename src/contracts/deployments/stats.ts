import { z } from 'zod';
import { timestamp } from '../common.js';

const latency = z.number().nullable();

/** What a deployment's requests came to. */
export const deploymentStatsSchema = z
  .object({
    deployment_id: z.string(),
    since: timestamp.nullable().describe('When it went live; null: it has not.'),
    requests: z.int().describe('All, however they ended.'),
    errors: z.int().describe('Requests that were answered with an error.'),
    aborted: z.int().describe('Requests whose caller went away before the end.'),
    latency_ms: z
      .object({
        p50: latency,
        p90: latency,
        p95: latency,
        p99: latency,
        max: latency,
        relative_error: z.number().describe('Each is off by at most this part of it.'),
      })
      .describe('Until the end of the answer, of the requests that were answered; null: none was.'),
    usage: z
      .object({
        prompt_tokens: z.int(),
        completion_tokens: z.int(),
        total_tokens: z.int(),
        total_cost_usd: z.number().nullable().describe('Of the requests whose cost is known; null: of none it is.'),
        requests_without_cost: z.int().describe('Requests whose cost is not known.'),
      })
      .describe('Of all requests, with what providers told of those that failed.'),
  })
  .meta({ id: 'DeploymentStats', description: "What a deployment's requests came to since it went live." });
