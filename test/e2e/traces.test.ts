import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ask, built, deploy, saying } from '../support/deployments-over-http.js';
import { startFakeCollector, type CollectedSpan, type FakeCollector } from '../support/fakes/collector.js';
import { answers, startFakeContainer, type FakeContainer } from '../support/fakes/container.js';
import {
  createEvaluation,
  ended,
  evaluations,
  sessions,
  type Evaluation,
  type Session,
} from '../support/jobs-over-http.js';
import { openTraces } from '../support/otlp.js';
import { range } from '../support/range.js';
import { startTestService, type TestService } from '../support/service.js';
import { SpanTree, treeOf } from '../support/span-tree.js';
import { until } from '../support/until.js';
import { baseline, propose, startRulesWorld, type RulesWorld } from '../support/worlds/rules.js';

// The spans of jobs and of deployments, as a collector gets them from a whole service.

const keys = { container: 'canary-of-the-container', provider: 'sk-canary-of-the-provider' };
const caller = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' };
const traceparent = (traceId: string, flags = '01') => `00-${traceId}-${caller.spanId}-${flags}`;
const route = expect.stringMatching(/^POST .*\/chat\/completions$/);

let collector: FakeCollector;
let world: RulesWorld;
let box: FakeContainer;
let service: TestService;
const before = { ...process.env };

beforeAll(async () => {
  collector = await startFakeCollector();
  world = await startRulesWorld();
  box = await startFakeContainer({
    apiKey: keys.container,
    prompt: [{ role: 'system', content: baseline }],
    behave: () => asking,
  });
  // The policy answers with the candidate's prompt.
  world.model.reply((request) => {
    const { content } = request.body.messages[0]!;
    return { text: content.startsWith(baseline) ? content : propose(request) };
  });
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_TIMEOUT: '500',
    OTEL_BSP_SCHEDULE_DELAY: '50',
  };
  // The SDK reads them by itself.
  Object.assign(process.env, env);
  service = await startTestService({ ...world.env, FAKE_API_KEY: keys.provider, ...env });
}, 60_000);
afterAll(async () => {
  await service.stop();
  await Promise.all([world.close(), box.close(), collector.close()]);
  process.env = { ...before };
}, 60_000);

const asking = answers.askModel(
  () => ({ system: 'own', user: 'hello' }),
  (text, { seed }) => ({ reward: world.score(text, seed), feedback: `needs rule-${seed % world.rules}.` }),
);

/** Creates a job as a caller that traces its request. */
async function create(path: string, body: object, header?: string): Promise<string> {
  const response = await fetch(`${service.url}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${service.apiKey}`,
      'content-type': 'application/json',
      ...(header && { traceparent: header }),
    },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(201);
  return ((await response.json()) as { job_id: string }).job_id;
}

const session = (more: object = {}) => ({
  policy_optimization: {
    algorithm: 'gepa',
    container_url: box.url,
    container_api_key: keys.container,
    policy: world.job.policy,
    gepa: {
      population_size: 2,
      generations: 6,
      minibatch_size: 3,
      train_seeds: range(100, 40),
      evaluation: { seeds: range(0, 8) },
    },
    ...more,
  },
});

const evaluation = (seeds: number[]) => ({
  app_id: 'test',
  env_name: 'test',
  policy: world.job.policy,
  seeds,
  container_url: box.url,
  container_api_key: keys.container,
  preflight: false,
  max_failure_rate: 1,
  max_concurrent: 1,
});

