/** The clients of others that are run against the service, with their versions. */
import type { Pinned } from './play.js';

/** Statuses of answers; `stream`: an error inside a stream. */
export type Ending = 400 | 401 | 404 | 429 | 500 | 502 | 'stream';

export const targets = ['deployment', 'session', 'graph'] as const;
export type Target = (typeof targets)[number];

/** A client of chat completions, or of another form of inference. */
export interface ChatClient extends Pinned {
  /** Default: chat completions. */
  api?: 'responses' | 'messages';
  /** Its file in python/ or node/. */
  module: string;
  /** The class of the error, or a class above it, at each ending. */
  errors: Record<Ending, string>;
  /** Deeds that it has no method for. */
  lacks: readonly string[];
  /** A class of its own around the errors. */
  raises?: string;
  /** Requests of a call that fails for good: more than one in spite of `x-should-retry`. */
  vainTries?: number;
  /** Failures that it does not repeat all the same. */
  knowsAsFinal?: readonly string[];
  /** A chat gives an object, and no text. */
  hasNoText?: boolean;
  /** Default: all. A graph takes no tools. */
  targets?: readonly Target[];
}

const openAiErrors: Record<Ending, string> = {
  400: 'BadRequestError',
  401: 'AuthenticationError',
  404: 'NotFoundError',
  429: 'RateLimitError',
  500: 'InternalServerError',
  502: 'InternalServerError',
  stream: 'APIError',
};
/** Anthropic's clients have the same names. */
const anthropicErrors = openAiErrors;
const errorsOfAi = (stream: string): Record<Ending, string> => {
  const name = 'APICallError';
  return { 400: name, 401: name, 404: name, 429: name, 500: name, 502: name, stream };
};
const raw = ['respond', 'complete', 'models'];

