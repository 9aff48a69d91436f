import type { ModelReply, ModelRequest } from '../support/fakes/model.js';
import { gate, type Gate } from '../support/gate.js';
import { isProposal } from '../support/worlds/asked.js';
import { graphAnswer } from '../support/worlds/graph.js';
import { startModelWorld, type ModelWorld } from '../support/worlds/model.js';

/** What a caller asks the model to do, and for whom: `tries` counts by both. */
export const orderOf = (order: string, who: string): string => `order ${order} of ${who}.`;
const orderPattern = /order (\w+) of (\S+)\./;

const usage = { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 };
export const greeting = 'Good day.';
export const person = { name: 'Ann', age: 41 };

export interface Provider extends ModelWorld {
  /** The requests with an order. */
  tries(order: string, who: string): number;
  /** Ends the streams that `held` holds. */
  release(): void;
}

/** A model that obeys the order in the last user message. */
export async function startProvider(): Promise<Provider> {
  const tries = new Map<string, number>();
  let held: Gate = gate();
  const world = await startModelWorld((request) => {
    const { messages } = request.body;
    if (isProposal(messages)) return { text: graphAnswer(messages) };
    const [given = '', order = 'chat'] = orderPattern.exec(JSON.stringify(messages)) ?? [];
    const attempt = (tries.get(given) ?? 0) + 1;
    tries.set(given, attempt);
    return { usage, ...(orders[order]?.({ attempt, held }) ?? inForm(request, order, attempt)) };
  });
  return {
    ...world,
    tries: (order, who) => tries.get(orderOf(order, who)) ?? 0,
    release() {
      held.open();
      held = gate();
    },
  };
}

const refusing = (status: number, code: string | number, headers: Record<string, string> = {}): ModelReply => {
  const error = { message: 'As ordered.', type: 'as_ordered', param: null, code };
  return { status, headers, raw: JSON.stringify({ error }) };
};
const inVain = { 'x-should-retry': 'false' };
const errorEvent = (code: number) =>
  `data: ${JSON.stringify({ error: { message: 'As ordered.', type: 'as_ordered', param: null, code } })}\n\n`;

const orders: Record<string, (at: { attempt: number; held: Gate }) => ModelReply | null> = {
  busy_once: ({ attempt }) => (attempt === 1 ? refusing(429, 'rate_limit_exceeded', { 'retry-after': '1' }) : null),
  broken_once: ({ attempt }) => (attempt === 1 ? refusing(500, 'server_error') : null),
  broken: () => refusing(500, 'server_error', inVain),
  no_credit: () => refusing(429, 'insufficient_quota', inVain),
  too_long: () => refusing(400, 'context_length_exceeded'),
  error_in_200: () => refusing(200, 400),
  error_first: () => ({ text: greeting, cutAfter: 0, tail: errorEvent(400) }),
  error_later: () => ({ text: greeting, cutAfter: 2, tail: errorEvent(500) }),
  cut: () => ({ text: greeting, cutAfter: 2 }),
  held: ({ held }) => ({ text: greeting, hold: held.opened, holdAfter: 2 }),
};

interface Tool {
  function: { name: string; parameters?: { properties?: Record<string, unknown> } };
}

/** An answer in the form that the request asks for: tool calls, JSON or text. */
function inForm({ body }: ModelRequest, order: string, attempt: number): ModelReply {
  const [tool] = (body['tools'] ?? []) as Tool[];
  const format = body['response_format'] as { type: string } | undefined;
  const text = JSON.stringify(body.messages);
  if (tool && body.messages.at(-1)!.role !== 'tool')
    return calling(tool, order === 'two' ? ['Bonn', 'Rome'] : ['Bonn'], body.stream === true);
  const isForPerson = (format && format.type !== 'text') || /json_schema|schema/i.test(text);
  if (isForPerson) return { text: JSON.stringify(person) };
  if (text.includes('"image_url"')) return { text: 'One image.' };
  return { text: order.endsWith('_once') ? `attempt ${attempt}` : greeting };
}

function calling({ function: { name, parameters } }: Tool, cities: readonly string[], isStream: boolean): ModelReply {
  const args = (city: string) => JSON.stringify(parameters?.properties?.['age'] ? person : { city });
  const calls = cities.map((city, index) => ({
    index,
    id: `call_${index}`,
    type: 'function',
    function: { name, arguments: args(city) },
  }));
  const head = { id: 'chatcmpl-tools', created: 1_700_000_000, model: 'm' };
  if (!isStream) {
    const message = { role: 'assistant', content: null, tool_calls: calls.map(({ index: _, ...call }) => call) };
    const choices = [{ index: 0, message, finish_reason: 'tool_calls' }];
    return { raw: JSON.stringify({ ...head, object: 'chat.completion', choices, usage }) };
  }
  const chunk = (choices: object[], more: object = {}) =>
    `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices, ...more })}\n\n`;
  const delta = (fields: object, finish: string | null = null) =>
    chunk([{ index: 0, delta: fields, finish_reason: finish }]);
  const events = [
    delta({ role: 'assistant', content: null }),
    ...calls.flatMap(({ function: { arguments: whole }, ...call }) => [
      delta({ tool_calls: [{ ...call, function: { name, arguments: '' } }] }),
      ...whole
        .match(/.{1,5}/gs)!
        .map((part) => delta({ tool_calls: [{ index: call.index, function: { arguments: part } }] })),
    ]),
    delta({}, 'tool_calls'),
    chunk([], { usage }),
    'data: [DONE]\n\n',
  ];
  return { raw: events.join(''), headers: { 'content-type': 'text/event-stream' } };
}
