/** Graphs answer chat completion requests; their steps call real providers with fake models. */
import { ungated } from '../../../src/platform/http/admission/gate.js';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import fastify from 'fastify';
import { text } from 'node:stream/consumers';
import { pino } from 'pino';
import { createProviders, type Providers } from '../../../src/models/client/providers.js';
import type { PolicySpec } from '../../../src/core/jobs/policy.js';
import type { Graph, LlmStep, Step } from '../../../src/core/graphs/graph.js';
import { ApiError } from '../../../src/platform/http/server/errors.js';
import { answerByGraph } from '../../../src/models/routes/graph-answer.js';
import { GraphFailure } from '../../../src/models/routes/graph-failure.js';
import { Forwarder } from '../../../src/models/routes/forward.js';
import type { CallResult, Recorder } from '../../../src/models/routes/record.js';
import { readCall, substitute } from '../../../src/models/routes/request.js';
import { startFakeModel, type FakeModel, type ModelReply, type ModelRequest } from '../../support/fakes/model.js';
import { gate } from '../../support/gate.js';
import { until } from '../../support/until.js';

let model: FakeModel;
let providers: Providers;
beforeAll(async () => {
  model = await startFakeModel();
  const env = { RATCHET_PROVIDERS: 'fake,dead', FAKE_BASE_URL: model.url, DEAD_BASE_URL: 'http://127.0.0.1:9/v1' };
  providers = createProviders({ ...env, OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'sk-test' });
});
beforeEach(() => void (model.requests.length = 0));
afterAll(async () => {
  await providers.close();
  await model.close();
});

const policy = (more: Partial<PolicySpec> = {}): PolicySpec => ({
  provider: 'fake',
  model: 'small',
  params: {},
  ...more,
});
/** A step whose message begins with its id, for the fake model. */
const step = (
  id: string,
  inputs: Record<string, string> = { q: 'input.input' },
  more: Partial<LlmStep> = {},
): LlmStep => ({
  id,
  type: 'llm',
  inputs,
  output: { field: 'text' },
  ...more,
  messages: [{ role: 'user', content: [id, ...Object.keys(inputs).map((name) => `{{${name}}}`)].join(' ') }],
});
const graphOf = (steps: Step[], output = `${steps.at(-1)!.id}.text`, inputs = ['input']): Graph => ({
  inputs,
  steps,
  output,
});
const single = graphOf([step('solve')]);
const two = graphOf([step('plan'), step('write', { plan: 'plan.text' })]);
const stepOf = ({ body }: ModelRequest) => body.messages[0]!.content.split(' ')[0]!;
const asked = () => model.requests.map(({ body }) => body.messages[0]!.content);
/** The model's replies per step; of several, one per request, the last one repeated. */
function say(replies: Record<string, ModelReply | ModelReply[]>): void {
  const times = new Map<string, number>();
  model.reply((request) => {
    const id = stepOf(request);
    const all = [replies[id] ?? { text: id.toUpperCase() }].flat();
    const n = times.get(id) ?? 0;
    times.set(id, n + 1);
    return all[Math.min(n, all.length - 1)]!;
  });
}
const priced = (prompt: number, answer: number, cost?: number) => ({
  usage: { prompt_tokens: prompt, completion_tokens: answer, ...(cost !== undefined && { cost }) },
});
const user = (content: unknown) => ({ role: 'user', content });

interface Asking {
  policies?: PolicySpec[];
  signal?: AbortSignal;
}
function answer(
  graph: Graph,
  body: object,
  { policies = [policy()], signal = new AbortController().signal }: Asking = {},
) {
  // As each request of the service.
  const forPayer = providers.forPayer({ orgId: 'o', keyId: null });
  return answerByGraph(forPayer, { graph, policies, model: 'served' }, body as Record<string, unknown>, signal);
}
interface Completion {
  choices: { message: { content: string } }[];
  usage?: Record<string, number>;
}
const complete = async (graph: Graph, body: object = { messages: [user('Q')] }, more: Asking = {}) =>
  JSON.parse(String(await (await answer(graph, body, more)).read())) as Completion;
