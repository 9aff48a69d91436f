import { z } from 'zod';
import { timestamp } from '../../../contracts/common.js';
import { intervalSchema } from '../../../contracts/search.js';
import { judgedView } from './judge.js';

const periods = ['hour', 'minute'] as const;

const latency = z.number().nullable();

const counts = {
  requests: z.int().describe('All requests, whatever their outcome.'),
  errors: z.int().describe('Requests answered with an error.'),
  errors_by_code: z.record(z.string(), z.int()).describe('The same by code; codes after the fiftieth are `other`.'),
  models: z
    .record(z.string(), z.object({ tries: z.int(), failed: z.int().describe('Tries without an answer.') }))
    .describe('Tries by `provider/model`: with fallbacks a request may have several. None of a graph.'),
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
        interval: intervalSchema.describe(
          '95 % interval of the mean for further answers, if none of their values is outside of 0 to 1 or of those reported.',
        ),
      }),
    )
    .describe('What feedback reports; `reward` is one of them, and `judge` has the scores of the judge.'),
};

export const deploymentStatsSchema = z
  .object({
    deployment_id: z.string(),
    since: timestamp.nullable().describe('When it went live; null if it has not.'),
    ...counts,
    judge: judgedView.nullable().describe('What the judge of its name has done, with all versions. null: it has none.'),
  })
  .meta({ id: 'DeploymentStats', description: "Statistics of a deployment's requests since it went live." });

export const historyQuerySchema = z.strictObject({
  per: z.enum(periods).default('hour').describe('Hours are kept for a year, minutes for a day.'),
  from: z.iso.datetime({ offset: true }).optional().describe('Default: 24 hours, or 60 minutes, before `to`.'),
  to: z.iso.datetime({ offset: true }).optional().describe('Default: now. Periods that begin before it are shown.'),
});

export const historySchema = z
  .object({
    per: z.enum(periods),
    from: timestamp.describe('Where the first period begins.'),
    to: timestamp,
    next_from: timestamp
      .nullable()
      .describe('`from` of a request for the periods that this answer leaves out; null: none.'),
    data: z
      .array(
        z.object({
          start: timestamp.describe('Where the period begins.'),
          deployment_id: z.string(),
          ...counts,
        }),
      )
      .describe(
        'Periods with requests or feedback, in the order of time; feedback is in the period in which its answer was asked for.',
      ),
  })
  .meta({ id: 'DeploymentHistory' });

export const failuresSchema = z
  .object({
    data: z.array(
      z.object({
        answer_id: z.string(),
        at: timestamp,
        status: z.int().describe("The provider's status; 502 where a stream or the connection broke."),
        code: z.string(),
        message: z.string().describe('What the caller was told, at most 500 characters.'),
        latency_ms: z.number(),
      }),
    ),
  })
  .meta({ id: 'DeploymentFailures' });
