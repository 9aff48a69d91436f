import { greeting, person } from './provider.js';

/** What a client does and says: its answer, or the status and code of its error. */
export interface Scenario {
  /** A method of the clients' programs. */
  does: string;
  order?: string;
  key?: string;
  model?: string;
  says: Record<string, unknown>;
  /** Requests that reach the model. */
  requests?: number;
  /** What a graph says, if it says something else; null: nothing is asked. */
  graph?: { says: Record<string, unknown>; requests?: number } | null;
  /** For the path below /v1 only. */
  isForRoot?: boolean;
}

const text = greeting;
const tokens = 12;
const again = { text: 'attempt 2' };
const one = { calls: [['look', { city: 'Bonn' }]] };
const two = { calls: [...one.calls, ['look', { city: 'Rome' }]] };
const inStream = { status: 'stream' };
const refused = { says: { status: 502, code: 'step_refused' } };
const unsupported = { says: { status: 400, code: 'graph_parameter_not_supported' } };

export const scenarios: Record<string, Scenario> = {
  'a chat': { does: 'chat', says: { text, tokens } },
  'a stream': { does: 'stream', says: { text } },
  'usage in a stream': { does: 'stream_usage', says: { text, tokens } },
  'a tool': { does: 'tools', says: one, graph: unsupported },
  'a tool, streamed': { does: 'tools_stream', says: one, graph: unsupported },
  'two tools at once': { does: 'tools', order: 'two', says: two, graph: null },
  'two tools at once, streamed': { does: 'tools_stream', order: 'two', says: two, graph: null },
  'a schema': { does: 'schema', says: { object: person }, graph: unsupported },
  'a schema, streamed': { does: 'schema_stream', says: { object: person }, graph: unsupported },
  'an image': {
    does: 'image',
    says: { text: 'One image.' },
    graph: { says: { status: 400, code: 'graph_input_invalid' } },
  },
  'busy once': { does: 'chat', order: 'busy_once', says: again, requests: 2 },
  'broken once': { does: 'chat', order: 'broken_once', says: again, requests: 2 },
  'broken for good': {
    does: 'chat',
    order: 'broken',
    says: { status: 500, code: 'server_error' },
    requests: 1,
    graph: refused,
  },
  'no credit': {
    does: 'chat',
    order: 'no_credit',
    says: { status: 429, code: 'insufficient_quota' },
    requests: 1,
    graph: { says: { status: 502, code: 'provider_refused_account' } },
  },
  'a request that is too long': {
    does: 'chat',
    order: 'too_long',
    says: { status: 400, code: 'context_length_exceeded' },
    requests: 1,
    graph: refused,
  },
  'an error inside a 200': { does: 'chat', order: 'error_in_200', says: { status: 400 }, requests: 1, graph: refused },
  'an error as first event': {
    does: 'stream',
    order: 'error_first',
    says: { status: 400 },
    requests: 1,
    graph: refused,
  },
  'an error inside a stream': { does: 'stream', order: 'error_later', says: inStream, requests: 1 },
  'a stream that is cut': { does: 'stream', order: 'cut', says: inStream, requests: 1 },
  'a wrong key': { does: 'chat', order: 'wrong', key: 'wrong-key', says: { status: 401 }, requests: 0 },
  'an unknown model': {
    does: 'chat',
    order: 'unknown',
    model: 'unknown',
    isForRoot: true,
    requests: 0,
    says: { status: 404, code: 'model_not_found' },
  },
  'a caller that leaves': { does: 'abort', order: 'held', says: { text: 'Good ' } },
  embeddings: { does: 'embed', says: { status: 404 }, isForRoot: true },
  'the Responses API': { does: 'respond', says: { text }, isForRoot: true },
  'legacy completions': { does: 'complete', says: { status: 404 }, isForRoot: true },
  'the list of models': { does: 'models', says: { models: ['greeter', 'greeter-graph'] }, isForRoot: true },
};
