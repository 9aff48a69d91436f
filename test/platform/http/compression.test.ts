import { beforeAll, describe, expect, test } from '@jest/globals';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { brotliDecompressSync, constants, createGunzip, gunzipSync } from 'node:zlib';
import { generationComplete } from '../../../src/core/events/search.js';
import { appendEvents, lockJob } from '../../../src/jobs/store/events.js';
import { until } from '../../support/until.js';
import { proxyOfFile, question } from '../../models/routes/support.js';
import { createSession, finish, httpOfFile } from './support.js';

const http = httpOfFile({ timing: { pollMs: 5_000, heartbeatMs: 60_000, stallMs: 500 } });
const proxy = proxyOfFile();
const sessions = '/api/v1/online/sessions';
const gzip = { 'accept-encoding': 'gzip' };
let base: string;
beforeAll(async () => {
  base = await http.listen();
});

async function send(url: string, headers: Record<string, string> = {}, payload?: object) {
  const method = payload ? 'POST' : 'GET';
  const auth = { authorization: `Bearer ${http.key}` };
  return http.app.inject({ method, url, headers: { ...auth, ...headers }, ...(payload && { payload }) });
}

/** A generation has one event. */
let generation = 0;
async function publish(jobId: string, message: string): Promise<void> {
  const job = { orgId: 'default', jobId };
  await http.db.org('default', async (tx) => {
    await lockJob(tx, job);
    const done = { generation: (generation += 1), bestReward: 0.5, bestCandidate: 0 };
    const event = generationComplete(jobId, done, { rolloutsCompleted: 1, costUsd: null });
    await appendEvents(tx, job, [{ ...event, message }]);
  });
}

/** The events of a job, over a connection whose bytes are not decompressed. */
async function openEvents(jobId: string, headers: Record<string, string>): Promise<IncomingMessage> {
  const authorization = `Bearer ${http.key}`;
  const request = get(`${base}${sessions}/${jobId}/events`, {
    agent: false,
    headers: { authorization, accept: 'text/event-stream', ...headers },
  });
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  return answer;
}

describe('an answer', () => {
  test.each([
    ['gzip, deflate, br', 'br', brotliDecompressSync],
    ['gzip, deflate', 'gzip', gunzipSync],
    ['gzip;q=0, br;q=0.5', 'br', brotliDecompressSync],
  ])('for a client that accepts %p is compressed as %s', async (accepted, encoding, decompress) => {
    for (let n = 0; n < 3; n += 1) await createSession(http);
    const page = await send('/', { accept: 'text/html' });
    const [, script] = /src="(\/assets\/[^"]+)"/.exec(page.body)!;
    for (const path of [script!, '/openapi.json', sessions]) {
      const plain = await send(path);
      const zipped = await send(path, { 'accept-encoding': accepted });
      expect([path, plain.headers['content-encoding']]).toEqual([path, undefined]);
      expect([path, zipped.headers['content-encoding']]).toEqual([path, encoding]);
      expect(zipped.headers['vary']).toContain('accept-encoding');
      expect(zipped.rawPayload.length).toBeLessThan(plain.rawPayload.length / 2);
      expect(decompress(zipped.rawPayload).equals(plain.rawPayload)).toBe(true);
    }
  });

  test('of a few bytes stays as it is', async () => {
    expect((await send('/livez', gzip)).headers['content-encoding']).toBeUndefined();
  });

  test('that is replayed under an Idempotency-Key is the first one', async () => {
    const headers = { ...gzip, 'idempotency-key': randomUUID() };
    const url = `${sessions}/${await createSession(http)}/clone`;
    const [first, second] = [await send(url, headers, {}), await send(url, headers, {})];
    const bodyOf = ({ headers: { 'content-encoding': encoding }, rawPayload }: typeof first) =>
      JSON.parse(String(encoding === 'gzip' ? gunzipSync(rawPayload) : rawPayload)) as object;
    expect(first.statusCode).toBeLessThan(300);
    expect([second.headers['idempotency-replayed'], bodyOf(second)]).toEqual(['true', bodyOf(first)]);
  });
});

describe('a stream of events', () => {
  test('is compressed, and each event arrives at once', async () => {
    const id = await createSession(http);
    const answer = await openEvents(id, gzip);
    expect(answer.headers['content-encoding']).toBe('gzip');
    let [bytes, text] = [0, ''];
    const unzip = answer.on('data', (chunk: Buffer) => (bytes += chunk.length)).pipe(createGunzip());
    unzip.on('data', (chunk: Buffer) => (text += chunk.toString()));
    await until('the first line is there', () => text === 'retry: 2000\n');
    for (let n = 1; n <= 20; n += 1) {
      await publish(id, `event ${n} ${'of a long message '.repeat(20)}`);
      // No later event pushes it out.
      await until('the event is there', () => text.includes(`event ${n} `) && text.endsWith('\n\n'));
    }
    const ended = once(unzip, 'end');
    await http.db.org('default', (tx) => finish(tx, { orgId: 'default', jobId: id }, 'completed'));
    await ended;
    expect(text).toContain('event: job_complete\n');
    expect(bytes).toBeLessThan(text.length / 3);
  });

  test('stays as it is for a client that accepts no compression', async () => {
    const id = await createSession(http);
    const answer = await openEvents(id, { 'accept-encoding': 'identity' });
    expect(answer.headers['content-encoding']).toBeUndefined();
    const [first] = (await once(answer, 'data')) as [Buffer];
    expect(first.toString()).toMatch(/^retry: 2000\n(?!\n)/);
    answer.destroy();
  });

  test('of a reader that stops reading is dropped', async () => {
    const id = await createSession(http);
    for (let n = 0; n < 30; n += 1) await publish(id, randomBytes(500_000).toString('base64'));
    const accepted = once(http.app.server, 'connection') as Promise<[Socket]>;
    const socket = connect(Number(new URL(base).port), '127.0.0.1');
    const [served] = await accepted;
    socket.write(
      `GET ${sessions}/${id}/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${http.key}\r\nAccept: text/event-stream\r\nAccept-Encoding: gzip\r\n\r\n`,
    );
    await until('the server has dropped it', () => served.destroyed, 20);
    socket.destroy();
  });

  test('that breaks off leaves what was sent readable', async () => {
    const id = await createSession(http);
    await publish(id, 'the only event');
    const chunks: Buffer[] = [];
    const answer = await openEvents(id, gzip);
    answer.on('data', (chunk: Buffer) => chunks.push(chunk));
    const sent = () => gunzipSync(Buffer.concat(chunks), { finishFlush: constants.Z_SYNC_FLUSH }).toString();
    await until('the event is there', () => sent().includes('the only event'));
    answer.destroy();
  });
});

test.each([true, false])('an answer of a model stays as it is (stream: %p)', async (stream) => {
  const job = await proxy.newSession();
  const text = 'word '.repeat(1_000);
  proxy.model.reply(() => ({ text }));
  const answer = await proxy.post(job, '/a', { ...question, stream }, { 'accept-encoding': 'gzip, br' });
  expect([answer.status, answer.headers.get('content-encoding')]).toEqual([200, null]);
  expect((await answer.text()).length).toBeGreaterThan(text.length);
});
