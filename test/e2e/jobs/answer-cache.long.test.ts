import { afterEach, describe, expect, test } from '@jest/globals';
import { Api } from '../../support/api.js';
import { ensureBootstrapKey } from '../../../src/access/store/keys.js';
import { built } from '../../support/deployments-over-http.js';
import { answers } from '../../support/fakes/container.js';
import { containersOfEachTest } from '../../support/fakes/containers-of-each-test.js';
import {
  createEvaluation,
  createGraphJob,
  deployments,
  ended,
  pathOf,
  type Evaluation,
  type GraphJob,
} from '../../support/jobs-over-http.js';
import { serviceOfFile } from '../../support/service-of-file.js';
import { graphAnswer, graphDataset } from '../../support/worlds/graph.js';
import { startRowsWorld } from '../../support/worlds/rows.js';

const on = serviceOfFile(() => startRowsWorld());
const container = containersOfEachTest();
afterEach(() => {
  tests += 1;
  on.world.reset();
});

const asked = () => on.world.model.requests.length;
const numRows = 8;
let tests = 0;

/** The only warning of a prompt of these tests. */
const unnamedLabels = expect.stringContaining('names none of the 4 labels');

/** The body of an evaluation with a prompt of this test only. */
function body(more: object = {}, params: object = { temperature: 0 }) {
  return {
    env_name: undefined,
    scorer: 'exact',
    preflight: false,
    policy: { provider: 'fake', model: 'policy', ...params },
    dataset: { rows: on.world.rows(numRows), input: 'question', expected: 'answer' },
    candidate: { messages: [{ role: 'user', content: `rule-0. test ${tests}: {{question}}` }] },
    ...more,
  };
}
async function run(more: object = {}, params?: object, at: { api: Api } = on.service) {
  const id = await createEvaluation(at, body(more, params));
  const seen = await ended<Evaluation>(at as typeof on.service, id);
  expect(seen).toMatchObject({ status: 'completed', error: null });
  const { results } = await at.api.call<{ results: { seed: number; reward: number; trace_id: string }[] }>(
    'GET',
    `${pathOf(id)}/results`,
  );
  return { id, seen, results, rewards: results.map(({ seed, reward }) => [seed, reward]) };
}
describe('an evaluation on a data set', () => {
  test('that was run before asks no model, costs nothing and has the same rewards', async () => {
    const first = await run();
    expect(first.seen.usage).toMatchObject({ calls: numRows, cached_calls: 0, cache_hit_rate: 0 });
    expect(asked()).toBe(numRows);
    // Twice: copies are as good as originals.
    for (let times = 0; times < 2; times += 1) {
      const again = await run({ answer_cache: true });
      expect(asked()).toBe(numRows);
      expect(again.rewards).toEqual(first.rewards);
      expect(again.seen.warnings).toEqual([unnamedLabels]);
      expect(again.seen.usage).toMatchObject({
        calls: numRows,
        cached_calls: numRows,
        cache_hit_rate: 1,
        total_cost_usd: 0,
        total_tokens: first.seen.usage.total_tokens,
      });
      const traceOf = ({ id, results }: typeof first) =>
        on.service.api.call<{ calls: { call_id: string; cached_from: string | null; cost_usd: number | null }[] }>(
          'GET',
          `${pathOf(id)}/traces/${results[3]!.trace_id}`,
        );
      const [original, copy] = [await traceOf(first), await traceOf(again)];
      expect(original.calls).toMatchObject([{ cached_from: null, cost_usd: null }]);
      expect(copy.calls).toMatchObject([{ cached_from: original.calls[0]!.call_id, cost_usd: 0 }]);
    }
    // Without the field, and with another prompt.
    await run();
    expect(asked()).toBe(2 * numRows);
    const other = { messages: [{ role: 'user', content: `rule-1. test ${tests}: {{question}}` }] };
    const changed = await run({ answer_cache: true, candidate: other });
    expect(changed.seen.usage).toMatchObject({ cached_calls: 0, cache_hit_rate: 0 });
    expect(asked()).toBe(3 * numRows);
  });

  test('of another organization finds nothing', async () => {
    await run();
    const { db, config, url } = on.service;
    const key = 'the-key-of-another-organization-x';
    await ensureBootstrapKey(db, config.secretKey!, 'other', key);
    const other = await run({ answer_cache: true }, undefined, { api: new Api(url, key) });
    expect(other.seen.usage).toMatchObject({ cached_calls: 0, cache_hit_rate: 0 });
    expect(asked()).toBe(2 * numRows);
  });

  test('that samples takes answers only if asked, and none of them twice', async () => {
    on.world.model.reply(({ n }) => ({ text: `sample ${n}` }));
    const params = { temperature: 1 };
    await run({}, params);
    const warned = await run({ answer_cache: true }, params);
    expect(warned.seen.warnings).toEqual([unnamedLabels, expect.stringContaining('policy.temperature')]);
    expect(warned.seen.usage).toMatchObject({ cached_calls: 0, cache_hit_rate: 0 });
    expect(asked()).toBe(2 * numRows);
    // Row 0 has two recorded answers, for five rollouts.
    const repeated = await run({ answer_cache: 'sampled', seeds: [0, 0, 0, 0, 0] }, params);
    expect(repeated.seen.warnings).toEqual([unnamedLabels]);
    expect(repeated.seen.usage).toMatchObject({ calls: 5, cached_calls: 2, cache_hit_rate: 0.4 });
    expect(asked()).toBe(2 * numRows + 3);
    const texts = await on.service.query<{ text: string }>(
      `select distinct response #>> '{choices,0,message,content}' as text from model_calls where job_id = $1`,
      [repeated.id],
    );
    expect(texts).toHaveLength(5);
  });

  test('asks its judge once about an output, across jobs', async () => {
    on.world.model.reply(({ body: { model } }) =>
      model === 'judge'
        ? { text: JSON.stringify({ criteria: [{ name: 'rubric', reason: 'It is.', score: 0.5 }] }) }
        : { text: 'an answer' },
    );
    const scorer = { type: 'rubric', criteria: 'Is it kind?', model: 'judge' };
    const first = await run({ scorer });
    expect(asked()).toBe(2 * numRows);
    const warned = await run({ scorer, answer_cache: true });
    expect(warned.seen.warnings).toEqual([expect.stringContaining('judge')]);
    expect(warned.seen.usage).toMatchObject({ cached_calls: numRows, cache_hit_rate: 0.5 });
    const again = await run({ scorer, answer_cache: 'sampled' });
    expect(again.seen.usage).toMatchObject({ cached_calls: 2 * numRows, cache_hit_rate: 1 });
    expect(again.rewards).toEqual(first.rewards);
    expect(asked()).toBe(3 * numRows);
  });
});

