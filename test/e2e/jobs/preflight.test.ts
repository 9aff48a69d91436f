import { beforeEach, describe, expect, test } from '@jest/globals';
import { built, deploy, saying } from '../../support/deployments-over-http.js';
import { someOf } from '../../support/environment.js';
import { containersOfEachTest } from '../../support/fakes/containers-of-each-test.js';
import type { ModelReply } from '../../support/fakes/model.js';
import {
  command,
  createEvaluation,
  createGraphJob,
  createSession,
  ended,
  eventsOf,
  type Evaluation,
  type GraphJob,
  type Session,
} from '../../support/jobs-over-http.js';
import { range } from '../../support/range.js';
import { serviceOfFile } from '../../support/service-of-file.js';
import { until } from '../../support/until.js';
import { graphDataset } from '../../support/worlds/graph.js';
import { startModelBesideGone } from '../../support/worlds/model.js';

const on = serviceOfFile(startModelBesideGone);
const container = containersOfEachTest();
const modelReplies = (reply: (model: string) => ModelReply | Promise<ModelReply>) =>
  on.world.model.reply(({ body }) => reply(body.model));
const askedModels = () => on.world.model.requests.map(({ body }) => body.model).sort();
beforeEach(() => on.world.reset());

const policy = { provider: 'fake', model: 'task' };
const proposer = { provider: 'fake', model: 'writer' };
const prompt = [{ role: 'system', content: 'Do it.' }];

type Job = Session | Evaluation | GraphJob;
type Box = Awaited<ReturnType<typeof container>>;
type Models = { policy: { provider: string; model: string }; proposer?: { provider: string; model: string } };
const evaluation = { seeds: range(0, 4) };
/** Starts a job of a kind whose rollouts, if any, call no model. */
const start: Record<string, (box: Box, models: Models, more?: object) => Promise<string>> = {
  gepa: (box, models, more) =>
    createSession(on.service, {
      container_url: box.url,
      ...models,
      gepa: { population_size: 2, generations: 2, evaluation },
      ...more,
    }),
  mipro: (box, models, more) =>
    createSession(on.service, {
      algorithm: 'mipro',
      container_url: box.url,
      ...models,
      mipro: { num_candidates: 2, evaluation },
      ...more,
    }),
  evaluation: (box, models, more) =>
    createEvaluation(on.service, { container_url: box.url, policy: models.policy, seeds: range(0, 4), ...more }),
  graph: (_, { policy, proposer }, more) =>
    createGraphJob(on.service, {
      dataset: graphDataset(12),
      policy_model: policy.model,
      policy_provider: policy.provider,
      ...(proposer && { proposer }),
      rollout_budget: 60,
      ...more,
    }),
};
const kinds = someOf(Object.keys(start), 1);

async function started(kind: string, models: Models, more?: object, box?: Box) {
  const given = box ?? (await container({ prompt }));
  return { box: given, id: await start[kind]!(given, models, more) };
}

/** The job is expected to fail before its first rollout. */
async function failedAtOnce(id: string, box: Box) {
  const job = await ended<Job>(on.service, id);
  expect(job).toMatchObject({ status: 'failed', error: expect.any(String) });
  expect(box.ledger).toEqual([]);
  const planned = await on.service.query('select id from rollouts where job_id = $1', [id]);
  expect(planned).toEqual([]);
  return job;
}

