import { describe, expect, test } from '@jest/globals';
import {
  createEvaluation,
  createGraphJob,
  createSession,
  httpOfFile,
  sessionRequest,
} from '../../platform/http/support.js';

const http = httpOfFile();
const policy = { model: 'gpt-6-luna', provider: 'openai' };
const gepa = { ...sessionRequest.gepa, train_seeds: '2-9' };

const stateOf = async (path: string) => (await http.call('GET', path)).body.warnings as string[];
const ofSession = async (more: object) => {
  const policy_optimization = { ...sessionRequest, gepa, ...more };
  const { status, body } = await http.call('POST', '/api/v1/online/sessions', { policy_optimization });
  expect(status).toBe(201);
  const stored = await stateOf(`/api/v1/online/sessions/${body.session_id}`);
  // A create without warnings has no such field.
  expect(body.warnings ?? []).toEqual(stored);
  return stored;
};

describe('a policy field close to a known one', () => {
  test.each([
    [{ temprature: 0 }, ['policy.temprature', 'temperature']],
    [{ maxTokens: 9 }, ['policy.maxTokens', 'max_tokens']],
    [{ provder: 'local' }, ['policy.provder', 'provider']],
    [{ temperature: 0, top_p: 1, top_a: 1, max_tokens: 1, min_tokens: 1, stop: 'x', seed: 1, reasoning: {} }, null],
    [{ 'x-my-own': 1, [`temp${'e'.repeat(1_000_000 / 2)}rature`]: 1 }, null],
  ])('%#', async (more, named) => {
    const warnings = await ofSession({ policy: { ...policy, ...more } });
    const expected = named && expect.stringMatching(new RegExp(`^${named[0]} .*\`${named[1]}\``));
    expect(warnings).toEqual(expected ? [expected] : []);
  });

  test('of the proposer', async () => {
    const warnings = await ofSession({ proposer: { ...policy, temprature: 1 } });
    expect(warnings).toEqual([expect.stringMatching(/^proposer\.temprature /)]);
  });

  test('lists at most twenty', async () => {
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`temperature${i}`, 0]));
    expect(await ofSession({ policy: { ...policy, ...many } })).toHaveLength(20);
  });
});

describe('a judge of the family of the proposer', () => {
  const judgedBy = async (judge: string, proposer: object) => {
    const rows = Array.from({ length: 10 }, (_, row) => ({ input: `row ${row}`, expected: 'yes' }));
    const criteria = 'Is it right?';
    const scorer = { type: 'rubric', criteria, model: judge, provider: 'openai' };
    const { container_url: _url, env_name: _env, gepa: _gepa, ...fields } = { env_name: '', ...sessionRequest };
    const policy_optimization = {
      ...fields,
      gepa: { population_size: 1, generations: 1 },
      dataset: { rows },
      scorer,
      initial_prompt: { messages: [{ role: 'system', content: 'Answer.' }] },
      proposer,
    };
    const { body } = await http.call('POST', '/api/v1/online/sessions?dry_run=true', { policy_optimization });
    expect(body.errors ?? []).toEqual([]);
    return (body.warnings as string[]).filter((warning) => warning.includes('judge'));
  };
  test.each([
    ['gpt-4.1-mini', { model: 'gpt-4o', provider: 'openai' }, 1],
    ['gpt-4.1-mini', { model: 'claude-sonnet-4', provider: 'openai' }, 0],
    ['local', { model: 'local', provider: 'local' }, 0],
  ])('%s', async (judge, proposer, count) => {
    expect(await judgedBy(judge, proposer)).toHaveLength(count);
  });
});

