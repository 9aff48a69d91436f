import { beforeAll, describe, expect, test } from '@jest/globals';
import OpenAI from 'openai';
import type { SnapshotContent } from '../../../../src/kinds/deployment/contract/snapshot.js';
import { graphToJson } from '../../../../src/core/graphs/json.js';
import { setSnapshot } from '../../../../src/kinds/deployment/store/deployments.js';
import { putSnapshot } from '../../../../src/kinds/deployment/store/snapshots.js';
import { deploymentsOfFile } from '../../../kinds/deployment/routes/support.js';
import { deployments as base } from '../../../support/jobs-over-http.js';
import { calling } from './tool-stream.js';

// Deployments in the forms of OpenAI's responses and Anthropic's messages, at the real routes.

type Json = Record<string, unknown>;
const it = deploymentsOfFile();
let id: string;
let openai: OpenAI;
beforeAll(async () => {
  id = await it.deploy('frozen', 'I am frozen.');
  openai = new OpenAI({ apiKey: it.http.key, baseURL: `${it.url}/v1`, maxRetries: 0 });
});

const last = () => it.model.requests.at(-1)!.body;
/** POSTs with the headers of Anthropic's clients. */
const post = (path: string, body: object, headers: Record<string, string> = {}) =>
  fetch(`${it.url}${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-api-key': it.http.key,
      'anthropic-version': '2023-06-01',
      ...headers,
    },
    body: JSON.stringify(body),
  });
const asking = (content: string, more: object = {}) => ({
  model: 'frozen',
  max_tokens: 100,
  messages: [{ role: 'user', content }],
  ...more,
});
const eventsIn = (text: string) =>
  [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!) as Json & { type: string });
const look = { name: 'look', description: 'Looks.', parameters: { type: 'object', properties: {} }, strict: true };
const calls = [
  { id: 'call_a', name: 'look', arguments: '{"city":"Bonn"}' },
  { id: 'call_b', name: 'look', arguments: '{"city":"Rome"}' },
];

describe('a response', () => {
  test('has the frozen prompt in the place of its instructions, and the usage', async () => {
    const response = await openai.responses.create({ model: 'frozen', instructions: 'Mine.', input: 'Hello' });
    expect(response).toMatchObject({ object: 'response', status: 'completed', output_text: 'answer 1 to: Hello' });
    expect(response.usage).toMatchObject({ input_tokens: 4, output_tokens: 4, total_tokens: 8 });
    expect(last()).toEqual({
      model: 'gpt-4o-mini',
      temperature: 0,
      messages: [
        { role: 'system', content: 'I am frozen.' },
        { role: 'user', content: 'Hello' },
      ],
    });
  });

  test('is given by id and by name, and its id takes feedback', async () => {
    for (const ref of ['frozen', id]) {
      const { data, response } = await it.openai(ref).responses.create({ model: 'any', input: 'Hello' }).withResponse();
      expect(response.headers.get('x-ratchet-answer-id')).toBe(data.id);
      expect(response.headers.get('x-ratchet-deployment-id')).toBe(id);
      expect(Number(response.headers.get('x-ratchet-cost-usd'))).toBeGreaterThan(0);
      const report = await it.http.call('POST', `${base}/frozen/feedback`, { answer_id: data.id, reward: 1 });
      expect(report.status).toBe(200);
    }
  });

  test('streams its events, with usage and one id', async () => {
    const stream = openai.responses.stream({ model: 'frozen', input: 'one two three' });
    const types = new Set<string>();
    for await (const event of stream) types.add(event.type);
    const { output_text, usage, id: answer } = await stream.finalResponse();
    expect([output_text, usage!.output_tokens]).toEqual(['answer 1 to: one two three', 6]);
    expect([...types]).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ]);
    const report = await it.http.call('POST', `${base}/frozen/feedback`, { answer_id: answer, reward: 1 });
    expect(report.status).toBe(200);
  });

  test.each([false, true])('calls tools and takes their results (stream: %s)', async (stream) => {
    it.model.reply(({ body }) => (body.messages.at(-1)!.role === 'tool' ? {} : calling(calls, stream)));
    const tools = [{ type: 'function' as const, ...look }];
    const ask = async (input: OpenAI.Responses.ResponseInput) =>
      stream
        ? openai.responses.stream({ model: 'frozen', input, tools }).finalResponse()
        : openai.responses.create({ model: 'frozen', input, tools });
    const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: 'Where?' }];
    const first = await ask(input);
    expect(first.output).toMatchObject(
      calls.map(({ id, ...call }) => ({ type: 'function_call', call_id: id, ...call })),
    );
    const results = calls.map(({ id: call_id }) => ({
      type: 'function_call_output' as const,
      call_id,
      output: 'Sun.',
    }));
    const second = await ask([...input, ...(first.output as OpenAI.Responses.ResponseInput), ...results]);
    expect(second.output_text).toBe('answer 2 to: Sun.');
    expect(last().messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool', 'tool']);
    expect(last()['tools']).toEqual([{ type: 'function', function: look }]);
  });

  test('has structured output', async () => {
    it.model.reply(() => ({ text: '{"age":41}' }));
    const schema = { type: 'object', properties: { age: { type: 'number' } } };
    const format = { type: 'json_schema' as const, name: 'person', schema, strict: true };
    const { output_parsed } = await openai.responses.parse({ model: 'frozen', input: 'Ann?', text: { format } });
    expect(output_parsed).toEqual({ age: 41 });
    expect(last()['response_format']).toEqual({
      type: 'json_schema',
      json_schema: { name: 'person', schema, strict: true },
    });
  });

  test.each([false, true])('is incomplete if the model was cut off (stream: %s)', async (stream) => {
    it.model.reply(() => ({ text: 'one two', finish: 'length' }));
    const asked = { model: 'frozen', input: 'Count.' };
    const cut = await (stream ? openai.responses.stream(asked).finalResponse() : openai.responses.create(asked));
    expect(cut).toMatchObject({ status: 'incomplete', output: [{ content: [{ text: 'one two' }] }] });
  });

  test('says the refusal of the model', async () => {
    const message = { role: 'assistant', content: null, refusal: 'No.' };
    it.model.reply(() => ({ fields: { choices: [{ index: 0, message, finish_reason: 'stop' }] } }));
    const { output } = await openai.responses.create({ model: 'frozen', input: 'Bad.' });
    expect(output).toMatchObject([{ type: 'message', content: [{ type: 'refusal', refusal: 'No.' }] }]);
  });

  test('is an error with the provider’s status before its first byte', async () => {
    it.model.reply(() => ({ raw: '{"error":{"message":"slow down","code":"busy"}}', status: 429 }));
    for (const stream of [false, true]) {
      const failed = openai.responses.create({ model: 'frozen', input: 'x', stream } as never);
      await expect(failed).rejects.toMatchObject({ status: 429, code: 'busy' });
    }
  });

  test('fails in its stream, in the counts, too', async () => {
    const own = await it.deploy('broken');
    it.model.reply(() => ({ text: 'one two three four', cutAfter: 3 }));
    const answer = await post(`${base}/broken/responses`, { input: 'x', stream: true });
    const events = eventsIn(await answer.text());
    expect(events.slice(-2)).toMatchObject([
      { type: 'error', code: 'upstream_connection_lost', error: { code: 'upstream_connection_lost' } },
      {
        type: 'response.failed',
        response: { status: 'failed', error: { code: 'upstream_connection_lost' }, output: [{ status: 'incomplete' }] },
      },
    ]);
    it.model.reply(() => ({ text: 'one', cutAfter: 2, tail: 'data: {"error":{"message":"broken","code":500}}\n\n' }));
    const failed = openai.responses.stream({ model: 'broken', input: 'x' }).finalResponse();
    await expect(failed).rejects.toMatchObject({ code: 'upstream_error' });
    it.model.reply(() => ({}));
    await openai.responses.create({ model: 'broken', input: 'x' });
    const { body } = await it.http.call('GET', `${base}/${own}/stats`);
    expect(body).toMatchObject({ requests: 3, errors: 2 });
  });

  test('is refused by the field that has no counterpart, before anything is asked', async () => {
    const failed = openai.responses.create({ model: 'frozen', input: 'x', previous_response_id: 'resp_1' });
    await expect(failed).rejects.toMatchObject({ status: 400, code: 'invalid_request', param: 'previous_response_id' });
    await expect(openai.responses.create({ model: 'none', input: 'x' })).rejects.toMatchObject({
      status: 404,
      code: 'model_not_found',
    });
    await expect(
      openai.responses.create({ model: 'frozen', input: 'x', api_key: 'sk' } as never),
    ).rejects.toMatchObject({
      status: 400,
      param: 'api_key',
    });
    expect(it.model.requests).toHaveLength(0);
  });
});

describe('a message', () => {
  test('has the frozen prompt in the place of its system prompt, at each base URL', async () => {
    for (const path of ['/v1', `${base}/frozen/v1`, `${base}/${id}`]) {
      const answer = await post(`${path}/messages`, asking('Hello', { system: 'Mine.' }));
      const message = (await answer.json()) as Json;
      expect(message).toMatchObject({
        id: answer.headers.get('x-ratchet-answer-id'),
        type: 'message',
        role: 'assistant',
        content: [{ type: 'text', text: `answer ${it.model.requests.length} to: Hello` }],
        stop_reason: 'end_turn',
        usage: { input_tokens: 4, output_tokens: 4 },
      });
      const report = await it.http.call('POST', `${base}/frozen/feedback`, { answer_id: message['id'], reward: 1 });
      expect(report.status).toBe(200);
    }
    expect(last()).toEqual({
      model: 'gpt-4o-mini',
      temperature: 0,
      max_completion_tokens: 100,
      messages: [
        { role: 'system', content: 'I am frozen.' },
        { role: 'user', content: 'Hello' },
      ],
    });
  });

  test('streams its events', async () => {
    const answer = await post('/v1/messages', asking('Hello', { stream: true }));
    expect(answer.headers.get('content-type')).toContain('text/event-stream');
    const events = eventsIn(await answer.text());
    const types = events.map(({ type }) => type).filter((type) => type !== 'content_block_delta');
    expect(types).toEqual([
      'message_start',
      'content_block_start',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
    expect(events.at(-2)).toMatchObject({
      delta: { stop_reason: 'end_turn' },
      usage: { input_tokens: 4, output_tokens: 4 },
    });
  });

  test('calls tools', async () => {
    it.model.reply(() => calling(calls, false));
    const tools = [{ name: 'look', input_schema: look.parameters }];
    const answer = await post('/v1/messages', asking('Where?', { tools, tool_choice: { type: 'any' } }));
    expect(await answer.json()).toMatchObject({
      content: calls.map(({ id, name, arguments: args }) => ({
        type: 'tool_use',
        id,
        name,
        input: JSON.parse(args) as Json,
      })),
      stop_reason: 'tool_use',
    });
    expect(last()['tool_choice']).toBe('required');
  });

  test.each<[string, string, object, number, object]>([
    ['a wrong key', '/v1/messages', { key: 'wrong' }, 401, { type: 'authentication_error', code: 'unauthorized' }],
    ['an unknown model', '/v1/messages', { model: 'none' }, 404, { type: 'not_found_error', code: 'model_not_found' }],
    ['no messages', '/v1/messages', { messages: [] }, 400, { type: 'invalid_request_error', param: 'messages' }],
    [
      'a tool of Anthropic',
      '/v1/messages',
      { tools: [{ type: 'bash_20250124', name: 'bash' }] },
      400,
      { param: 'tools.0.type' },
    ],
    ['an unknown path', '/v1/messages/count_tokens', {}, 404, { type: 'not_found_error', code: 'not_found' }],
    [
      'a deployment that is unknown',
      `${base}/none/v1/messages`,
      {},
      404,
      { type: 'not_found_error', code: 'not_found' },
    ],
  ])('%s is refused in the form of Anthropic', async (_, path, change, status, error) => {
    const { key, ...more } = change as { key?: string };
    const answer = await post(path, asking('x', more), key === undefined ? {} : { 'x-api-key': key });
    const body = (await answer.json()) as Json;
    expect([answer.status, body]).toMatchObject([status, { type: 'error', error }]);
    expect(Object.keys(body)).toEqual(['type', 'error']);
    expect(it.model.requests).toHaveLength(0);
  });

  test('has the errors of the provider in the form of Anthropic, before its first byte and after', async () => {
    it.model.reply(() => ({ raw: '{"error":{"message":"no","code":"other"}}', status: 401 }));
    const refused = await post('/v1/messages', asking('x'));
    expect([refused.status, refused.headers.get('x-should-retry')]).toEqual([502, 'false']);
    expect(await refused.json()).toMatchObject({
      type: 'error',
      error: { type: 'api_error', code: 'provider_refused_key' },
    });
    it.model.reply(() => ({ text: 'one two three four', cutAfter: 3 }));
    const events = eventsIn(await (await post('/v1/messages', asking('x', { stream: true }))).text());
    expect(events.at(-1)).toMatchObject({
      type: 'error',
      error: { type: 'api_error', code: 'upstream_connection_lost' },
    });
  });
});

describe('a graph', () => {
  beforeAll(async () => {
    const step = { id: 'write', type: 'llm' as const, inputs: { given: 'input.input' }, output: { field: 'text' } };
    const messages = [{ role: 'user' as const, content: 'write {{given}}' }];
    const content = {
      kind: 'graph',
      graph: graphToJson({ inputs: ['input'], steps: [{ ...step, messages }], output: 'write.text' }),
      graph_txt: '',
      policies: [{ provider: 'openai', model: 'gpt-4o-mini' }],
      lever_versions: {},
      provenance: { source: 'graph_job', job_id: 'ses_x', candidate_id: 'cand_x', reward: 1, verdict: null },
    } as SnapshotContent;
    const own = await it.deploy('graph');
    await it.http.db.org('default', async (tx) => setSnapshot(tx, own, await putSnapshot(tx, 'default', content)));
  });

  test('answers in both forms, whole and streamed', async () => {
    const { output_text, usage } = await openai.responses.create({ model: 'graph', input: 'this' });
    expect([output_text, usage!.total_tokens]).toEqual(['answer 1 to: write this', 7]);
    const streamed = await openai.responses.stream({ model: 'graph', input: 'this' }).finalResponse();
    expect([streamed.output_text, streamed.usage!.total_tokens]).toEqual(['answer 2 to: write this', 7]);
    // The limit, which each message has, is not that of a step.
    for (const stream of [false, true]) {
      const answer = await post('/v1/messages', { ...asking('this', { stream }), model: 'graph' });
      expect(answer.status).toBe(200);
      expect(await answer.text()).toContain(stream ? 'message_stop' : 'to: write this');
    }
    const refused = openai.responses.create({ model: 'graph', input: 'this', max_output_tokens: 5 });
    await expect(refused).rejects.toMatchObject({ status: 400, code: 'graph_parameter_not_supported' });
  });
});