const refusals = [
  [401, 'provider_refused_key', 'FAKE_API_KEY'],
  [403, 'provider_refused', 'FAKE_API_KEY'],
  [404, 'model_not_found', 'model'],
  [402, 'provider_refused_account', 'Add credit'],
] as const;
describe.each(kinds)('a job of kind %s', (kind) => {
  test.each(refusals)('fails before its first rollout if the policy’s call gets %d', async (status, code, remedy) => {
    modelReplies((model) => (model === 'task' ? { status, raw: '{"error":{"message":"no, sk-secret"}}' } : {}));
    const { id, box } = await started(kind, { policy, proposer });
    const job = await failedAtOnce(id, box);
    expect(job.error_details).toMatchObject({ code, retryable: false });
    for (const part of ['"task"', '"fake"', String(status), remedy]) expect(job.error).toContain(part);
    expect(job.error).not.toContain('sk-secret');
    expect(askedModels()).toEqual(kind === 'evaluation' ? ['task'] : ['task', 'writer']);
  });

  test('fails after one call, in the words of the provider, if the account has no credit', async () => {
    const raw = '{"error":{"message":"You exceeded your quota.","type":"insufficient_quota"}}';
    modelReplies((model) => (model === 'task' ? { status: 429, raw, headers: { 'x-should-retry': 'false' } } : {}));
    const { id, box } = await started(kind, { policy, proposer });
    const job = await failedAtOnce(id, box);
    expect(job.error_details).toMatchObject({ code: 'provider_refused_account', retryable: false });
    expect(job.error).toContain('You exceeded your quota. Add credit');
    expect(askedModels().filter((model) => model === 'task')).toHaveLength(1);
  });

  test('fails if the provider of its policy cannot be reached', async () => {
    const { id, box } = await started(kind, { policy: { provider: 'gone', model: 'task' } });
    const job = await failedAtOnce(id, box);
    expect(job.error_details).toMatchObject({ code: 'upstream_unreachable', retryable: true });
    for (const part of ['"gone"', 'GONE_BASE_URL', 'ECONNREFUSED']) expect(job.error).toContain(part);
    expect(askedModels()).toEqual([]);
  });

  test('makes no call with preflight: false', async () => {
    modelReplies(() => ({ status: 404, raw: '{}' }));
    const { id, box } = await started(kind, { policy, proposer }, { preflight: false });
    const job = await ended<Job>(on.service, id);
    // Only a graph's rollouts call the model themselves.
    if (kind === 'graph') return expect(on.world.model.requests.every(({ body }) => !isPreflight(body))).toBe(true);
    expect(job.status).toBe('completed');
    expect(box.ledger.length).toBeGreaterThan(0);
    expect(askedModels()).toEqual([]);
  });
});
const isPreflight = ({ messages }: { messages: { content: string }[] }) => messages[0]!.content === 'Reply with OK.';

describe.each(someOf(['graph', 'gepa', 'mipro'], 1))('the proposer of kind %s', (kind) => {
  test('is checked, too, and the error names its field', async () => {
    modelReplies((model) => (model === 'writer' ? { status: 404, raw: 'no such model' } : {}));
    const { id, box } = await started(kind, { policy, proposer });
    const job = await failedAtOnce(id, box);
    expect(job.error_details).toMatchObject({ code: 'model_not_found' });
    for (const part of ['"writer"', 'proposer.model', 'no such model']) expect(job.error).toContain(part);
    expect(askedModels()).toEqual(['task', 'writer']);
  });

  test('is called once if it is the policy', async () => {
    modelReplies(() => ({ status: 404, raw: '{}' }));
    const { id, box } = await started(kind, { policy, proposer: { ...policy, temperature: 1 } as never });
    await failedAtOnce(id, box);
    expect(askedModels()).toEqual(['task']);
  });
});

test.each(someOf(['evaluation', 'gepa', 'mipro'], 1))(
  'a %s job with a wrong container port or key calls no model',
  async (kind) => {
    const box = await container({ apiKey: 'right' });
    const refused = await failedAtOnce(await start[kind]!(box, { policy }, { container_api_key: 'wrong' }), box);
    expect(refused.error_details).toMatchObject({ code: 'container_refused_key' });
    const gone = await start[kind]!({ ...box, url: 'http://127.0.0.1:9' }, { policy });
    expect((await failedAtOnce(gone, box)).error_details).toMatchObject({ code: 'container_unreachable' });
    expect(askedModels()).toEqual([]);
  },
);

test('the calls are small, recorded and counted; the rollouts follow', async () => {
  modelReplies((model) => ({
    usage: { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6, cost: model === 'task' ? 0.25 : 0.5 },
  }));
  const { id, box } = await started('gepa', {
    policy: { ...policy, max_completion_tokens: 9_000, response_format: { type: 'json_object' } } as never,
    proposer,
  });
  const job = await ended<Session>(on.service, id);
  expect(job).toMatchObject({ status: 'completed', usage: { total_tokens: 12, total_cost_usd: 0.75 } });
  expect(box.ledger.length).toBeGreaterThan(0);
  const [first] = on.world.model.requests.filter(({ body }) => body.model === 'task');
  const messages = [{ role: 'user', content: 'Reply with OK.' }];
  expect(first!.body).toEqual({ model: 'task', messages, max_tokens: 16, stream: false });
});

