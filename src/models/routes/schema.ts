import type { FastifySchema } from 'fastify';
import { z } from 'zod';
import { correlationPattern } from '../../contracts/common.js';

/** Names the episode that a call of a deployment is a part of. */
export const correlationHeader = 'x-ratchet-correlation-id';

/** Names for whom a call of a deployment is made, for limits of each. */
export const tagHeader = 'x-ratchet-tag';
export const tagPattern = /^[!-~]{1,64}$/;

/** Path of a proxy call; its parts are validated later, so that errors have OpenAI's shape. */
export const proxyParams = z.object({
  session_id: z.string(),
  correlation_id: z.string().regex(correlationPattern).optional(),
});

const completionRequest = z
  .looseObject({
    messages: z.array(z.looseObject({ role: z.string() })).min(1),
    model: z.string().nullish().describe("Default: the policy's."),
    stream: z.boolean().nullish(),
  })
  .meta({
    id: 'ChatCompletionRequest',
    description: "OpenAI's chat completion request. All fields are passed to the provider.",
  });

const openAiError = z
  .object({
    error: z.looseObject({
      message: z.string(),
      type: z.string(),
      code: z.string().nullable(),
      param: z.string().nullable(),
    }),
  })
  .meta({ id: 'OpenAiError' });

export const openAiFailure = (description: string) => ({
  description,
  content: { 'application/json': { schema: openAiError } },
});

/** A form of inference in the document. */
export interface InferenceShape {
  body: z.ZodObject;
  answer: z.ZodObject;
  /** An event of a stream, and what a stream is. */
  event: z.ZodObject;
  described: string;
  failure: (description: string) => object;
}

const chunk = z
  .string()
  .describe('A chunk of the completion as one line of JSON; the last is [DONE]. A failure is {"error": …}.');

export const completionShape: InferenceShape = {
  body: completionRequest,
  answer: z.looseObject({ choices: z.array(z.unknown()) }),
  event: z.looseObject({ data: chunk }),
  described: 'A chat completion, or its chunks as server-sent events.',
  failure: openAiFailure,
};

/** Documentation of an inference path: `conflict` describes the 409, `more` adds failures. */
export function inferenceSchema(
  doc: { summary: string; description: string },
  conflict: string,
  more: Record<number, string> = {},
  { body, answer, event, described, failure }: InferenceShape = completionShape,
): FastifySchema {
  return {
    ...doc,
    tags: ['Inference'],
    body,
    response: {
      200: {
        description: described,
        content: { 'application/json': { schema: answer }, 'text/event-stream': { schema: event } },
      },
      ...Object.fromEntries(
        Object.entries({ ...failures, 409: conflict, ...more }).map(([status, cause]) => [status, failure(cause)]),
      ),
    },
  };
}

const failures = {
  400: 'A field that is not allowed or has another type, or no messages.',
  401: 'Missing or unknown key.',
  403: 'The key lacks the scope infer.',
  404: 'Unknown, or owned by another organization.',
  408: 'The body did not arrive in time.',
  413: 'The body is larger than 10 MiB, or has too many values.',
  415: 'The body is not application/json.',
  422: 'JSON that cannot be stored: NUL, a lone surrogate, a number beyond a double.',
  429: "The provider's, a limit of the key, its organization or the deployment, or too many failed authentications; see retry-after.",
  502: "The provider is unreachable, broke off, or refused the service's key.",
  503: 'Draining, overloaded, or the database is unreachable.',
  504: 'The provider did not answer in time.',
};

const proxied =
  "The serving candidate's text replaces the system message, and its " +
  'components replace the text between <lever name="…"> and </lever>. The headers x-gepa-rollout-idx, ' +
  'x-gepa-rollout-id, x-gepa-candidate-id and x-gepa-correlation-id identify the call; x-ratchet-cost-usd is its ' +
  'cost, if known; x-ratchet-cache is hit for an answer from the answer cache.';

const ended = 'The session is cancelled or failed; x-should-retry is false.';
const refusals = {
  401: 'Missing or unknown key, or an inference key of an ended job.',
  402: 'The rest of max_cost_usd does not cover this call; x-should-retry is false.',
};

const headers = z.looseObject({
  'x-ratchet-seed': z
    .string()
    .regex(/^[0-9]{1,16}$/)
    .optional()
    .describe('Seed of the task instance of a live call, a whole number (sessions with rollouts: caller).'),
  'x-ratchet-retry': z
    .enum(['true', 'false'])
    .optional()
    .describe('true: returns the recorded answer to a request of the same rollout whose answer was lost.'),
});

/** Documentation of a job's inference path; `what` is answered there. */
export function proxySchema(
  { operationId, summary, what }: { operationId: string; summary: string; what: string },
  withCorrelation: boolean,
  shape: InferenceShape,
): FastifySchema {
  return {
    ...inferenceSchema({ summary, description: `${what} ${proxied}` }, ended, refusals, shape),
    operationId,
    headers,
    params: withCorrelation ? proxyParams : proxyParams.omit({ correlation_id: true }),
  };
}

/** Headers of a call of a deployment. */
export const deploymentHeaders = z.looseObject({
  [correlationHeader]: z
    .string()
    .regex(correlationPattern)
    .optional()
    .describe('An episode of several calls, for feedback on all of them.'),
  [tagHeader]: z
    .string()
    .regex(tagPattern)
    .optional()
    .describe('For whom the call is made, such as a tenant: the limits `per_tag` hold for each value.'),
});

/** Skips validation: the schema is documentation, the provider validates. */
export const unjudged = () => (value: unknown) => ({ value });
