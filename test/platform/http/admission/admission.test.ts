import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { connect } from 'node:net';
import { gate } from '../../../support/gate.js';
import { range } from '../../../support/range.js';
import { until } from '../../../support/until.js';
import { evaluationRequest, httpOfFile, startHttp, type TestHttp } from '../support.js';

// A full gate: creates whose workflow does not start hold all permits, and the queue.

const http = httpOfFile({ timing: { commandWaitMs: 300, startWaitMs: 60_000, pollMs: 50 } });
const jobs = '/api/v1/offline/jobs';
let url: string;
beforeAll(async () => {
  url = await http.listen();
});

const permits = 16;
let start: () => void;
beforeEach(() => {
  start = holdStarts(http).open;
});
afterAll(() => start());

/** Lets no workflow start until it is opened. */
function holdStarts({ commander }: Pick<TestHttp, 'commander'>) {
  const { opened, open } = gate();
  let held = 0;
  commander.onStart = () => {
    held += 1;
    return opened;
  };
  return { open, hasAllPermits: () => until('all permits are taken', () => held === permits) };
}

/** Takes a permit and place in the queue as others do, and is refused soon after. */
const mistaken = { ...evaluationRequest, policy: { model: 'x', provider: 'nobody' } };

const post = (path: string, body: object, to = { url, key: http.key }) =>
  fetch(to.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${to.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
const get = (path: string) => fetch(url + path, { headers: { authorization: `Bearer ${http.key}` } });

test('what finds no permit is 503 with retry-after, and reads and commands go on', async () => {
  const held = holdStarts(http);
  const first = range(0, permits).map(() => post(jobs, evaluationRequest));
  await held.hasAllPermits();
  const others = range(0, 300 - permits).map(() => post(jobs, mistaken));
  let refused = 0;
  const all = Promise.all(
    [...first, ...others].map(async (answer) => {
      const { status } = await answer;
      if (status === 503) refused += 1;
      return status;
    }),
  );
  await until('the queue is full', () => Promise.resolve(refused > 0));
  const other = await post(jobs, evaluationRequest);
  expect([other.status, other.headers.get('retry-after')]).toEqual([503, '1']);
  expect(other.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  expect(await other.json()).toMatchObject({ code: 'over_capacity', status: 503, instance: jobs });
  expect((await get(jobs)).status).toBe(200);
  expect((await post(`${jobs}/evl_unknown/cancel`, {})).status).toBe(404);
  held.open();
  const statuses = await all;
  expect(new Set(statuses)).toEqual(new Set([201, 422, 503]));
  expect(statuses.filter((status) => status === 201)).toHaveLength(permits);
  expect((await post(jobs, evaluationRequest)).status).toBe(201);
}, 60_000);

test('callers who send slowly, read slowly or go away hold no permit', async () => {
  start();
  const { port } = new URL(url);
  const body = JSON.stringify(evaluationRequest);
  const head = `POST ${jobs} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${http.key}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
  const sockets = range(0, 80).map(() => connect(Number(port), '127.0.0.1').on('error', () => undefined));
  for (const [n, socket] of sockets.entries()) socket.write(n % 2 ? head : head + body);
  for (const socket of sockets.filter((_, n) => n % 4 === 0)) socket.destroy();
  for (const _ of range(0, 40)) expect((await post(jobs, evaluationRequest)).status).toBe(201);
  for (const socket of sockets) socket.destroy();
}, 60_000);

test('a stop waits for no connection whose refusal is sent after it', async () => {
  const own = await startHttp({ timing: { commandWaitMs: 300, startWaitMs: 60_000, pollMs: 50 } });
  const held = holdStarts(own);
  const address = await own.listen();
  let asked = 0;
  own.app.server.on('request', () => (asked += 1));
  const ask = async (body: object) => {
    const answer = await post(jobs, body, { url: address, key: own.key });
    await answer.text();
    return answer.status;
  };
  const first = range(0, permits).map(() => ask(evaluationRequest));
  await held.hasAllPermits();
  const answers = [...first, ...range(0, 300 - permits).map(() => ask(mistaken))];
  await until('all have asked', () => Promise.resolve(asked === 300));
  const closed = own.close();
  held.open();
  await closed;
  expect(await Promise.all(answers)).toContain(503);
}, 60_000);
