import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readStream } from '../../../src/models/client/answers/streamed-text.js';
import { redactedStream } from '../../../src/models/client/answers/redacted-stream.js';
import { Redactor } from '../../../src/clients/net/redact.js';
import { createProviders, type Providers } from '../../../src/models/client/providers.js';
import { startFakeModel, type FakeModel, type ModelReply } from '../../support/fakes/model.js';

const key = 'sk-canary-4a7f/2b+9c';
const signal = new AbortController().signal;
const messages = [{ role: 'user', content: 'Hello there' }];
let model: FakeModel;
let providers: Providers;

beforeAll(async () => {
  model = await startFakeModel();
  providers = createProviders({ OPENAI_BASE_URL: model.url, OPENAI_API_KEY: key });
});
afterAll(async () => {
  await providers.close();
  await model.close();
});

async function send(reply: ModelReply, stream = false) {
  model.reply(() => reply);
  return providers.send('openai', { model: 'm', messages, stream }, signal);
}

/** Raw events with these pieces of content. */
function events(pieces: string[], more: Record<string, unknown> = {}): string {
  const chunks = [
    ...pieces.map((content) => ({ choices: [{ index: 0, delta: { content }, finish_reason: null, ...more }] })),
    { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
  ];
  return `${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`;
}

async function streamed(raw: string) {
  const headers = { 'content-type': 'text/event-stream' };
  const answer = await send({ raw, headers }, true);
  return text(answer.stream());
}

const contentOf = async (raw: string) => {
  let content = '';
  await readStream([Buffer.from(raw)] as unknown as AsyncIterable<Uint8Array>, (piece) => (content += piece));
  return content;
};

describe('the key of a provider', () => {
  test.each([200, 400, 401, 500])('is hidden in an answer with %d, and its headers', async (status) => {
    const raw = JSON.stringify({ error: { message: `bad ${key}`, [key]: Buffer.from(key).toString('base64') } });
    const answer = await send({ raw, status, headers: { 'retry-after': key } });
    expect(answer.retryAfter).toBeNull();
    // The last character of base64 tells two bits of the key.
    const encoded = expect.stringMatching(/^\*\*\*.?=*$/) as unknown;
    expect(JSON.parse((await answer.read()).toString())).toEqual({ error: { message: 'bad ***', '***': encoded } });
  });

  test('is hidden in a stream, however it is split over events', async () => {
    for (let at = 1; at < key.length; at += 1) {
      const raw = await streamed(events(['It is ', key.slice(0, at), key.slice(at), '. Yes']));
      const shown = Math.min(at, key.length) < 4 ? key.slice(0, at) : '';
      expect(await contentOf(raw)).toBe(`It is ${shown}***. Yes`);
    }
    const spelled = await contentOf(await streamed(events([...`It is ${key}. Yes`], { logprobs: { content: [] } })));
    expect(spelled).toMatch(/^It is .{0,3}\*\*\*\. Yes$/);
  });

  test.each([
    ['base64', Buffer.from(`user:${key}`).toString('base64')],
    ['a URL', encodeURIComponent(key)],
    ['JSON with escaped slashes', JSON.stringify(key).replaceAll('/', '\\/')],
    ['escapes', [...key].map((char) => `\\u00${char.charCodeAt(0).toString(16)}`).join('')],
  ])('is hidden in a stream as %s, in pieces of five characters', async (_, form) => {
    const content = await contentOf(await streamed(events([...`It is ${form}. Yes`.match(/.{1,5}/g)!])));
    expect(content).toContain('***');
    expect(content).not.toContain(form.slice(12, -4));
  });

  test('is hidden in arguments of tool calls and in an error event', async () => {
    const call = (part: string) => ({
      choices: [{ index: 0, delta: { tool_calls: [{ index: 1, function: { arguments: part } }] } }],
    });
    const chunks = [call(`{"a":"${key.slice(0, 9)}`), call(`${key.slice(9)}"}`), { error: { message: key } }];
    const raw = await streamed(chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join(''));
    expect(raw).not.toContain(key.slice(9));
    expect(raw.match(/\*\*\*/g)).toHaveLength(2);
  });
});

test('an organization sees none of its own key, whole or streamed', async () => {
  const own = 'sk-canary-of-the-organization';
  const mine = createProviders(
    { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: key },
    { readOwnKey: () => Promise.resolve(own) },
  );
  const ask = async (reply: ModelReply, stream: boolean) => {
    model.reply(() => reply);
    return mine.forPayer({ orgId: 'default', keyId: null }).send('openai', { model: 'm', messages, stream }, signal);
  };
  const whole = await ask({ raw: JSON.stringify({ choices: [own] }) }, false);
  expect(String(await whole.read())).toBe('{"choices":["***"]}');
  const headers = { 'content-type': 'text/event-stream' };
  const streamed = await ask({ raw: events([own.slice(0, 9), own.slice(9)]), headers }, true);
  expect(await contentOf(await text(streamed.stream()))).toBe('***');
  await mine.close();
});

describe('a stream', () => {
  test('is held back for the length of a key only, and not by other fields', async () => {
    const delta = (fields: object) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: fields }] })}\n\n`;
    async function* bytes() {
      yield Buffer.from(delta({ content: 'Hello there' }));
      yield Buffer.from(delta({ content: key.slice(0, 6) }));
      for (let n = 0; n < 2_000; n += 1) yield Buffer.from(delta({ reasoning: 'on and on' }));
    }
    const arrivals: number[] = [];
    let sent = 0;
    const source = async function* () {
      for await (const part of bytes()) {
        sent += 1;
        yield part;
      }
    };
    for await (const part of redactedStream(source(), new Redactor([key]))) {
      if (part.length > 0) arrivals.push(sent);
    }
    expect(arrivals.slice(0, 2)).toEqual([1, 1_002]);
  });

  test('of many secrets and open fields is redacted in linear time', async () => {
    const choices = Array.from({ length: 3_000 }, (_, index) => ({ index, delta: { content: key.slice(0, 9) } }));
    const ends = choices.map(({ index }) => ({ index, delta: {}, finish_reason: 'stop' }));
    const pieces = [key.repeat(20_000), ...Array.from({ length: 3_000 }, () => key)];
    const raw = `data: ${JSON.stringify({ choices })}\n\n${events(pieces)}data: ${JSON.stringify({ choices: ends })}\n\n`;
    const redacted = await text(
      redactedStream([Buffer.from(raw)] as unknown as AsyncIterable<Uint8Array>, new Redactor([key])),
    );
    expect(redacted.includes(key)).toBe(false);
    expect(redacted.split('***')).toHaveLength(23_001);
  });
});

test('a whole answer is counted as it arrives', async () => {
  const raw = JSON.stringify({ choices: ['x'.repeat(2_000_000)] });
  const answer = await send({ raw });
  const parts: number[] = [];
  await answer.read((bytes) => parts.push(bytes));
  expect(parts.length).toBeGreaterThan(1);
  expect(parts.reduce((sum, bytes) => sum + bytes, 0)).toBe(raw.length);
  const refused = await send({ raw });
  const most = () => {
    throw new Error('too many');
  };
  await expect(refused.read(most)).rejects.toThrow('too many');
});

test('no logprobs spell the key', async () => {
  const logprobs = { content: [...key].map((token) => ({ token })) };
  const raw = JSON.stringify({ choices: [{ message: { content: key }, logprobs }] });
  const { choices } = JSON.parse(String(await (await send({ raw })).read())) as { choices: unknown };
  expect(choices).toEqual([{ message: { content: '***' } }]);
});

describe('an answer without the key', () => {
  test('passes unchanged as a stream, also where it looks like the key for a while', async () => {
    const raw = events(['sk-c', 'anary', ' is a bird, ', 'sk-canary-4a7f/'], { logprobs: null });
    expect(await streamed(raw)).toBe(raw);
    const comment = `: waiting\n\n${events(['sk-canary'])}`;
    expect(await streamed(comment)).toBe(comment);
  });

  test('passes unchanged as a whole', async () => {
    const raw = '{ "choices": [ 1e400, "%73k \\u0041" ] }';
    expect((await (await send({ raw })).read()).toString()).toBe(raw);
  });
});
