import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startIntents } from '../../examples/intents/container.js';
import { firstFree } from '../../src/embedded/ports.js';
import { lives, processMark } from '../../src/embedded/process.js';
import { until } from '../support/until.js';
import { RestartableTree } from '../harness/worlds/processes.js';

// `npm start` runs its worker in a process of its own: killed, it is replaced, and the API answers
// meanwhile; it ends with the process that started it.

const seeds = Array.from({ length: 200 }, (_, seed) => seed);
const worker = /worker-child\.js/;
const parent = /^\S*node scripts\/run\.mjs/;

let container: Awaited<ReturnType<typeof startIntents>>;
let tree: RestartableTree;
let metricsPort: number;

beforeAll(async () => {
  container = await startIntents({ port: 0 });
  metricsPort = await firstFree();
  tree = new RestartableTree({ RATCHET_METRICS_PORT: String(metricsPort) });
  await tree.start();
}, 120_000);
afterAll(async () => {
  await tree.close();
  await container.close();
}, 60_000);

interface Evaluation {
  status: string;
  progress: { completed: number };
}

async function createEvaluation(): Promise<string> {
  const { job_id: id } = await tree.api.call<{ job_id: string }>('POST', '/api/v1/offline/jobs', {
    container_url: container.url,
    app_id: 'kill',
    env_name: 'test',
    seeds,
    policy: { provider: 'local', model: 'local' },
    max_concurrent: 2,
  });
  return `/api/v1/offline/jobs/${id}`;
}

const endOf = (path: string) => tree.api.client.evaluations.handle(path.split('/').at(-1)!).wait();

const hasBegun = (path: string) =>
  until('some rollouts have ended', async () => {
    const { progress } = await tree.api.call<Evaluation>('GET', path);
    return progress.completed > 10;
  });

test('a killed worker is replaced, and its job completes', async () => {
  const path = await createEvaluation();
  await hasBegun(path);
  const killed = tree.processOf(worker);
  process.kill(killed, 'SIGKILL');
  expect(['running', 'completed']).toContain((await tree.api.call<Evaluation>('GET', path)).status);
  const ended = await endOf(path);
  expect(ended.status).toBe('completed');
  expect(ended.progress.completed).toBe(seeds.length);
  expect(tree.processOf(worker)).not.toBe(killed);
  // The metrics of both processes, at one port.
  const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  expect(metrics).toMatch(/ratchet_rollouts_total\{outcome="succeeded"\} \d+/);
  expect(metrics).toMatch(/ratchet_http_request_duration_seconds_count\{method="POST"/);
}, 120_000);

test('a worker ends with the process that started it, and the next start continues', async () => {
  const path = await createEvaluation();
  await hasBegun(path);
  const mark = processMark(tree.processOf(worker))!;
  process.kill(tree.processOf(parent), 'SIGKILL');
  await until('the worker has ended', () => !lives(mark));
  await tree.start();
  expect((await endOf(path)).status).toBe('completed');
}, 120_000);