test('an evaluation on a container gets answers through the proxy, also those of data sets', async () => {
  const inputs: string[] = [];
  const box = await container({
    behave: () =>
      answers.askModel(
        ({ seed }) => ({ system: `rule-0. test ${tests}`, user: on.world.rows(numRows)[seed]!.question }),
        (text, { seed }) => (inputs.push(text), { reward: text === on.world.rows(numRows)[seed]!.answer ? 1 : 0 }),
      ),
  });
  const source = {
    dataset: undefined,
    scorer: undefined,
    candidate: undefined,
    container_url: box.url,
    env_name: 'test',
  };
  const seeds = '0-7';
  const first = await run({ ...source, seeds });
  expect(asked()).toBe(numRows);
  const again = await run({ ...source, seeds, answer_cache: true });
  expect(asked()).toBe(numRows);
  expect(again.rewards).toEqual(first.rewards);
  expect(again.seen.usage).toMatchObject({ cached_calls: numRows, cache_hit_rate: 1, total_cost_usd: 0 });
  expect(inputs.slice(numRows).sort()).toEqual(inputs.slice(0, numRows).sort());
  const messages = [
    { role: 'system', content: `rule-0. test ${tests}` },
    { role: 'user', content: '{{question}}' },
  ];
  const rows = await run({ answer_cache: true, candidate: { messages } });
  expect(rows.seen.usage).toMatchObject({ cache_hit_rate: 1 });
  expect(rows.rewards).toEqual(first.rewards);
  expect(asked()).toBe(numRows);
  // The gate of a deployment of the same prompt.
  const { id } = await on.service.api.call<{ id: string }>('POST', deployments, {
    name: 'cached',
    source: { messages: [messages[0]], policy: { provider: 'fake', model: 'policy', temperature: 0 } },
    gate: { container_url: box.url, seeds, min_reward: 0, preflight: false, answer_cache: true },
  });
  expect(await built(on.service, id)).toMatchObject({ status: 'ready' });
  expect(asked()).toBe(numRows);
});

test('a graph job reuses the answers of steps and judge, and asks its proposer anew', async () => {
  on.world.model.reply(({ body: { messages } }) => ({ text: graphAnswer(messages) }));
  const { gold_outputs: _, ...dataset } = graphDataset(12);
  const verifier_config = { mode: 'rubric', model: 'judge' };
  const create = async (more: object = {}) => {
    const id = await createGraphJob(on.service, {
      dataset: { ...dataset, default_rubric: 'Does it name the rule?', verifier_config },
      policy_model: 'task',
      policy_provider: 'fake',
      proposer: { model: 'writer', provider: 'fake' },
      rollout_budget: 60,
      preflight: false,
      max_concurrent: 1,
      ...more,
    });
    return ended<GraphJob>(on.service, id);
  };
  const callsOf = (model: string) => on.world.model.requests.filter((request) => request.body.model === model).length;
  const first = await create();
  const before = { task: callsOf('task'), judge: callsOf('judge'), writer: callsOf('writer') };
  const second = await create({ answer_cache: 'sampled' });
  expect(second).toMatchObject({ status: 'completed', best_reward: first.best_reward, warnings: [] });
  expect(second.usage.cache_hit_rate).toBe(1);
  expect({ task: callsOf('task'), judge: callsOf('judge') }).toEqual({ task: before.task, judge: before.judge });
  expect(callsOf('writer')).toBe(2 * before.writer);
  const third = await create({ answer_cache: true });
  expect(third.warnings).toEqual([expect.stringContaining('graphs'), expect.stringContaining('judge')]);
  expect(third.usage.cached_calls).toBe(0);
});
