import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { startFakeCollector, type FakeCollector } from '../support/fakes/collector.js';
import {
  createGraphJob,
  createSession,
  ended,
  pathOf,
  type GraphJob,
  type Session,
} from '../support/jobs-over-http.js';
import { startTestService, type TestService } from '../support/service.js';
import { treeOf } from '../support/span-tree.js';
import { startGraphWorld, type GraphWorld } from '../support/worlds/graph.js';
import { startRowsWorld, type RowsWorld } from '../support/worlds/rows.js';

// Every kind of search has a whole tree, also where its proposer fails and after an extension.

let collector: FakeCollector;
let rows: RowsWorld;
let graphs: GraphWorld;
let service: TestService;
const before = { ...process.env };

beforeAll(async () => {
  [collector, rows, graphs] = await Promise.all([startFakeCollector(), startRowsWorld(), startGraphWorld()]);
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '50' };
  Object.assign(process.env, env);
  service = await startTestService({ ...rows.env, OPENAI_BASE_URL: graphs.model.url, ...env });
}, 60_000);
afterEach(() => rows.reset());
afterAll(async () => {
  await service.stop();
  await Promise.all([rows.close(), graphs.close(), collector.close()]);
  process.env = { ...before };
}, 60_000);

const gepa = { population_size: 2, generations: 12 };

test('a graph job', async () => {
  const more = { policy_provider: 'openai', proposer: { model: 'writer', provider: 'openai' } };
  const id = await createGraphJob(service, graphs.job(9, more));
  expect(await ended<GraphJob>(service, id)).toMatchObject({ status: 'completed' });
  const { tree } = await treeOf(collector, id);
  const [call] = tree.modelCalls('step');
  expect(tree.pathOf(call!)).toEqual([
    'chat task',
    'rollout',
    expect.stringMatching(/^candidate/),
    expect.stringMatching(/^generation/),
    'graph',
  ]);
}, 90_000);

test('a MIPRO session', async () => {
  const mipro = { num_candidates: 4, num_trials: 6, minibatch_size: 6 };
  const id = await createSession(service, { ...rows.job(40), algorithm: 'mipro', mipro });
  expect(await ended<Session>(service, id)).toMatchObject({ status: 'completed' });
  const { job, tree } = await treeOf(collector, id);
  expect(job.attributes['ratchet.algorithm']).toBe('mipro');
  expect(tree.modelCalls('policy').length).toBeGreaterThan(0);
}, 90_000);

test('a session whose proposer never answers', async () => {
  rows.model.reply((request) =>
    request.body.model === 'proposer' ? { status: 400, raw: '{"error":{"message":"no"}}' } : rows.answer(request),
  );
  const id = await createSession(service, { ...rows.job(20), gepa: { ...gepa, generations: 4 } });
  await ended<Session>(service, id);
  const { tree } = await treeOf(collector, id);
  const paths = tree.modelCalls('proposer').map((call) => tree.pathOf(call).join(' < '));
  // Generation 1 tests rows as turns. It gives up after two generations without a proposal.
  expect(new Set(paths)).toEqual(new Set([2, 3].map((n) => `chat proposer < generation ${n} < session`)));
}, 90_000);

test('both runs of an extended session, in one trace', async () => {
  const id = await createSession(service, { ...rows.job(40), gepa, budget: { max_rollouts: 60 } });
  await ended<Session>(service, id);
  const first = await treeOf(collector, id);
  const known = first.tree.named('rollout').length;
  await service.api.call('POST', `${pathOf(id)}/extend`, { max_rollouts: 120 });
  const seen = await ended<Session>(service, id);
  const { job, tree } = await treeOf(collector, id, { run: 2 });
  expect(job.traceId).toBe(first.job.traceId);
  expect(job.spanId).not.toBe(first.job.spanId);
  const rollouts = tree.named('rollout').map(({ spanId }) => spanId);
  expect(rollouts.length).toBeGreaterThan(known);
  expect(rollouts).toHaveLength(seen.progress.rollouts_completed);
  expect(new Set(rollouts).size).toBe(rollouts.length);
}, 90_000);