const contentOf = async (graph: Graph, ...more: [object?, Asking?]) =>
  (await complete(graph, ...more)).choices[0]!.message.content;
async function failureOf(graph: Graph, body: object = { messages: [user('Q')] }, more: Asking = {}): Promise<ApiError> {
  const error: unknown = await answer(graph, body, more).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ApiError);
  return error as ApiError;
}

describe('the input of the graph', () => {
  test.each<[string, unknown[], string]>([
    ['a text', [user('Why?')], 'solve Why?'],
    ['the last user message', [user('one'), user('two'), { role: 'assistant', content: 'three' }], 'solve two'],
    [
      'text parts',
      [
        user([
          { type: 'text', text: 'Wh' },
          { type: 'text', text: 'y?' },
        ]),
      ],
      'solve Why?',
    ],
    ['a JSON object', [user('{"input": "from JSON", "more": 1}')], 'solve from JSON'],
    ['JSON other than an object', [user('[1]')], 'solve [1]'],
    ['an empty text', [user('')], 'solve '],
  ])('is %s', async (_, messages, said) => {
    say({});
    expect(await contentOf(single, { messages })).toBe('SOLVE');
    expect(asked()).toEqual([said]);
  });

  test.each<[string, object, string, string]>([
    ['no user', { messages: [{ role: 'system', content: 'x' }] }, '/messages', 'role "user"'],
    [
      'an image',
      { messages: [user([{ type: 'text', text: 'a' }, { type: 'image_url' }])] },
      '/messages/0/content/1',
      'text part',
    ],
    ['no content', { messages: [user(null)] }, '/messages/0/content', 'content must be'],
    ['several answers', { messages: [user('a')], n: 2 }, '/n', 'n must be 1'],
    [
      'a missing field',
      { messages: [{ role: 'system', content: 'x' }, user('{"question": 1}')] },
      '/messages/1/content',
      '"input"',
    ],
    ['too much', { messages: [user('x'.repeat(1_000_001))] }, '/messages/0/content', '1000000'],
    ['too much for a step', { messages: [user('x'.repeat(400_001))] }, '/messages/0/content', 'solve'],
  ])('is refused before any call: %s', async (_, body, pointer, message) => {
    for (const stream of [false, true]) {
      const error = await failureOf(single, { ...body, stream });
      expect(error).not.toBeInstanceOf(GraphFailure);
      expect(error).toMatchObject({ status: 400, code: 'graph_input_invalid', errors: [{ pointer }] });
      expect(error.message).toContain(message);
    }
    expect(asked()).toEqual([]);
  });

  test('reports all missing fields', async () => {
    const graph = graphOf([step('solve', { q: 'input.a' })], 'solve.text', ['a', 'b']);
    expect((await failureOf(graph)).message).toContain('"a", "b"');
  });

  test.each([
    ['temperature', 0],
    ['max_tokens', 1],
    ['stop', 'x'],
    ['tools', []],
    ['response_format', { type: 'text' }],
  ])('is refused with a parameter that the steps would not get: %s', async (name, value) => {
    for (const stream of [false, true]) {
      const error = await failureOf(single, { messages: [user('Q')], [name]: value, stream });
      expect(error).toMatchObject({ status: 400, code: 'graph_parameter_not_supported' });
      expect(error).toMatchObject({ errors: [{ pointer: `/${name}` }] });
    }
    expect(asked()).toEqual([]);
  });

  test('is a text for the only field, whatever its name', async () => {
    say({});
    const graph = graphOf([step('solve', { q: 'input.question' })], 'solve.text', ['question']);
    expect(await contentOf(graph, { messages: [user('Why?')] })).toBe('SOLVE');
    expect(asked()).toEqual(['solve Why?']);
  });

  test('accepts n = 1, parameters that are null, and fields without meaning for graphs', async () => {
    say({});
    const body = { messages: [user('Q')], n: 1, temperature: null, user: 'u', model: 'x' };
    expect(await contentOf(single, body)).toBe('SOLVE');
    expect(model.requests[0]!.body).toEqual({ model: 'small', messages: [user('solve Q')], stream: false });
  });
});