describe('evaluation seeds among the train seeds', () => {
  const seeds = (train: unknown, evaluation: unknown) => ({
    gepa: { ...gepa, train_seeds: train, evaluation: { seeds: evaluation } },
  });
  test.each([
    ['the same', seeds('0-3', [3, 2, 1, 0]), 'All 4 '],
    ['the same by default', { gepa: sessionRequest.gepa }, 'All 2 '],
    ['overlapping', seeds('0-10', '10-19'), '1 of 10 '],
    ['repeated', seeds('0-10', [10, 10, 12]), '1 of 2 '],
    ['apart', seeds('0-9', '10-19'), null],
    ['of live traffic', { rollouts: 'caller', container_url: undefined, gepa: sessionRequest.gepa }, null],
  ])('%s', async (_name, more, begins) => {
    expect(await ofSession(more)).toEqual(begins === null ? [] : [expect.stringMatching(new RegExp(`^${begins}`))]);
  });
});

test.each([
  [97_000, []],
  [99_000, [expect.stringMatching(/"system" has 99000 .* only 1000 more/)]],
  [100_000, [expect.stringMatching(/only 0 more/)]],
])('a text of %d characters that has no room to be rewritten', async (length, warnings) => {
  const initial_prompt = { messages: [{ role: 'system', content: 'x'.repeat(length) }] };
  expect(await ofSession({ initial_prompt })).toEqual(warnings);
});

describe('an answer cache for calls that sample', () => {
  const cached = { gepa, answer_cache: true };
  test.each<[object, string | null]>([
    [{ ...cached, policy: { ...policy, temperature: 0 } }, null],
    [{ ...cached, policy: { ...policy, temperature: 0.1 } }, 'policy.temperature'],
    [cached, 'policy.temperature'],
    [{ ...cached, answer_cache: 'sampled' }, null],
    [{ ...cached, answer_cache: false }, null],
  ])('%j', async (more, named) => {
    expect(await ofSession(more)).toEqual(named === null ? [] : [expect.stringContaining(named)]);
  });

  test('of a deployment’s gate', async () => {
    const gate = { container_url: 'http://127.0.0.1:9', seeds: [1], min_reward: 0.5, answer_cache: true };
    const warningsOf = async (params: object) => {
      const source = { messages: [{ role: 'system', content: 'x' }], policy: { ...policy, ...params } };
      return (await http.call('POST', '/api/harbor/deployments', { name: 'cached', source, gate })).body.warnings ?? [];
    };
    expect(await warningsOf({})).toEqual([expect.stringContaining('source.policy.temperature')]);
    expect(await warningsOf({ temperature: 0 })).toEqual([]);
  });
});

test('evaluations, graph jobs and deployments have their warnings too', async () => {
  const misspelled = { ...policy, temprature: 0 };
  const warned = [expect.stringContaining('temprature')];
  const evaluation = await createEvaluation(http, { policy: misspelled });
  expect(await stateOf(`/api/v1/offline/jobs/${evaluation}`)).toEqual(warned);
  const graph = await createGraphJob(http, { proposer: misspelled });
  expect(await stateOf(`/api/graphgen/jobs/${graph}`)).toEqual(warned);
  const source = { messages: [{ role: 'system', content: 'x' }], policy: misspelled };
  const deployment = (await http.call('POST', '/api/harbor/deployments', { name: 'a', source })).body;
  expect(deployment.warnings).toEqual(warned);
  expect(await stateOf(`/api/harbor/deployments/${deployment.id}/status`)).toEqual(warned);
});

test('a list shows the warnings of its jobs', async () => {
  await createSession(http, { policy: { ...policy, temprature: 0 } });
  const { data } = (await http.call('GET', '/api/v1/online/sessions?limit=1')).body;
  expect(data[0].warnings).toHaveLength(2);
});

test('a search that ran out of unsolved train seeds says what to do', async () => {
  const id = await createSession(http);
  const set = (reason: string) =>
    http.db.org('default', (tx) => tx.query('update jobs set stopped_by = $2 where id = $1', [id, reason]));
  await set('solved');
  expect(await stateOf(`/api/v1/online/sessions/${id}`)).toHaveLength(1);
  await set('train_solved');
  const [, advice] = await stateOf(`/api/v1/online/sessions/${id}`);
  expect(advice).toContain('more or harder train seeds');
});
