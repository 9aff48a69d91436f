import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startFakeContainer, answers, type FakeContainer } from '../support/fakes/container.js';
import { gate } from '../support/gate.js';
import { firstFree } from '../../src/platform/embedded/ports.js';
import { descendants, startTree, type Tree } from '../support/servers/tree.js';
import { startTestService, type TestService } from '../support/service.js';
import { follow } from '../support/follow.js';
import { Api } from '../support/api.js';
import { until } from '../support/until.js';

// `ratchet serve --processes 2`: real processes on one port.

const root = process.cwd();
const { opened, open } = gate();
let worker: TestService;
let container: FakeContainer;
let tree: Tree;
let api: Api;
let metricsUrl: string;

beforeAll(async () => {
  container = await startFakeContainer({
    behave: () => async (call, response) => {
      if (call.seed >= 3) await opened;
      await answers.reward(1)(call, response);
    },
  });
  const [port, metricsPort] = [await firstFree(), await firstFree()];
  const publicUrl = `http://127.0.0.1:${port}`;
  worker = await startTestService({ RATCHET_PUBLIC_URL: publicUrl }, { serve: false, work: true });
  const settings = Object.fromEntries(Object.entries(worker.config.env).filter(([, value]) => value)) as Record<
    string,
    string
  >;
  tree = await startTree(
    { ...settings, PORT: String(port), RATCHET_METRICS_PORT: String(metricsPort) },
    { command: [process.execPath, `${root}/dist/src/cli/ratchet.js`, 'serve', '--processes', '2'] },
  );
  expect(tree.url).toBe(publicUrl);
  api = new Api(publicUrl, worker.apiKey);
  metricsUrl = `http://127.0.0.1:${metricsPort}/metrics`;
}, 120_000);
afterAll(async () => {
  open();
  await tree.kill();
  await worker.stop();
  await container.close();
}, 60_000);

const processes = () => descendants(tree.process.pid!).slice(1);
/** Of a connection of its own, so that the processes take turns. */
const live = () => fetch(`${tree.url}/livez`, { headers: { connection: 'close' } }).then(({ status }) => status);

/** kill -9 of a process; resolves once another one has begun to start in its place. */
async function replaced(): Promise<void> {
  const [first] = processes();
  process.kill(first!, 'SIGKILL');
  await until('there are two again', () => Promise.resolve(processes().length === 2 && !processes().includes(first!)));
}

/** Answers to `/livez` so far, by all processes that live. */
async function counted(): Promise<number> {
  const text = await (await fetch(metricsUrl)).text();
  return Number(/^ratchet_http_request_duration_seconds_count\{[^}]*route="\/livez"[^}]*\} (\d+)$/m.exec(text)?.[1]);
}

test('both answer on one port; the parent gives the metrics of both', async () => {
  expect(processes()).toHaveLength(2);
  expect(await Promise.all(Array.from({ length: 20 }, live))).toEqual(Array.from({ length: 20 }, () => 200));
  // One process alone has fewer.
  await until('all are counted', async () => (await counted()) === 20);
});

test('both refuse a revoked key within five seconds', async () => {
  const { key, key_id: id } = await api.call<{ key: string; key_id: string }>('POST', '/api/v1/admin/keys', {
    name: 'revoked',
    scopes: ['read'],
  });
  const headers = { authorization: `Bearer ${key}`, connection: 'close' };
  const ask = async () => (await fetch(`${tree.url}/api/v1/online/sessions`, { headers })).status;
  const asked = async () => new Set(await Promise.all(Array.from({ length: 20 }, ask)));
  // Now both have it in their caches.
  expect(await asked()).toEqual(new Set([200]));
  const as = { authorization: `Bearer ${worker.apiKey}` };
  await fetch(`${tree.url}/api/v1/admin/keys/${id}`, { method: 'DELETE', headers: as });
  await until('no process accepts it', async () => !(await asked()).has(200), 6);
  expect(await asked()).toEqual(new Set([401]));
});

test('a limit of requests is that of both together', async () => {
  const limit = 64;
  const admitted = async () => {
    const made = await api.call<{ key: string; key_id: string }>('POST', '/api/v1/admin/keys', {
      name: 'limited',
      scopes: ['read'],
    });
    await api.call('PUT', `/api/v1/admin/keys/${made.key_id}/limits`, { requests_per_minute: limit });
    const headers = { 'x-api-key': made.key, connection: 'close' };
    const ask = async () => (await fetch(`${tree.url}/api/v1/online/sessions`, { headers })).status;
    const statuses = await Promise.all(Array.from({ length: 2 * limit }, ask));
    return statuses.filter((status) => status === 200).length;
  };
  const minute = async () => (await worker.query<{ m: number }>('select extract(minute from now())::int as m'))[0]!.m;
  const count = await until('it happens within one minute', async () => {
    const before = await minute();
    const found = await admitted();
    return (await minute()) === before && found;
  });
  expect(count).toBeGreaterThanOrEqual(limit - limit / 8);
  expect(count).toBeLessThanOrEqual(limit);
});

test('streams survive the end of one; another takes its place', async () => {
  const { job_id: id } = await api.call<{ job_id: string }>('POST', '/api/v1/offline/jobs', {
    container_url: container.url,
    app_id: 'a',
    env_name: 'e',
    seeds: [0, 1, 2, 3, 4, 5],
    max_concurrent: 6,
    policy: { provider: 'local', model: 'local' },
  });
  const path = `/api/v1/offline/jobs/${id}/events`;
  const readers = Array.from({ length: 6 }, () => follow(() => [tree.url], 0, path, worker.apiKey));
  await until(
    'the job has begun',
    async () => (await worker.query('select from events where job_id = $1', [id])).length >= 1,
  );
  await replaced();
  open();
  for (const events of await Promise.all(readers)) {
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1));
    expect(events.at(-1)!.type).toBe('eval.policy.job.completed');
  }
  await until('the new one answers too', async () => (await live()) === 200);
});

test('a stop ends all processes, though some end before it tells them', async () => {
  const gone = once(tree.process, 'exit');
  // One that is starting ends so by the signal of a terminal.
  for (const pid of processes()) process.kill(pid, 'SIGKILL');
  await tree.stop();
  expect((await gone)[0]).toBe(0);
  await expect(live()).rejects.toThrow('fetch failed');
});
