import { beforeEach, describe, expect, test } from '@jest/globals';
import OpenAI from 'openai';
import type { JobRef } from '../../../../src/jobs/store/events.js';
import { proxyOfFile } from '../support.js';
import { calling } from './tool-stream.js';

// Sessions in the forms of OpenAI's responses and Anthropic's messages: what is recorded is the
// chat completion, and what is replayed has the form that was asked for.

const proxy = proxyOfFile();
let job: JobRef;
let rollout: string;
beforeEach(async () => {
  proxy.model.reply(({ n }) => ({ text: `answer ${n}` }));
  job = await proxy.newSession();
  rollout = await proxy.newRollout(job, 0, 0);
});

const response = { input: [{ role: 'user', content: 'Where is my card?' }], instructions: 'Mine.' };
const message = { max_tokens: 9, messages: [{ role: 'user', content: 'Where is my card?' }] };

async function ask(path: string, body: object, headers: Record<string, string> = {}): Promise<Response> {
  const answer = await fetch(`${proxy.url}/api/gepa/v1/${job.jobId}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': proxy.inferenceKey(job, rollout), ...headers },
    body: JSON.stringify(body),
  });
  expect(answer.status).toBe(200);
  return answer;
}
/** The text of an answer in any form. */
async function textOf(answer: Response): Promise<string> {
  const said = await answer.text();
  const deltas = [...said.matchAll(/^data: (.*)$/gm)].map(
    ([, data]) => JSON.parse(data!) as { delta?: string | { text?: string } },
  );
  if (deltas.length === 0) return /"text":"(answer[^"]*)"/.exec(said)![1]!;
  return deltas.map(({ delta = '' }) => (typeof delta === 'string' ? delta : (delta.text ?? ''))).join('');
}

describe('a rollout', () => {
  test('asks with its inference URL as the base URL of OpenAI’s client', async () => {
    const client = new OpenAI({
      baseURL: `${proxy.url}/api/gepa/v1/${job.jobId}/${rollout}`,
      apiKey: proxy.inferenceKey(job, rollout),
      maxRetries: 0,
    });
    const { data, response: raw } = await client.responses.create({ model: 'm', input: 'x' }).withResponse();
    expect(data.output_text).toBe('answer 1');
    expect(raw.headers.get('x-gepa-rollout-id')).toBe(rollout);
    const streamed = await client.responses.stream({ model: 'm', input: 'x' }).finalResponse();
    expect(streamed.output_text).toBe('answer 2');
  });

  test('is recorded as a chat completion with the candidate’s prompt', async () => {
    await ask(`/${rollout}/responses`, response);
    await (await ask(`/${rollout}/v1/messages`, { ...message, stream: true })).text();
    const calls = await proxy.calls(job);
    expect(calls.map(({ request }) => request['messages'])).toEqual(
      [1, 2].map(() => [
        { role: 'system', content: 'Baseline prompt.' },
        { role: 'user', content: 'Where is my card?' },
      ]),
    );
    expect(calls.map(({ response: recorded }) => recorded)).toMatchObject(
      [1, 2].map((n) => ({ object: 'chat.completion', choices: [{ message: { content: `answer ${n}` } }] })),
    );
    expect(calls.map((call) => [call.stream, call.prompt_tokens! > 0])).toEqual([
      [false, true],
      [true, true],
    ]);
  });

  test.each<[string, string, object]>([
    ['a response', 'responses', response],
    ['a streamed response', 'responses', { ...response, stream: true }],
    ['a message', 'messages', message],
    ['a streamed message', 'messages', { ...message, stream: true }],
  ])('gets its recorded %s again, and pays once', async (_, end, body) => {
    const path = `/${rollout}/${end}`;
    expect(await textOf(await ask(path, body))).toBe('answer 1');
    expect(await textOf(await ask(path, body, { 'x-ratchet-retry': 'true' }))).toBe('answer 1');
    await proxy.nextAttempt(job, rollout);
    expect(await textOf(await ask(path, body))).toBe('answer 1');
    expect(proxy.model.requests).toHaveLength(1);
  });

  test('gets the same events from the record as from the model, but for the pieces of text', async () => {
    const calls = [{ id: 'call_a', name: 'look', arguments: '{"city":"Bonn"}' }];
    proxy.model.reply(() => calling(calls, true));
    for (const [end, body] of [
      ['responses', response],
      ['messages', message],
    ] as const) {
      const path = `/${rollout}/${end}`;
      const shape = async (answer: Response) =>
        [...new Set([...(await answer.text()).matchAll(/^event: (.*)$/gm)].map(([, type]) => type))].join();
      const first = await shape(await ask(path, { ...body, stream: true }));
      expect(await shape(await ask(path, { ...body, stream: true }, { 'x-ratchet-retry': 'true' }))).toBe(first);
    }
  });
});

test('a caller of its own needs no correlation id', async () => {
  const own = { 'x-api-key': proxy.http.key };
  for (const path of ['/responses', '/v1/responses']) {
    expect((await ask(path, response, own)).headers.get('x-gepa-correlation-id')).toMatch(/^cor_/);
  }
  for (const path of ['/messages', '/v1/messages']) {
    expect((await ask(path, message, own)).headers.get('x-gepa-correlation-id')).toMatch(/^cor_/);
  }
});