describe('a session', () => {
  test('is a tree: job, generations, candidates, rollouts, model calls', async () => {
    const id = await create(sessions, session(), traceparent(caller.traceId));
    const seen = await ended<Session>(service, id);
    expect(seen).toMatchObject({ status: 'completed', best_reward: 1 });
    const { job, tree } = await treeOf(collector, id, { callerId: caller.spanId });
    const rollouts = tree.named('rollout');
    await until('each rollout has its model call', () => tree.modelCalls('policy').length === rollouts.length);

    expect(job).toMatchObject({
      traceId: caller.traceId,
      parentId: caller.spanId,
      name: 'session',
      status: 0,
      attributes: {
        'ratchet.job.status': 'completed',
        'ratchet.algorithm': 'gepa',
        'ratchet.best_reward': 1,
        'ratchet.stop_reason': 'solved',
      },
      resource: { 'service.name': 'ratchet' },
    });
    expect(rollouts).toHaveLength(seen.progress.rollouts_completed);
    const calls = tree.modelCalls('policy');
    const candidate = expect.stringMatching(/^candidate \d+$/);
    const generation = expect.stringMatching(/^generation \d+$/);
    for (const call of calls)
      expect(tree.pathOf(call)).toEqual(['chat any', route, 'rollout', candidate, generation, 'session']);
    const proposals = tree.modelCalls('proposer');
    expect(proposals.length).toBeGreaterThan(0);
    for (const call of proposals) expect(tree.pathOf(call)).toEqual(['chat any', generation, 'session']);
    expect(tree.modelCalls('preflight').map((call) => tree.pathOf(call))).toEqual([['chat any', 'session']]);

    const ids = tree.spans.map(({ spanId }) => spanId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(calls[0]!.attributes).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'fake',
      'gen_ai.request.model': 'any',
      'gen_ai.response.model': 'any',
      'server.address': '127.0.0.1',
      'gen_ai.usage.input_tokens': expect.any(Number),
      'gen_ai.usage.output_tokens': expect.any(Number),
    });

    // The archive has the same spans, with content below the rollouts.
    const headers = { authorization: `Bearer ${service.apiKey}` };
    const zip = await fetch(`${service.url}${sessions}/${id}/traces`, { headers });
    const { spans } = await openTraces(Buffer.from(await zip.arrayBuffer()));
    const recorded = ({ kind }: { kind: number }) => kind === 1;
    const sorted = (found: CollectedSpan[]) =>
      found.map(({ resource: _, ...span }) => span).sort((a, b) => a.spanId.localeCompare(b.spanId));
    expect(sorted(spans.filter(recorded))).toEqual(sorted(tree.spans.filter(recorded)));
    const archived = spans.filter((span) => !recorded(span));
    expect(archived).toHaveLength(calls.length);
    const rolloutIds = new Set(rollouts.map(({ spanId }) => spanId));
    expect(archived.filter(({ parentId }) => !rolloutIds.has(parentId))).toEqual([]);
    expect(archived[0]!.attributes['gen_ai.input.messages']).toContain(baseline);

    // The container continues the trace; the model is not told of it.
    const byRollout = new Map(rollouts.map((span) => [span.attributes['ratchet.rollout.id'], span]));
    for (const { rolloutId, headers } of box.callsOf(id))
      expect(headers['traceparent']).toBe(`00-${caller.traceId}-${byRollout.get(rolloutId)!.spanId}-01`);
    expect(world.model.requests.filter(({ headers }) => headers['traceparent'] !== undefined)).toEqual([]);
  });

  test('that its caller does not sample has no span, and its container is told so', async () => {
    const traceId = 'c'.repeat(32);
    const id = await create(sessions, session({ budget: { max_rollouts: 40 } }), traceparent(traceId, '00'));
    await ended<Session>(service, id);
    // What ends later arrives later.
    const other = await create(evaluations, evaluation([0]));
    await ended<Evaluation>(service, other);
    await treeOf(collector, other);
    expect(new SpanTree(collector, traceId).spans).toEqual([]);
    expect(box.callsOf(id)[0]!.headers['traceparent']).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-00$`));
  });
});

describe('an evaluation', () => {
  test('has a trace of its own, with failed rollouts and model calls', async () => {
    // The container tries its model again, and refuses odd seeds.
    let calls = 0;
    world.model.reply(() => ((calls += 1) === 1 ? { status: 400, raw: '{"error":{"message":"no"}}' } : {}));
    box.behave(({ seed }) => (seed % 2 === 0 ? asking : answers.status(422, 'no')));
    const id = await create(evaluations, evaluation([0, 1, 2]));
    await ended<Evaluation>(service, id);
    const { job, tree } = await treeOf(collector, id);
    expect(job).toMatchObject({ parentId: '', name: 'evaluation' });
    const rollouts = tree.named('rollout');
    expect(rollouts.map(({ parentId }) => parentId)).toEqual(Array(3).fill(job.spanId));
    expect(tree.modelCalls('policy').filter(({ status }) => status === 2)).toMatchObject([
      { attributes: { 'error.type': '400' } },
    ]);
    expect(rollouts.filter(({ attributes }) => attributes['ratchet.rollout.status'] === 'failed')).toMatchObject([
      { status: 2, attributes: { 'error.type': 'container_rejected', 'ratchet.seed': 1 } },
    ]);
  });

  test('on rows has the calls of its model below the rollout', async () => {
    world.model.reply(() => ({ text: 'blue' }));
    const id = await createEvaluation(service, {
      env_name: undefined,
      policy: { provider: 'fake', model: 'policy' },
      preflight: false,
      dataset: { rows: [{ question: 'Which colour?', answer: 'blue' }], input: 'question', expected: 'answer' },
      scorer: 'exact',
      candidate: { messages: [{ role: 'system', content: 'Name a colour.' }] },
    });
    expect(await ended<Evaluation>(service, id)).toMatchObject({ status: 'completed' });
    const { tree } = await treeOf(collector, id);
    const [call] = await until(
      'the call has arrived',
      () => tree.modelCalls('policy').length > 0 && tree.modelCalls('policy'),
    );
    expect(tree.pathOf(call!)).toEqual(['chat policy', 'rollout', 'evaluation']);
  });
});

describe('a deployment', () => {
  test('has its gate in its trace; a call is in the trace of its caller', async () => {
    world.model.reply(() => ({ text: 'here' }));
    box.behave(() => answers.reward(1));
    const id = await deploy(service, {
      name: 'cards',
      source: saying('Say where.'),
      gate: { container_url: box.url, container_api_key: keys.container, seeds: [0, 1], min_reward: 0.5 },
    });
    expect(await built(service, id)).toMatchObject({ status: 'ready' });
    const { job, tree } = await treeOf(collector, id);
    const [gate] = await until(
      'the gate has arrived',
      () => tree.named('evaluation').length > 0 && tree.named('evaluation'),
    );
    expect(gate!.parentId).toBe(job.spanId);
    expect(tree.named('rollout').map(({ parentId }) => parentId)).toEqual([gate!.spanId, gate!.spanId]);

    const calls = new SpanTree(collector, 'd'.repeat(32));
    for (const stream of [false, true]) {
      const body = { messages: [{ role: 'user', content: 'Where is my card?' }], stream };
      const answer = await ask(service, 'cards', body, { headers: { traceparent: traceparent('d'.repeat(32)) } });
      expect(answer.status).toBe(200);
      await answer.text();
    }
    await until('both calls have arrived', () => calls.spans.length === 4);
    for (const call of calls.modelCalls('deployment')) {
      expect(calls.pathOf(call)).toEqual(['chat frozen-model', route]);
      expect(call.attributes['gen_ai.response.finish_reasons']).toEqual(['stop']);
    }
    for (const request of calls.named('POST'))
      expect(request).toMatchObject({
        kind: 2,
        parentId: caller.spanId,
        attributes: { 'ratchet.deployment.id': id, 'http.response.status_code': 200 },
      });
  });
});

test('no span has content or a key', () => {
  const sent = collector.bodies.join('\n');
  for (const text of [baseline, 'rule-', 'Which colour', 'Where is my card', 'Say where'])
    expect(sent).not.toContain(text);
  for (const key of [keys.container, keys.provider, service.apiKey, 'rip_']) expect(sent).not.toContain(key);
});

test('a collector that is away holds up nobody, and gets the spans of jobs later', async () => {
  const port = Number(new URL(collector.url).port);
  await collector.close();
  box.behave(() => answers.reward(1));
  const id = await create(evaluations, evaluation([0, 1]));
  expect(await ended<Evaluation>(service, id)).toMatchObject({ status: 'completed' });
  await until('a worker has tried to send them', async () => {
    const taken = await service.query('select 1 from job_traces where job_id = $1 and due_at > now()', [id]);
    return taken.length === 1;
  });
  collector = await startFakeCollector(port);
  await until('the next try is over', async () => {
    await service.query('update job_traces set due_at = now() where job_id = $1 and due_at is not null', [id]);
    return (await service.query('select 1 from job_traces where job_id = $1 and due_at is null', [id])).length === 1;
  });
  const { tree } = await treeOf(collector, id);
  expect(tree.named('rollout')).toHaveLength(2);
});
