import { z } from 'zod';
import type { FormName } from '../../platform/http/error-forms.js';
import { messageRequest, responseRequest } from './forms/bodies.js';
import { completionShape, type InferenceShape } from './schema.js';

/** A form of inference: the end of its paths, and what documents it. */
export interface InferenceForm extends InferenceShape {
  /** null: chat completions. */
  form: FormName | null;
  path: string;
  /** Its API, and the base URL that its clients take. */
  api: string;
  /** What a call is answered with. */
  what: string;
  /** Names of the operations: of a candidate, of a deployment, of the one that `model` names. */
  operations: readonly [candidate: string, deployment: string, named: string];
  /** The body where `model` names a deployment. */
  named: z.ZodObject;
}

const named = { model: z.string().min(1).describe('The name of a deployment, NAME@LABEL, NAME@VERSION, or its id.') };
const block = z.looseObject({});

const event = (last: string) =>
  z.looseObject({
    event: z.string().describe('The type of the event, which its data has too.'),
    data: z.string().describe(`The event as one line of JSON. ${last}`),
  });

const anthropicFailure = (description: string) => ({
  description,
  content: {
    'application/json': {
      schema: z
        .object({ type: z.literal('error'), error: z.looseObject({ type: z.string(), message: z.string() }) })
        .meta({ id: 'AnthropicError' }),
    },
  },
});

export const inferenceForms: readonly InferenceForm[] = [
  {
    ...completionShape,
    form: null,
    path: '/chat/completions',
    api: 'OpenAI chat completions',
    what: 'An OpenAI chat completion, streamed or not.',
    operations: ['callCandidate', 'callDeployment', 'createChatCompletion'],
    named: completionShape.body.extend(named).meta({
      id: 'NamedChatCompletionRequest',
      description: 'A chat completion request to the deployment `model`.',
    }),
  },
  {
    ...completionShape,
    form: 'responses',
    path: '/responses',
    api: 'OpenAI responses',
    what: 'An OpenAI response, streamed or not, made of a chat completion; it is not stored.',
    operations: ['createCandidateResponse', 'createDeploymentResponse', 'createResponse'],
    body: responseRequest,
    named: responseRequest
      .extend(named)
      .meta({ id: 'NamedResponseRequest', description: 'A request of a response to the deployment `model`.' }),
    answer: z.looseObject({ id: z.string(), object: z.literal('response'), output: z.array(block) }),
    event: event('The last is response.completed, response.incomplete or response.failed.'),
    described: 'A response, or its server-sent events.',
  },
  {
    form: 'messages',
    path: '/messages',
    api: 'Anthropic messages',
    what: 'An Anthropic message, streamed or not, made of a chat completion.',
    operations: ['createCandidateMessage', 'createDeploymentMessage', 'createMessage'],
    body: messageRequest,
    named: messageRequest
      .extend(named)
      .meta({ id: 'NamedMessageRequest', description: 'A request of a message to the deployment `model`.' }),
    answer: z.looseObject({ id: z.string(), type: z.literal('message'), content: z.array(block) }),
    event: event('The last is message_stop, or error.'),
    described: 'A message, or its server-sent events.',
    failure: anthropicFailure,
  },
];