export const chatClients: readonly ChatClient[] = [
  {
    language: 'Python',
    name: 'openai',
    version: '1.40.0',
    beside: ['httpx==0.27.2'],
    module: 'with_openai',
    errors: openAiErrors,
    lacks: ['respond'],
  },
  {
    language: 'Python',
    name: 'openai',
    version: '3.57.0',
    module: 'with_openai',
    errors: openAiErrors,
    lacks: [],
  },
  {
    language: 'Python',
    name: 'langchain-openai',
    version: '1.7.4',
    module: 'with_langchain',
    errors: openAiErrors,
    lacks: [...raw, 'schema_stream'],
  },
  {
    language: 'Python',
    name: 'llama-index-llms-openai-like',
    version: '0.8.1',
    module: 'with_llama_index',
    errors: openAiErrors,
    lacks: [...raw, 'stream_usage', 'schema_stream', 'embed'],
    vainTries: 3,
    // Its own repetition does not hold for streams.
    knowsAsFinal: ['graph: an error as first event'],
  },
  {
    language: 'Python',
    name: 'litellm',
    version: '1.110.2',
    module: 'with_litellm',
    errors: { ...openAiErrors, 502: 'BadGatewayError' },
    lacks: [...raw, 'schema_stream'],
  },
  {
    language: 'Python',
    name: 'instructor',
    version: '1.17.0',
    module: 'with_instructor',
    errors: openAiErrors,
    raises: 'InstructorRetryException',
    hasNoText: true,
    targets: ['deployment', 'session'],
    lacks: [...raw, 'stream', 'stream_usage', 'tools', 'tools_stream', 'image', 'abort', 'embed'],
  },
  {
    language: 'Python',
    name: 'pydantic-ai-slim',
    version: '2.68.0',
    beside: ['pydantic-ai-slim[openai]==2.68.0'],
    module: 'with_pydantic_ai',
    errors: openAiErrors,
    raises: 'ModelHTTPError',
    lacks: [...raw, 'schema_stream', 'embed'],
  },
  {
    language: 'Python',
    name: 'openai-agents',
    version: '0.24.0',
    module: 'with_openai_agents',
    errors: openAiErrors,
    lacks: [...raw, 'schema_stream', 'abort', 'embed'],
  },
  {
    language: 'Node',
    name: 'openai',
    version: '4.104.0',
    beside: ['zod@3.25.76'],
    module: 'with-openai',
    errors: openAiErrors,
    lacks: [],
  },
  {
    language: 'Node',
    name: 'openai',
    version: '7.57.0',
    beside: ['zod@4.6.7'],
    module: 'with-openai',
    errors: openAiErrors,
    lacks: [],
  },
  {
    language: 'Node',
    name: 'ai',
    version: '5.0.277',
    beside: ['@ai-sdk/openai-compatible@1.0.61', 'zod@4.6.7'],
    module: 'with-ai',
    errors: errorsOfAi('StreamedError'),
    lacks: raw,
    vainTries: 2,
  },
  {
    language: 'Node',
    name: 'ai',
    version: '7.0.173',
    beside: ['@ai-sdk/openai-compatible@3.0.92', 'zod@4.6.7'],
    module: 'with-ai',
    errors: errorsOfAi('StreamProviderError'),
    lacks: raw,
    vainTries: 2,
  },
  {
    language: 'Node',
    name: '@langchain/openai',
    version: '1.6.0',
    beside: ['@langchain/core@1.4.0', 'zod@4.6.7'],
    module: 'with-langchain',
    errors: openAiErrors,
    lacks: raw,
    vainTries: 3,
    knowsAsFinal: ['deployment: no credit', 'session: no credit', 'graph: a request that is too long'],
  },
  {
    language: 'Python',
    name: 'openai',
    version: '3.57.0',
    api: 'responses',
    module: 'with_openai_responses',
    errors: openAiErrors,
    lacks: [...raw, 'embed'],
  },
  {
    language: 'Python',
    name: 'openai-agents',
    version: '0.24.0',
    api: 'responses',
    module: 'with_openai_agents_responses',
    errors: openAiErrors,
    lacks: [...raw, 'schema_stream', 'abort', 'embed'],
  },
  {
    language: 'Node',
    name: 'openai',
    version: '7.57.0',
    beside: ['zod@4.6.7'],
    api: 'responses',
    module: 'with-openai-responses',
    errors: openAiErrors,
    lacks: [...raw, 'embed'],
  },
  {
    language: 'Node',
    name: '@openai/agents',
    version: '0.20.0',
    beside: ['openai@7.57.0', 'zod@4.6.7'],
    api: 'responses',
    module: 'with-openai-agents',
    errors: openAiErrors,
    lacks: [...raw, 'image', 'abort', 'embed'],
  },
  {
    language: 'Node',
    name: '@ai-sdk/openai',
    version: '3.0.141',
    beside: ['ai@6.0.326', '@ai-sdk/openai-compatible@2.0.92', 'zod@4.6.7'],
    api: 'responses',
    module: 'with-ai-openai',
    errors: errorsOfAi('StreamedError'),
    lacks: [...raw, 'embed'],
    vainTries: 2,
  },
  {
    language: 'Python',
    name: 'anthropic',
    version: '2.14.0',
    beside: ['openai==3.57.0'],
    api: 'messages',
    module: 'with_anthropic',
    errors: anthropicErrors,
    lacks: [...raw, 'embed'],
  },
  {
    language: 'Node',
    name: '@anthropic-ai/sdk',
    version: '1.14.0',
    api: 'messages',
    module: 'with-anthropic',
    errors: anthropicErrors,
    lacks: [...raw, 'embed'],
  },
  {
    language: 'Node',
    name: '@ai-sdk/anthropic',
    version: '3.0.140',
    beside: ['ai@6.0.326', '@ai-sdk/openai-compatible@2.0.92', 'zod@4.6.7'],
    api: 'messages',
    module: 'with-ai-anthropic',
    errors: errorsOfAi('StreamedError'),
    lacks: [...raw, 'embed'],
    vainTries: 2,
  },
];

/** A client with one program of python/ or node/. */
interface PinnedProgram extends Pinned {
  module: string;
}

export const eventReaders: readonly PinnedProgram[] = [
  { language: 'Python', name: 'httpx-sse', version: '0.4.3', beside: ['httpx==0.28.1'], module: 'read_events.py' },
  { language: 'Node', name: 'eventsource', version: '3.0.7', module: 'read-events.mjs' },
  { language: 'Node', name: 'eventsource', version: '5.1.5', module: 'read-events.mjs' },
];

export const mcpClients: readonly PinnedProgram[] = [
  { language: 'Python', name: 'mcp', version: '1.30.0', module: 'use_tools.py' },
  { language: 'Python', name: 'mcp', version: '2.3.0', module: 'use_tools.py' },
  { language: 'Node', name: '@modelcontextprotocol/sdk', version: '1.32.2', module: 'use-tools.mjs' },
];

/** Generators of clients from the OpenAPI document, for `generators.long.test.ts`. */
export const generators = {
  openapiPythonClient: { language: 'Python', name: 'openapi-python-client', version: '0.29.1' },
  datamodelCodeGenerator: { language: 'Python', name: 'datamodel-code-generator', version: '0.89.0' },
  heyApi: { language: 'Node', name: '@hey-api/openapi-ts', version: '0.99.0', beside: ['typescript@5.9.3'] },
  openapiTypescript: { language: 'Node', name: 'openapi-typescript', version: '7.13.0', beside: ['typescript@5.9.3'] },
  oapiCodegen: { language: 'Go', name: 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen', version: '2.8.2' },
} as const;
