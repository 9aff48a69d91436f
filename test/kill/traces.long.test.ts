import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Api } from '../support/api.js';
import { startFakeCollector, type CollectedSpan, type FakeCollector } from '../support/fakes/collector.js';
import { createSession, ended, type Session } from '../support/jobs-over-http.js';
import { startCluster, type Cluster } from '../support/servers/cluster.js';
import { treeOf } from '../support/span-tree.js';
import { startTree, type Tree } from '../support/servers/tree.js';
import { rowsBaseline, startRowsWorld, type RowsWorld } from '../support/worlds/rows.js';
import { until } from '../support/until.js';

// A worker is killed in the middle of a session, and another one goes on: the trace is whole.

let cluster: Cluster;
let collector: FakeCollector;
let world: RowsWorld;
let api: Tree;
const workers: Tree[] = [];

beforeAll(async () => {
  [cluster, collector, world] = await Promise.all([startCluster(), startFakeCollector(), startRowsWorld()]);
  api = await startTree(settings(), { command: 'serve' });
}, 90_000);
afterAll(async () => {
  await Promise.all([api, ...workers].map((tree) => tree.kill()));
  await Promise.all([world.close(), collector.close(), cluster.close()]);
}, 60_000);

const settings = (more: Record<string, string> = {}) => ({
  ...cluster.env,
  ...world.env,
  PORT: '0',
  OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  OTEL_BSP_SCHEDULE_DELAY: '50',
  ...more,
});

async function startWorker(more: Record<string, string> = {}): Promise<Tree> {
  const worker = await startTree(settings({ RATCHET_PUBLIC_URL: api.url, ...more }), { command: 'worker' });
  workers.push(worker);
  return worker;
}

test('the tree is whole after a kill, and content is sent by the worker that may', async () => {
  const service = { api: new Api(api.url, cluster.apiKey) };
  const first = await startWorker();
  const id = await createSession(service, {
    ...world.job(40),
    gepa: { population_size: 2, generations: 12 },
    budget: { max_rollouts: 300 },
    max_concurrent: 2,
  });
  await until('the worker is in the middle', () => world.policyCalls().length > 30);
  await first.kill();
  expect(collector.bodies.join()).not.toContain(rowsBaseline);
  await startWorker({ OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true' });
  const seen = await ended<Session>(service, id);
  expect(seen).toMatchObject({ status: 'completed', best_reward: 1 });

  const { tree } = await treeOf(collector, id);
  const rollouts = tree.named('rollout');
  expect(rollouts).toHaveLength(seen.progress.rollouts_completed);
  expect(rollouts.some(({ attributes }) => attributes['ratchet.rollout.tries'] === 2)).toBe(true);
  expect(new Set(tree.spans.map(({ spanId }) => spanId)).size).toBe(tree.spans.length);
  expect(tree.orphans()).toEqual([]);

  const calls = tree.modelCalls('policy');
  const hasContent = ({ attributes }: CollectedSpan) => 'gen_ai.input.messages' in attributes;
  expect(calls.some(hasContent)).toBe(true);
  expect(calls.some((call) => !hasContent(call))).toBe(true);
  const shown = calls.find(hasContent)!;
  expect(shown.attributes['gen_ai.input.messages']).toContain('rule');
  expect(shown.attributes['gen_ai.output.messages']).toContain('"role":"assistant"');
  expect(collector.bodies.join()).not.toContain(cluster.apiKey);
}, 120_000);
