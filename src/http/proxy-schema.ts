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

const schema: FastifySchema = {
  tags: ['inference'],
  summary: 'Proxy inference',
  description:
    'A chat completion as OpenAI has it, streamed or not. Its system message is replaced by that of the candidate which serves ' +
    'the call, and what stands between <lever name="…"> and </lever> by the component of that name; the response headers x-gepa-rollout-idx, x-gepa-rollout-id, x-gepa-candidate-id and x-gepa-correlation-id ' +
    'say which, x-ratchet-cost-usd what it cost where that is known.',
  body: completionRequest,
  response: {
    200: {
      description: "The provider's answer: a chat completion, or its chunks as server-sent events.",
      content: {
        'application/json': { schema: z.looseObject({ choices: z.array(z.unknown()) }) },
        'text/event-stream': { schema: z.string() },
      },
    },
    400: failure('A field that is not allowed, or no messages.'),
    401: failure('No key, one that is not known, or an inference key whose job has ended.'),
    402: failure('What is left of max_cost_usd does not suffice for this call; x-should-retry is false.'),
    404: failure('Unknown, or of another organization.'),
    409: failure('The session was cancelled or has failed; x-should-retry is false.'),
    413: failure('The body is larger than 10 MiB.'),
    415: failure('The body is not application/json.'),
    422: failure('JSON that cannot be kept: NUL, half a surrogate pair, a number beyond a double.'),
    429: failure("The provider's; retry-after is passed on."),
    502: failure('The provider cannot be reached, broke off, or refused the key of this deployment.'),
    503: failure('Draining, overloaded, or the database cannot be reached.'),
    504: failure('The provider gave no full answer in time.'),
  },
};

const headers = z.looseObject({
  'x-ratchet-seed': z
    .string()
    .optional()
    .describe('The instance that a call of live traffic is of, as a whole number (a session with rollouts: caller).'),
});

/** How an inference path is documented. */
export function proxySchema(withCorrelation: boolean): FastifySchema {
  return { ...schema, headers, params: withCorrelation ? proxyParams : proxyParams.omit({ correlation_id: true }) };
}

/** Takes bodies as they are: the schema documents them, the provider judges them. */
export const unjudged = () => (value: unknown) => ({ value });
