import { describe, expect, test } from '@jest/globals';
import { Readable } from 'node:stream';
import { createBytesInFlight } from '../../../src/http/inference/bytes-in-flight.js';
import { until } from '../../support/until.js';
import { proxyOfFile, question } from './support.js';

const maxBytes = 200_000;
const bytes = createBytesInFlight(maxBytes);
const proxy = proxyOfFile({ bytes });
const large = { messages: [{ role: 'user', content: 'x'.repeat(150_000) }] };
const isFree = () => until('no bytes held', () => bytes.held() === 0);
const refusal = async (answer: Response) => [
  answer.status,
  answer.headers.get('retry-after'),
  ((await answer.json()) as { error: { code: string } }).error.code,
];

describe('the bytes that calls hold', () => {
  test('refuse a request beyond the bound until another one has ended', async () => {
    const job = await proxy.newSession();
    let go: () => void = () => undefined;
    proxy.model.reply(async () => {
      await new Promise<void>((resolve) => (go = resolve));
      return { text: 'Yes' };
    });
    const asked = proxy.model.requests.length;
    const first = proxy.post(job, '/a', large);
    await until('the first call', () => proxy.model.requests.length > asked);
    expect(bytes.held()).toBeGreaterThan(150_000);
    expect(await refusal(await proxy.post(job, '/b', large))).toEqual([503, '1', 'over_capacity']);
    expect(proxy.model.requests.length).toBe(asked + 1);
    go();
    expect((await first).status).toBe(200);
    await isFree();
    proxy.model.reply(() => ({ text: 'Yes' }));
    expect((await proxy.post(job, '/b', large)).status).toBe(200);
    await isFree();
  });

  test('end a call whose answer passes the bound, and keep it on record', async () => {
    const job = await proxy.newSession();
    proxy.model.reply(() => ({ text: 'x'.repeat(maxBytes) }));
    expect(await refusal(await proxy.post(job, '/whole'))).toEqual([503, '1', 'over_capacity']);
    await isFree();
    proxy.model.reply(() => ({ text: 'many words '.repeat(2_000) }));
    const stream = await (await proxy.post(job, '/streamed', { ...question, stream: true })).text();
    expect(stream).toContain('"code":"over_capacity"');
    await isFree();
    expect(await proxy.calls(job)).toMatchObject([
      { http_status: 503, cost_usd: null, response: { error: { code: 'over_capacity' } } },
      { http_status: 502, response: { error: { code: 'over_capacity' } } },
    ]);
  });

  test('count a request without a content-length as it arrives', async () => {
    const job = await proxy.newSession();
    const send = (content: string) =>
      fetch(`${proxy.url}/api/gepa/v1/${job.jobId}/chunked/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': proxy.http.key },
        body: Readable.toWeb(Readable.from([JSON.stringify({ messages: [{ role: 'user', content }] })])) as never,
        duplex: 'half',
      } as RequestInit);
    proxy.model.reply(() => ({}));
    expect((await send('short')).status).toBe(200);
    expect((await send('x'.repeat(maxBytes))).status).toBe(503);
    await isFree();
  });
});
