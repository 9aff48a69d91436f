import type { FastifySchema } from 'fastify';
import { z } from 'zod';

/** The path of a proxy call; what its parts may be is checked where they are used, so that errors are OpenAI's. */
export const proxyParams = z.object({ session_id: z.string(), correlation_id: z.string().optional() });

const completionRequest = z
  .looseObject({
    messages: z.array(z.looseObject({ role: z.string() })),
    model: z.string().optional().describe("Default: the policy's."),
    stream: z.boolean().optional(),
  })
  .meta({
    id: 'ChatCompletionRequest',
    description: "OpenAI's chat completion request. Every field goes to the provider as it is.",
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

const failure = (description: string) => ({ description, content: { 'application/json': { schema: openAiError } } });

/** How an inference path is documented: `conflict` says what a 409 is, `more` which failures it has beside those of all. */
export function inferenceSchema(
  doc: { tags: string[]; summary: string; description: string },
  conflict: string,
  more: Record<number, string> = {},
): FastifySchema {
  return {
    ...doc,
    body: completionRequest,
    response: {
      200: {
        description: 'A chat completion, or its chunks as server-sent events.',
        content: {
          'application/json': { schema: z.looseObject({ choices: z.array(z.unknown()) }) },
          'text/event-stream': { schema: z.string() },
        },
      },
      ...Object.fromEntries(
        Object.entries({ ...failures, 409: conflict, ...more }).map(([status, cause]) => [status, failure(cause)]),
      ),
    },
  };
}

const failures = {
  400: 'A field that is not allowed, or no messages.',
  401: 'No key, or one that is not known.',
  404: 'Unknown, or of another organization.',
  413: 'The body is larger than 10 MiB.',
  415: 'The body is not application/json.',
  422: 'JSON that cannot be kept: NUL, half a surrogate pair, a number beyond a double.',
  429: "The provider's; retry-after is passed on.",
  502: 'The provider cannot be reached, broke off, or refused the key of this deployment.',
  503: 'Draining, overloaded, or the database cannot be reached.',
  504: 'The provider gave no full answer in time.',
};

const schema = inferenceSchema(
  {
    tags: ['inference'],
    summary: 'Proxy inference',
    description:
      'A chat completion as OpenAI has it, streamed or not. Its system message is replaced by that of the candidate which serves ' +
      'the call, and what stands between <lever name="…"> and </lever> by the component of that name; the response headers x-gepa-rollout-idx, x-gepa-rollout-id, x-gepa-candidate-id and x-gepa-correlation-id ' +
      'say which, x-ratchet-cost-usd what it cost where that is known.',
  },
  'The session was cancelled or has failed; x-should-retry is false.',
  {
    401: 'No key, one that is not known, or an inference key whose job has ended.',
    402: 'What is left of max_cost_usd does not suffice for this call; x-should-retry is false.',
  },
);

const headers = z.looseObject({
  'x-ratchet-seed': z
    .string()
    .optional()
    .describe('The instance that a call of live traffic is of, as a whole number (a session with rollouts: caller).'),
});

/** How an inference path of a job is documented. */
export function proxySchema(withCorrelation: boolean): FastifySchema {
  return { ...schema, headers, params: withCorrelation ? proxyParams : proxyParams.omit({ correlation_id: true }) };
}

/** Takes bodies as they are: the schema documents them, the provider judges them. */
export const unjudged = () => (value: unknown) => ({ value });