test('the calls are within max_cost_usd', async () => {
  const models = { policy: { provider: 'openai', model: 'gpt-4o-mini' } };
  const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };
  modelReplies(() => ({ usage }));
  const poor = await started('gepa', models, { budget: { max_cost_usd: 0.000_01 } });
  expect((await failedAtOnce(poor.id, poor.box)).error_details).toMatchObject({ code: 'max_cost_usd' });
  expect(askedModels()).toEqual([]);

  const { id } = await started('gepa', models, { budget: { max_cost_usd: 1 } });
  const job = await ended<Session>(on.service, id);
  const spent = usage.prompt_tokens * 0.15e-6 + usage.completion_tokens * 0.6e-6;
  expect(job).toMatchObject({ status: 'completed', budget: { spent_usd: expect.closeTo(spent, 9) } });
  expect(job.usage.total_cost_usd).toBeCloseTo(spent, 9);
  expect(askedModels()).toEqual(['gpt-4o-mini']);
});

test.each([
  ['400', { status: 400, raw: '{"error":{"message":"max_tokens is too small"}}' }, 1],
  ['429', { status: 429, raw: '{"error":{"message":"slow down"}}' }, 3],
  ['500', { status: 500, raw: 'oops' }, 3],
  ['an answer without text', { raw: '{"choices":[]}' }, 1],
  ['a broken connection', { cutBody: true }, 3],
] satisfies [string, ModelReply, number][])('%s does not fail the job', async (_, reply, calls) => {
  modelReplies(() => reply);
  const { id } = await started('evaluation', { policy });
  expect(await ended<Evaluation>(on.service, id)).toMatchObject({ status: 'completed' });
  expect(askedModels()).toHaveLength(calls);
});

test('in-process models are not called', async () => {
  const local = { provider: 'local', model: 'local' };
  const { id } = await started('gepa', { policy: local, proposer: local });
  expect(await ended<Session>(on.service, id)).toMatchObject({ status: 'completed', usage: { total_tokens: 0 } });
});

test('of live traffic, only the proposer is called', async () => {
  modelReplies(() => ({ status: 401, raw: '{}' }));
  const id = await createSession(on.service, {
    rollouts: 'caller',
    policy,
    proposer,
    initial_prompt: { messages: prompt },
    gepa: { population_size: 2, generations: 2, evaluation },
  });
  expect(await ended<Session>(on.service, id)).toMatchObject({ error_details: { code: 'provider_refused_key' } });
  expect(askedModels()).toEqual(['writer']);
});

test('a cancelled job ends the call', async () => {
  modelReplies(() => new Promise(() => {}));
  const { id, box } = await started('evaluation', { policy });
  await until('the model is asked', () => on.world.model.requests.length > 0);
  await command(on.service, id, 'cancel');
  expect(await ended<Evaluation>(on.service, id)).toMatchObject({ status: 'cancelled' });
  // Sooner than by its own time-out.
  await until('the call has ended', () => on.world.model.requests[0]!.closed, 5);
  expect(on.world.model.requests).toHaveLength(1);
  expect(box.ledger).toEqual([]);
});

test('a gate’s evaluation is checked, unless gate.preflight is false', async () => {
  modelReplies(() => ({ status: 404, raw: '{"error":{"message":"no such model"}}' }));
  const box = await container();
  const gate = { container_url: box.url, seeds: range(0, 4), min_reward: 0.5 };
  const source = saying('Do it.', policy);
  const checked = await built(on.service, await deploy(on.service, { name: 'checked', source, gate }));
  expect(checked).toMatchObject({ status: 'failed' });
  for (const part of ['"task"', '404', 'no such model']) expect(checked.error).toContain(part);
  expect(box.ledger).toEqual([]);
  expect(askedModels()).toEqual(['task']);

  const unchecked = { name: 'unchecked', source, gate: { ...gate, preflight: false } };
  expect(await built(on.service, await deploy(on.service, unchecked))).toMatchObject({ status: 'ready' });
  expect(askedModels()).toEqual(['task']);
});

test('the events of a refused session are its failure alone', async () => {
  modelReplies(() => ({ status: 401, raw: '{}' }));
  const { id, box } = await started('gepa', { policy });
  await failedAtOnce(id, box);
  expect((await eventsOf(on.service, id)).map(({ type }) => type)).toEqual(['error', 'job_failed']);
});