describe('the completion', () => {
  test('has the output as content and the usage of all steps', async () => {
    say({ plan: { text: 'P', ...priced(10, 2, 0.25) }, write: { text: 'W', ...priced(20, 3, 0.5) } });
    expect(await complete(two)).toEqual({
      id: expect.stringMatching(/^chatcmpl-[0-9a-f]{8}-[0-9a-f]{4}-7/) as unknown,
      object: 'chat.completion',
      created: expect.any(Number) as unknown,
      model: 'served',
      choices: [{ index: 0, message: { role: 'assistant', content: 'W' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 30, completion_tokens: 5, total_tokens: 35, cost: 0.75 },
    });
    expect(asked()).toEqual(['plan Q', 'write P']);
  });

  const schema = { schema: { type: 'object', properties: { n: { type: 'number' } } } } as const;
  test.each<[string, Graph, ModelReply, string]>([
    [
      'JSON, as text',
      graphOf([step('solve', undefined, { output: schema })], 'solve'),
      { text: '{ "n": 1.0 }' },
      '{"n":1}',
    ],
    ['an object, as JSON text', graphOf([step('solve')], 'solve'), { text: 'é"' }, '{"text":"é\\""}'],
    ['a number', graphOf([step('solve', undefined, { output: schema })], 'solve.n'), { text: '{"n": 7}' }, '7'],
    ['a text as it is', single, { text: '{"a":  1}\n' }, '{"a":  1}\n'],
    ['no text', single, { text: '' }, ''],
  ])('whose output is %s', async (_, graph, reply, content) => {
    say({ solve: reply });
    expect(await contentOf(graph)).toBe(content);
    expect(contentIn(await events(graph))).toBe(content);
  });

  test('uses the policy of each step’s model, or else the first one, with its fields', async () => {
    say({});
    const graph = graphOf([
      step('plan', undefined, { model: 'big' }),
      step('write', { p: 'plan.text' }, { model: 'none' }),
    ]);
    await complete(graph, undefined, {
      policies: [policy({ params: { seed: 1 } }), policy({ model: 'big', params: { top_p: 1 } })],
    });
    expect(model.requests.map(({ body }) => [body.model, body['seed'], body['top_p']])).toEqual([
      ['big', undefined, 1],
      ['small', 1, undefined],
    ]);
  });

  test('calls independent steps at once', async () => {
    const both = gate();
    model.reply(async (request) => {
      if (model.requests.length === 2) both.open();
      await both.opened;
      return { text: stepOf(request) };
    });
    const join: Step = {
      id: 'join',
      type: 'transform',
      op: 'template',
      inputs: { a: 'left.text', b: 'right.text' },
      text: '{{a}}{{b}}',
    };
    expect(await contentOf(graphOf([step('left'), step('right'), join], 'join'))).toBe('leftright');
  });

  test('works with a model in this process', async () => {
    say({});
    const policies = [policy({ provider: 'local', model: 'local' })];
    const { usage, choices } = await complete(single, undefined, { policies });
    expect(choices[0]!.message.content).not.toBe('');
    expect(usage).toMatchObject({ cost: 0, prompt_tokens: expect.any(Number) as unknown });
    expect(contentIn(await events(single, {}, { policies }))).toBe(choices[0]!.message.content);
  });
});

describe('usage', () => {
  const usageOf = async (replies: Parameters<typeof say>[0], policies?: PolicySpec[]) => {
    say(replies);
    return (await complete(two, undefined, policies && { policies })).usage;
  };
  const plan = { text: 'P', ...priced(10, 2, 0.25) };

  test('has no cost if the cost of one call is unknown', async () => {
    expect(await usageOf({ plan, write: priced(20, 3) })).toEqual({
      prompt_tokens: 30,
      completion_tokens: 5,
      total_tokens: 35,
    });
  });

  test('is absent if the tokens of one call are unknown', async () => {
    expect(await usageOf({ plan, write: { usage: null } })).toBeUndefined();
  });

  test('counts unusable answers in full and refusals as 0', async () => {
    const refused: ModelReply = { status: 429, raw: '', headers: { 'retry-after': '0' } };
    const usage = await usageOf({ plan: [refused, plan], write: priced(1, 1, 0.125) });
    expect(usage).toEqual({ prompt_tokens: 11, completion_tokens: 3, total_tokens: 14, cost: 0.375 });
    const number = graphOf([step('solve', undefined, { output: { schema: { type: 'number' } } })], 'solve');
    say({
      solve: [
        { text: 'x', ...priced(10, 2, 0.25) },
        { text: '7', ...priced(10, 3, 0.5) },
      ],
    });
    expect((await complete(number)).usage).toMatchObject({ prompt_tokens: 20, completion_tokens: 5, cost: 0.75 });
  });

  test('is unknown after a broken connection, whatever follows', async () => {
    expect(await usageOf({ plan: [{ cutBody: true }, plan], write: plan })).toBeUndefined();
  });

  test('is priced by the table without a cost from the provider', async () => {
    const usage = await usageOf({ plan: priced(1_000, 100), write: priced(1_000, 100) }, [
      policy({ provider: 'openai', model: 'gpt-4o-mini' }),
    ]);
    expect(usage!['cost']).toBeCloseTo(2 * (1_000 * 0.15e-6 + 100 * 0.6e-6), 10);
  });
});

type Chunk = { choices: { delta: { content?: string; role?: string }; finish_reason: string | null }[] } & Record<
  string,
  unknown
>;
const eventsIn = (stream: string): (Chunk | '[DONE]')[] =>
  stream
    .split('\n\n')
    .filter(Boolean)
    .map((event) => event.replace(/^data: /, ''))
    .map((data) => (data === '[DONE]' ? data : (JSON.parse(data) as Chunk)));
const contentIn = (chunks: (Chunk | '[DONE]')[]): string =>
  chunks.map((chunk) => (chunk === '[DONE]' ? '' : (chunk.choices?.[0]?.delta.content ?? ''))).join('');
async function events(graph: Graph, more: object = {}, asking: Asking = {}) {
  const { status, contentType, stream } = await answer(graph, { messages: [user('Q')], stream: true, ...more }, asking);
  expect([status, contentType]).toEqual([200, 'text/event-stream']);
  return eventsIn(await text(stream()));
}

describe('a stream', () => {
  test('forwards the pieces of the last step while the model holds back the rest', async () => {
    const held = gate();
    say({ write: { text: 'one two three', hold: held.opened, holdAfter: 2 } });
    const { stream } = await answer(two, { messages: [user('Q')], stream: true });
    let seen = '';
    for await (const bytes of stream()) {
      seen += String(bytes);
      if (!seen.includes('one ')) continue;
      if (!seen.includes('two')) expect(model.requests.at(-1)!.closed).toBe(false);
      held.open();
    }
    const chunks = eventsIn(seen);
    expect(contentIn(chunks)).toBe('one two three');
    expect(chunks.slice(0, -1).map((chunk) => (chunk as Chunk).choices[0]!.delta)).toEqual([
      { role: 'assistant', content: '' },
      { content: 'one ' },
      { content: 'two ' },
      { content: 'three' },
      {},
    ]);
    const [first, ...rest] = chunks.slice(0, -1) as Chunk[];
    expect(first).toMatchObject({
      object: 'chat.completion.chunk',
      model: 'served',
      created: expect.any(Number) as unknown,
    });
    for (const other of rest)
      expect(other).toMatchObject({ id: first!['id'], object: first!['object'], model: 'served' });
    expect(rest.at(-1)!.choices[0]!.finish_reason).toBe('stop');
    expect(chunks.at(-1)).toBe('[DONE]');
    expect(model.requests.map(({ body }) => body.stream)).toEqual([false, true]);
  });

  test('forwards the pieces of a model that has answered an earlier request', async () => {
    const held = gate();
    const policies = [policy({ model: 'known' })];
    say({ solve: [{ text: 'one two' }, { text: 'one two', hold: held.opened, holdAfter: 2 }] });
    await contentOf(single, undefined, { policies });
    const { stream } = await answer(single, { messages: [user('Q')], stream: true }, { policies });
    let seen = '';
    for await (const bytes of stream()) {
      seen += String(bytes);
      if (seen.includes('one ')) held.open();
    }
    expect(contentIn(eventsIn(seen))).toBe('one two');
  });

  test('has usage last on request', async () => {
    say({ plan: priced(10, 2, 0.25), write: priced(20, 3, 0.5) });
    const usage = { prompt_tokens: 30, completion_tokens: 5, total_tokens: 35, cost: 0.75 };
    for (const graph of [two, graphOf([...two.steps], 'write')]) {
      const chunks = await events(graph, { stream_options: { include_usage: true } });
      expect(chunks.slice(-2)).toMatchObject([{ choices: [], usage }, '[DONE]']);
      const without = await events(graph, { stream_options: { include_usage: false } });
      expect(without.filter((chunk) => chunk !== '[DONE]' && 'usage' in chunk)).toEqual([]);
      expect(without.at(-1)).toBe('[DONE]');
    }
    expect(model.requests[1]!.body['stream_options']).toEqual({ include_usage: true });
  });

  test('arrives in pieces without a streamed call when the output is not an answer itself', async () => {
    say({ solve: { text: 'a text that is longer than a piece' } });
    const upper: Step = { id: 'up', type: 'transform', op: 'upper', inputs: { text: 'solve.text' } };
    const chunks = await events(graphOf([step('solve'), upper], 'up'));
    expect(contentIn(chunks)).toBe('A TEXT THAT IS LONGER THAN A PIECE');
    expect(chunks.length).toBeGreaterThan(4);
    expect(model.requests.map(({ body }) => body.stream)).toEqual([false]);
  });

  test('forwards the step chosen by a select', async () => {
    const route: Step = {
      id: 'route',
      type: 'select',
      otherwise: 'easy.text',
      cases: [{ when: { of: 'kind.text', is: 'contains', value: 'hard' }, then: 'hard.text' }],
    };
    const graph = graphOf([step('kind'), step('easy'), step('hard'), route], 'route');
    say({ kind: { text: 'hard!' } });
    expect(contentIn(await events(graph))).toBe('HARD');
    expect(model.requests.map((request) => [stepOf(request), request.body.stream])).toEqual([
      ['kind', false],
      ['hard', true],
    ]);
  });

  const thinking = (text: string) => ({
    say: { solve: { text } },
    graph: graphOf([step('solve', undefined, { model: 'new' })]),
  });
  test.each([
    ['an opened thought', '<think>Hm, four? </think> It is four.', 'It is four.'],
    ['a thought without its opening tag', 'Hm, four?\n</think>\nIt is four.', 'It is four.'],
    ['a thought alone', '<think>Hm, four?', ''],
    ['channels', '<|channel|>analysis<|message|>Hm<|end|><|channel|>final<|message|>four', 'four'],
    ['a text', 'It is four.', 'It is four.'],
  ])('leaves out thoughts, from the first answer of a model on: %s', async (name, said, answer) => {
    const { graph, say: replies } = thinking(said);
    say(replies);
    // A model without an answer so far, then a known one.
    for (const stream of [true, true, false, true]) {
      const more = { policies: [policy({ model: `new ${name}` })] };
      const given = stream ? contentIn(await events(graph, {}, more)) : await contentOf(graph, undefined, more);
      expect(given.trimEnd()).toBe(answer);
    }
  });

  test('of a model with an answer passes pieces behind an opened thought', async () => {
    const held = gate();
    const graph = graphOf([step('solve')]);
    const more = { policies: [policy({ model: 'opens' })] };
    say({ solve: { text: 'Known.' } });
    await contentOf(graph, undefined, more);
    say({ solve: { text: '<think>Hm</think> It is really four. And so', hold: held.opened, holdAfter: 5 } });
    const { stream } = await answer(graph, { messages: [user('Q')], stream: true }, more);
    let seen = '';
    for await (const bytes of stream()) {
      seen += String(bytes);
      if (seen.includes('really')) held.open();
    }
    expect(contentIn(eventsIn(seen))).toBe('It is really four. And so');
  });

  test('retries the last step until its first piece', async () => {
    const busy: ModelReply = { status: 429, raw: '', headers: { 'retry-after': '0' } };
    say({ solve: [busy, { cutAfter: 1 }, { text: 'well' }] });
    expect(contentIn(await events(single))).toBe('well');
    expect(asked()).toHaveLength(3);
  });

  const brokenOff = { text: 'one two', cutAfter: 2 };
  test.each<[string, ModelReply, string, LlmStep?]>([
    ['breaks off', brokenOff, 'upstream_connection_lost'],
    ['ends half-way', { ...brokenOff, tail: '' }, 'upstream_connection_lost'],
    ['ends with an error', { ...brokenOff, tail: 'data: {"error":{"message":"overloaded"}}\n\n' }, 'step_refused'],
    [
      'hangs',
      { text: 'one two', hold: new Promise(() => undefined), holdAfter: 2 },
      'upstream_timeout',
      step('solve', undefined, { timeoutS: 0.3 }),
    ],
    ['is too long', { text: `one ${'x'.repeat(500_000)}` }, 'step_answer_unusable'],
  ])(
    'whose last step %s after its first piece ends with an error event, without a retry',
    async (_, reply, code, last = step('solve')) => {
      say({ solve: reply });
      const chunks = await events(graphOf([last]));
      expect(contentIn(chunks)).toMatch(/^one /);
      expect(chunks.at(-1)).toMatchObject({
        error: { code, message: expect.stringMatching(/^Step solve: /) as unknown },
      });
      expect(asked()).toHaveLength(1);
    },
  );

  test('that fails before its first piece is an ordinary error', async () => {
    say({ plan: { status: 400, raw: 'too long' } });
    expect(await failureOf(two, { messages: [user('Q')], stream: true })).toMatchObject({
      status: 502,
      code: 'step_refused',
    });
    say({ write: { status: 404, raw: 'no such model' } });
    expect(await failureOf(two, { messages: [user('Q')], stream: true })).toMatchObject({
      status: 502,
      code: 'model_not_found',
    });
  });

  test('accepts a provider that does not stream', async () => {
    say({ solve: { raw: JSON.stringify({ choices: [{ message: { content: 'whole' } }] }) } });
    expect(contentIn(await events(single))).toBe('whole');
  });
});

/** Headers for OpenAI's clients, which retry by default; a pointless retry would buy all steps. */
const [inVain, passing] = [{ 'x-should-retry': 'false' }, {}];

describe('a failed step', () => {
  test.each<[string, ModelReply | null, [number, string, object], Partial<PolicySpec>?]>([
    [
      '429',
      { status: 429, raw: 'slow', headers: { 'retry-after': '3600' } },
      [429, 'step_refused', { 'retry-after': '3600' }],
    ],
    [
      '503',
      { status: 503, raw: 'busy', headers: { 'retry-after': '99' } },
      [503, 'step_refused', { 'retry-after': '99' }],
    ],
    ['500', { status: 500, raw: 'oh', headers: { 'retry-after': '99' } }, [502, 'step_refused', passing]],
    ['401', { status: 401, raw: 'sk' }, [502, 'provider_refused_key', inVain]],
    ['404', { status: 404, raw: 'no such model' }, [502, 'model_not_found', inVain]],
    ['400', { status: 400, raw: 'too long' }, [502, 'step_refused', inVain]],
    ['no choices', { raw: '{"choices":[]}' }, [502, 'step_answer_invalid', passing]],
    ['nothing', null, [502, 'upstream_unreachable', passing], { provider: 'dead' }],
    ['nothing, without a key', null, [502, 'provider_not_usable', inVain], { provider: 'groq' }],
  ])('%s', async (_, reply, [status, code, headers], more = {}) => {
    if (reply) say({ write: reply });
    const graph = graphOf([step('plan'), step('write', { p: 'plan.text' }, { model: 'last' })]);
    const error = await failureOf(graph, undefined, { policies: [policy(), policy({ ...more, model: 'last' })] });
    expect(error).toBeInstanceOf(GraphFailure);
    expect(error).toMatchObject({ status, code });
    expect(error.headers).toEqual(headers);
    expect(error.message).toMatch(error.code === 'provider_refused_key' ? /"fake" refused/ : /^Step write: /);
  });

  test('that times out answers 504', async () => {
    say({ solve: { raw: 'never' } });
    model.reply(() => new Promise(() => undefined));
    const graph = graphOf([step('solve', undefined, { timeoutS: 0.05 })]);
    const error = await failureOf(graph);
    expect(error).toMatchObject({ status: 504, code: 'upstream_timeout' });
    expect(error.headers).toEqual(passing);
  });

  test('without a usable answer answers 502', async () => {
    say({ solve: { text: 'x' } });
    const graph = graphOf([step('solve', undefined, { tries: 2, output: { schema: { type: 'number' } } })], 'solve');
    const error = await failureOf(graph);
    expect(error).toMatchObject({ status: 502, code: 'step_answer_unusable', headers: inVain });
    expect(error.message).toContain('solve');
  });

  test('blames the graph for a failed transform or a missing output', async () => {
    say({ solve: { text: 'no number' } });
    const number: Step = { id: 'n', type: 'transform', op: 'number', inputs: { text: 'solve.text' } };
    const error = await failureOf(graphOf([step('solve'), number], 'n'));
    expect(error).toMatchObject({ status: 502, code: 'graph_failed', headers: inVain });
    expect(error.message).toMatch(/\bn\b/);
    const pick: Step = { id: 'pick', type: 'vote', of: ['solve.text', 'solve.text'], by: 'majority' };
    expect((await failureOf(graphOf([step('solve'), pick], 'pick.x'))).message).toContain('pick.x');
  });

  test('reports the spent cost, or nothing if it is unknown', async () => {
    const plan = priced(10, 2, 0.25);
    say({ plan, write: { status: 404, raw: '' } });
    const spent = { promptTokens: 10, completionTokens: 2, costUsd: 0.25 };
    expect(await failureOf(two)).toMatchObject({ spent });
    say({ plan, write: { cutAfter: 0 } });
    expect(await failureOf(two)).toMatchObject({ spent: { promptTokens: null, costUsd: null, costSource: 'unknown' } });
  });
});

describe('an aborted request', () => {
  const closed = (count: number) =>
    until(
      'nothing is under way',
      () => model.requests.length === count && model.requests.every((request) => request.closed),
    );

  test('rejects with the reason, and leaves no call in flight', async () => {
    model.reply(() => new Promise(() => undefined));
    const graph = graphOf(
      [step('left'), step('right'), { id: 'all', type: 'transform', op: 'list', inputs: { a: 'left', b: 'right' } }],
      'all',
    );
    for (const stream of [false, true]) {
      model.requests.length = 0;
      const controller = new AbortController();
      const work = answer(graph, { messages: [user('Q')], stream }, { signal: controller.signal });
      await Promise.all([
        expect(work).rejects.toThrow('enough'),
        until('both are asked', () => model.requests.length === 2).then(() => controller.abort(new Error('enough'))),
      ]);
      await closed(2);
    }
    const given = AbortSignal.abort(new Error('before'));
    await expect(answer(single, { messages: [user('Q')] }, { signal: given })).rejects.toThrow('before');
    expect(asked()).toHaveLength(2);
  });

  test.each(['aborted', 'no longer read'])('ends its stream when %s', async (how) => {
    say({ solve: { text: 'one two', hold: new Promise(() => undefined), holdAfter: 2 } });
    const controller = new AbortController();
    const { stream } = await answer(single, { messages: [user('Q')], stream: true }, { signal: controller.signal });
    if (how === 'aborted') {
      controller.abort(new Error('enough'));
      await expect(text(stream())).rejects.toThrow('enough');
    } else for await (const bytes of stream()) if (bytes.length > 0) break;
    await closed(1);
  });
});

describe('through the proxy', () => {
  const recorded: CallResult[] = [];
  const recorder: Recorder = {
    record: (_call, result) => Promise.resolve(void recorded.push(result)).then(() => 'call'),
    takeBackUnlessDelivered: () => undefined,
  };
  const app = fastify();
  beforeAll(() => {
    const served = { graph: two, policies: [policy()], model: 'served' };
    const bytes = { add: () => undefined, keep: () => () => undefined };
    const forwarder = new Forwarder({ log: pino({ level: 'silent' }) }, recorder, 'deployment');
    app.setErrorHandler((thrown, _request, reply) => {
      const { status, headers, code } = thrown as unknown as ApiError;
      return reply.code(status).headers(headers).send({ code });
    });
    app.post('/', async (request, reply) => {
      const upstream = substitute(readCall(request).body, policy({ model: 'two' }), {
        messages: null,
        marked: false,
        demos: [],
      });
      const asked = { ...upstream.body, stream_options: { include_usage: true } };
      const answeredBy = (signal: AbortSignal) => answerByGraph(providers, served, asked, signal);
      const call = { provider: 'graph', upstream, answeredBy, bytes, permit: ungated, logged: {} };
      await forwarder.forward(call as never, reply);
      return reply;
    });
  });
  beforeEach(() => void (recorded.length = 0));
  afterAll(() => app.close());
  const post = (body: object) => app.inject({ method: 'POST', url: '/', payload: { messages: [user('Q')], ...body } });

  test.each([false, true])('records its usage (stream: %s)', async (stream) => {
    say({ plan: priced(10, 2, 0.25), write: { text: 'W', ...priced(20, 3, 0.5) } });
    const { body } = await post({ stream });
    expect(stream ? contentIn(eventsIn(body)) : body).toContain('W');
    // The caller did not request it in the stream.
    expect(body.includes('"usage"')).toBe(!stream);
    expect(recorded).toMatchObject([
      { httpStatus: 200, promptTokens: 30, completionTokens: 5, costUsd: 0.75, costSource: 'reported' },
    ]);
  });

  test('a failure has its status and records the spent cost', async () => {
    say({ plan: priced(10, 2, 0.25), write: { status: 429, raw: '', headers: { 'retry-after': '3600' } } });
    const { statusCode, headers } = await post({ stream: true });
    expect([statusCode, headers['retry-after']]).toEqual([429, '3600']);
    expect(recorded).toMatchObject([{ httpStatus: 429, promptTokens: 10, costUsd: 0.25 }]);
  });

  test.each([false, true])('reports a truncated answer (stream: %s)', async (stream) => {
    say({ write: { text: 'W', finish: 'length' } });
    expect((await post({ stream })).body).toContain('"finish_reason":"length"');
  });

  test('an invalid input costs nothing', async () => {
    expect((await post({ messages: [] })).json()).toEqual({ code: 'graph_input_invalid' });
    expect(recorded).toMatchObject([{ httpStatus: 400, costUsd: 0 }]);
  });

  test('ends a broken stream with an error event, without [DONE]', async () => {
    say({ write: { text: 'one two', cutAfter: 2 } });
    const chunks = eventsIn((await post({ stream: true })).body);
    expect(contentIn(chunks)).toBe('one ');
    expect(chunks.at(-1)).toMatchObject({ error: { code: 'upstream_connection_lost' } });
    expect(recorded).toMatchObject([{ httpStatus: 502, costUsd: null }]);
  });
});
