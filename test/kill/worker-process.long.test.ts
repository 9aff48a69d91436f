import { expect, test } from '@jest/globals';
import { startIntents } from '../../examples/intents/container.js';
import { firstFree } from '../../src/platform/embedded/ports.js';
import { lives, processMark } from '../../src/platform/embedded/process.js';
import { createEvaluation, ended, readJob, type Evaluation } from '../support/jobs-over-http.js';
import { range } from '../support/range.js';
import { until } from '../support/until.js';
import { treeOfFile } from '../harness/worlds/processes.js';

// `npm start` runs its worker in a process of its own: killed, it is replaced, and the API answers
// meanwhile; it ends with the process that started it.

const seeds = range(0, 200);
const worker = /worker-child\.js/;
const parent = /^\S*node scripts\/run\.mjs/;

const on = treeOfFile(async () => {
  const container = await startIntents({ port: 0 });
  const metricsPort = await firstFree();
  return { container, metricsPort, env: { RATCHET_METRICS_PORT: String(metricsPort) }, close: () => container.close() };
});

const create = () =>
  createEvaluation(on.tree, {
    container_url: on.world.container.url,
    seeds,
    policy: { provider: 'local', model: 'local' },
    max_concurrent: 2,
  });

const hasBegun = (id: string) =>
  until('some rollouts have ended', async () => {
    const { progress } = await readJob<Evaluation>(on.tree, id);
    return progress.completed > 10;
  });

test('a killed worker is replaced, and its job completes', async () => {
  const id = await create();
  await hasBegun(id);
  const killed = on.tree.processOf(worker);
  process.kill(killed, 'SIGKILL');
  expect(['running', 'completed']).toContain((await readJob<Evaluation>(on.tree, id)).status);
  const end = await ended<Evaluation>(on.tree, id);
  expect(end).toMatchObject({ status: 'completed', progress: { completed: seeds.length } });
  expect(on.tree.processOf(worker)).not.toBe(killed);
  // The metrics of both processes, at one port.
  const metrics = await (await fetch(`http://127.0.0.1:${on.world.metricsPort}/metrics`)).text();
  expect(metrics).toMatch(/ratchet_rollouts_total\{outcome="succeeded"\} \d+/);
  expect(metrics).toMatch(/ratchet_http_request_duration_seconds_count\{method="POST"/);
}, 120_000);

test('a frozen worker is not ready, and hides no metrics of the API', async () => {
  const frozen = on.tree.processOf(worker);
  const isReady = async () => (await fetch(`${on.tree.url}/readyz`)).ok;
  const scrape = async () => (await fetch(`http://127.0.0.1:${on.world.metricsPort}/metrics`)).text();
  await until('it is ready', isReady);
  process.kill(frozen, 'SIGSTOP');
  try {
    const texts = await Promise.all(range(0, 15).map(scrape));
    for (const text of texts) expect(text).toContain('ratchet_http_request_duration_seconds_count');
    // Temporal alone would notice it a minute after its last poll.
    await until('it is not ready', async () => !(await isReady()));
    expect(await scrape()).toMatch(/^ratchet_live_workers 0$/m);
  } finally {
    process.kill(frozen, 'SIGCONT');
  }
  await until('it is ready again', isReady);
  await until('it counts again', async () => /^ratchet_live_workers 1$/m.test(await scrape()));
}, 120_000);

test('a worker ends with the process that started it, and the next start continues', async () => {
  const id = await create();
  await hasBegun(id);
  const mark = processMark(on.tree.processOf(worker))!;
  process.kill(on.tree.processOf(parent), 'SIGKILL');
  await until('the worker has ended', () => !lives(mark));
  await on.tree.start();
  expect(await ended(on.tree, id)).toMatchObject({ status: 'completed' });
}, 120_000);
