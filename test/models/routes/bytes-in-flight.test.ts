import { describe, expect, test } from '@jest/globals';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { createBytesInFlight } from '../../../src/models/routes/bytes-in-flight.js';
import { gate } from '../../support/gate.js';
import { until } from '../../support/until.js';
import { deploymentsOfFile } from '../../kinds/deployment/routes/support.js';
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
    proxy.model.reply(() => ({ text: 'short' }));
    expect((await send('short')).status).toBe(200);
    const asked = proxy.model.requests.length;
    expect((await send('x'.repeat(maxBytes))).status).toBe(503);
    expect(proxy.model.requests.length).toBe(asked);
    await isFree();
  });
});

describe('the bytes that calls of a deployment hold', () => {
  const shared = createBytesInFlight(maxBytes);
  const deployments = deploymentsOfFile({ bytes: shared });
  const isReleased = () => until('no bytes held', () => shared.held() === 0);

  test('refuse a request beyond the bound until another one has ended', async () => {
    await deployments.deploy('large');
    const held = gate();
    deployments.model.reply(async () => {
      await held.opened;
      return { text: 'Yes' };
    });
    const first = deployments.ask('large', large);
    await until('the first call', () => deployments.model.requests.length > 0);
    expect(shared.held()).toBeGreaterThan(150_000);
    expect(await refusal(await deployments.ask('large', large))).toEqual([503, '1', 'over_capacity']);
    held.open();
    expect((await first).status).toBe(200);
    await isReleased();
    expect((await deployments.ask('large', large)).status).toBe(200);
    await isReleased();
  });

  test('end a call whose answer passes the bound, which counts as an error', async () => {
    const id = await deployments.deploy('long');
    deployments.model.reply(() => ({ text: 'x'.repeat(maxBytes) }));
    expect(await refusal(await deployments.ask('long', question))).toEqual([503, '1', 'over_capacity']);
    await isReleased();
    deployments.model.reply(() => ({ text: 'many words '.repeat(2_000) }));
    const stream = await deployments.ask('long', { ...question, stream: true });
    expect(await stream.text()).toContain('"code":"over_capacity"');
    await isReleased();
    const { body } = await deployments.http.call('GET', `/api/harbor/deployments/${id}/stats`);
    expect(body).toMatchObject({ requests: 2, errors: 2 });
  });
});

describe('a slow body', () => {
  const slow = createBytesInFlight(maxBytes, { bodyMs: 50 });
  const slowProxy = proxyOfFile({ bytes: slow });

  /** Sends the first bytes of a longer body and nothing more. Resolves with the answer. */
  async function begin(path: string, sent: string, length: string): Promise<string> {
    const { port } = new URL(slowProxy.url);
    const socket = connect(Number(port), '127.0.0.1');
    const head = `POST ${path} HTTP/1.1\r\nhost: localhost\r\nx-api-key: ${slowProxy.http.key}\r\n`;
    socket.write(`${head}content-type: application/json\r\n${length}\r\n\r\n${sent}`);
    const answer = await text(socket);
    socket.destroy();
    return answer;
  }

  test.each([
    ['with a length', 'content-length: 150000', '{"messages":'],
    ['in chunks', 'transfer-encoding: chunked', 'c\r\n{"messages":\r\n'],
  ])('%s is 408 after its time, and holds only what has arrived', async (_how, length, sent) => {
    const job = await slowProxy.newSession();
    const answer = begin(`/api/gepa/v1/${job.jobId}/a/chat/completions`, sent, length);
    await until('the first bytes', () => slow.held() > 0);
    expect(slow.held()).toBe(12);
    expect(await answer).toMatch(/^HTTP\/1\.1 408 [^]*"code":"body_timeout"/);
    await until('no bytes held', () => slow.held() === 0);
  });
});

describe('a recorded answer', () => {
  const narrow = createBytesInFlight(10_000);
  const narrowProxy = proxyOfFile({ bytes: narrow });

  test.each([false, true])('counts when it is replayed (stream: %s), and stays for a retry', async (stream) => {
    const job = await narrowProxy.newSession();
    const rollout = await narrowProxy.newRollout(job, 0, 0);
    const body = { ...question, stream };
    narrowProxy.model.reply(() => ({ text: 'x'.repeat(7_000), sliceBytes: 9_000 }));
    expect((await narrowProxy.post(job, `/${rollout}`, body)).status).toBe(200);
    await until('no bytes held', () => narrow.held() === 0);
    await narrowProxy.nextAttempt(job, rollout);
    // Another call holds most of the bound meanwhile.
    const held = gate();
    narrowProxy.model.reply(async () => {
      await held.opened;
      return {};
    });
    const other = narrowProxy.post(job, '/other', { messages: [{ role: 'user', content: 'x'.repeat(5_000) }] });
    await until('the other call', () => narrow.held() > 5_000);
    expect(await refusal(await narrowProxy.post(job, `/${rollout}`, body))).toEqual([503, '1', 'over_capacity']);
    held.open();
    await other;
    await until('no bytes held', () => narrow.held() === 0);
    const asked = narrowProxy.model.requests.length;
    const replayed = await narrowProxy.post(job, `/${rollout}`, body);
    expect([replayed.status, await replayed.text()]).toEqual([200, expect.stringContaining('xxx')]);
    expect(narrowProxy.model.requests.length).toBe(asked);
    await until('no bytes held', () => narrow.held() === 0);
  });
});
