import { describe, expect, test } from '@jest/globals';
import { addCandidate } from '../../../../src/candidates/store/candidates.js';
import { createSession, evaluationRequest as good, httpOfFile } from '../../../platform/http/support.js';

const url = '/api/v1/offline/jobs';
const http = httpOfFile();

async function specOf(jobId: string) {
  const [row] = await http.db.org('default', (tx) => tx.query('select spec from jobs where id = $1', [jobId]));
  return row!['spec'];
}

describe('create evaluation', () => {
  test('answers 201 with its id', async () => {
    const { status, headers, body } = await http.call('POST', url, good);
    expect(status).toBe(201);
    expect(body).toEqual({
      job_id: expect.stringMatching(/^evl_[0-9a-f]{32}$/),
      status: 'running',
      estimate: {
        rollouts: 2,
        cost_usd: { low: expect.any(Number), likely: expect.any(Number), high: expect.any(Number) } as unknown,
      },
      workflow_id: `evaluation-${body.job_id}`,
      temporal_url: expect.stringContaining(body.job_id),
    });
    expect(headers['location']).toBe(`${url}/${body.job_id}`);
    expect(http.commander.started).toContain(body.job_id);
    expect(await specOf(body.job_id)).toEqual({
      kind: 'evaluation',
      appId: 'banking',
      seeds: [0, 1],
      timeoutS: 600,
      candidate: null,
      container: { url: 'http://127.0.0.1:18114', envName: 'train', envConfig: {}, hasApiKey: false },
      policy: { model: 'gpt-6-luna', provider: 'openai', params: {} },
      maxConcurrent: 5,
      rolloutTimeoutS: 120,
      maxFailureRate: 0.5,
      preflight: true,
    });
  });

  test('keeps duplicate seeds as listed, up to 10,000', async () => {
    const { body } = await http.call('POST', url, { ...good, seeds: [3, 1, 3] });
    expect(await specOf(body.job_id)).toMatchObject({ seeds: [3, 1, 3] });
    const many = await http.call('POST', url, { ...good, seeds: Array.from({ length: 10_000 }, (_, i) => i) });
    expect([many.status, many.body.estimate.rollouts]).toEqual([201, 10_000]);
    const range = await http.call('POST', url, { ...good, seeds: '7-9' });
    expect(await specOf(range.body.job_id)).toMatchObject({ seeds: [7, 8, 9] });
    const more = await http.call('POST', url, { ...good, seeds: { from: 0, to: 10_000 } });
    expect([more.status, more.body.errors.length, more.body.errors[0].pointer]).toEqual([422, 1, '/seeds']);
  });

  test('accepts the existing client’s wrapper, with its headers', async () => {
    const recorded =
      '{"config":{"app_id":"banking_mini","container_api_key":"env_key_1","container_url":"http://127.0.0.1:18114","env_config":{"split":"train"},"env_name":"train","max_concurrent":2,"policy":{"model":"gpt-6-luna","provider":"openai"},"seeds":[0,1],"timeout":60.0},"config_mode":"DEFAULT","kind":"eval","technique":"discrete_optimization"}';
    const { status, body } = await http.call('POST', url, recorded, { accept: '*/*', 'x-api-key': http.key });
    expect(status).toBe(201);
    expect(await specOf(body.job_id)).toMatchObject({
      appId: 'banking_mini',
      timeoutS: 60,
      maxConcurrent: 2,
      container: { envConfig: { split: 'train' }, hasApiKey: true },
    });
  });

  test('accepts a wrapper without app_id', async () => {
    const { app_id: _, ...config } = good;
    const { status, body } = await http.call('POST', url, { kind: 'eval', config });
    expect(status).toBe(201);
    expect(await specOf(body.job_id)).toMatchObject({ appId: 'default' });
  });
});

describe('budget', () => {
  const rows = {
    dataset: { rows: [{ input: 'a' }, { input: 'b' }] },
    policy: good.policy,
    candidate: { messages: [{ role: 'system', content: 'Answer.' }] },
  };
  const unknown = { provider: 'openai', model: 'no-such-model' };
  const budget = { max_cost_usd: 1 };

  test('is stored, and bounds the estimate', async () => {
    const { body } = await http.call('POST', url, { ...good, budget: { max_cost_usd: 1e-6 } });
    expect(await specOf(body.job_id)).toMatchObject({ budget: { maxMinutes: null, maxCostUsd: 1e-6 } });
    expect(body.estimate.cost_usd.high).toBe(1e-6);
    const read = await http.call('GET', `${url}/${body.job_id}`);
    expect(read.body.budget).toEqual({ max_cost_usd: 1e-6, spent_usd: 0, reserved_usd: 0 });
    const { body: free } = await http.call('POST', url, good);
    expect((await http.call('GET', `${url}/${free.job_id}`)).body.budget).toEqual({
      max_cost_usd: null,
      spent_usd: null,
      reserved_usd: null,
    });
  });

  test.each<[what: string, body: object, pointer: string]>([
    ['an unknown price', { ...good, policy: unknown, budget }, '/budget/max_cost_usd'],
    ['one in the wrapper', { config: { ...good, policy: unknown, budget } }, '/config/budget/max_cost_usd'],
    [
      'one of a judge',
      { ...rows, scorer: { type: 'rubric', criteria: '- polite (1): Is it polite?', ...unknown }, budget },
      '/budget/max_cost_usd',
    ],
    ['no dollars', { ...good, budget: { max_cost_usd: 0 } }, '/budget/max_cost_usd'],
    ['rollouts', { ...good, budget: { max_rollouts: 2 } }, '/budget/max_rollouts'],
  ])('of %s is refused', async (_what, body, pointer) => {
    const answer = await http.call('POST', url, body);
    expect([answer.status, answer.body.errors.map((error: { pointer: string }) => error.pointer)]).toEqual([
      422,
      [pointer],
    ]);
  });
});

describe('of a candidate', () => {
  test('by messages', async () => {
    const messages = [{ role: 'system', content: 'Be kind.' }];
    const { body } = await http.call('POST', url, { ...good, candidate: { messages } });
    expect(await specOf(body.job_id)).toMatchObject({ candidate: { messages, sessionId: null, candidateId: null } });
  });

  test('by messages of several components', async () => {
    const messages = [
      { role: 'system', content: 'Plan.', name: 'plan' },
      { role: 'user', content: 'Act.' },
    ];
    const { body } = await http.call('POST', url, { ...good, candidate: { messages } });
    expect(((await specOf(body.job_id)) as { candidate: object }).candidate).toEqual({
      messages,
      sessionId: null,
      candidateId: null,
    });
  });

  test('by session: the best or the named candidate; 409 until it exists', async () => {
    const session_id = await createSession(http);
    const none = await http.call('POST', url, { ...good, candidate: { session_id } });
    expect([none.status, none.body.code]).toEqual([409, 'candidate_not_ready']);

    const ids = [0, 1, 2].map((version) => `cand_${session_id.slice(4)}_${version}`);
    await http.db.org('default', async (tx) => {
      const job = { orgId: 'default', jobId: session_id };
      for (const leverVersion of [0, 1]) {
        const messages = [{ role: 'system' as const, content: `version ${leverVersion}` }];
        await addCandidate(tx, job, { leverVersion, generation: leverVersion, parents: [], messages });
      }
      await addCandidate(tx, job, { leverVersion: 2, generation: 1, parents: [0], messages: null });
      await tx.query('update jobs set projection = jsonb_build_object($1::text, $2::text) where id = $3', [
        'bestCandidateId',
        ids[1],
        session_id,
      ]);
    });
    const best = await http.call('POST', url, { ...good, candidate: { session_id } });
    expect(await specOf(best.body.job_id)).toMatchObject({
      candidate: { sessionId: session_id, candidateId: ids[1], messages: [{ role: 'system', content: 'version 1' }] },
    });
    const named = await http.call('POST', url, { ...good, candidate: { session_id, candidate_id: ids[0] } });
    expect(await specOf(named.body.job_id)).toMatchObject({ candidate: { messages: [{ content: 'version 0' }] } });
    const unknownYet = await http.call('POST', url, { ...good, candidate: { session_id, candidate_id: ids[2] } });
    expect([unknownYet.status, unknownYet.body.code]).toEqual([409, 'candidate_not_ready']);
    const unknown = await http.call('POST', url, { ...good, candidate: { session_id, candidate_id: 'cand_x' } });
    expect([unknown.status, unknown.body.errors[0].pointer]).toEqual([422, '/candidate/candidate_id']);
    const foreign = await http.call(
      'POST',
      url,
      { ...good, candidate: { session_id } },
      { authorization: `Bearer ${http.otherKey}` },
    );
    expect([foreign.status, foreign.body.errors[0].pointer]).toEqual([422, '/candidate/session_id']);
  });
});

describe('around config', () => {
  test.each(['kind', 'technique', 'system', 'config_mode', 'overrides', 'metadata', 'correlation_id', 'auto_start'])(
    'accepts %s from the client',
    async (name) => {
      expect((await http.call('POST', url, { config: good, [name]: 'x' })).status).toBe(201);
    },
  );

  test.each(['zzz', 'app_id', 'seeds', 'timeout'])('refuses the unknown %s', async (name) => {
    const { status, body } = await http.call('POST', url, { config: good, [name]: 1 });
    expect([status, body.errors]).toEqual([422, [{ pointer: `/${name}`, message: 'unknown field' }]]);
  });
});

describe('an incomplete body is 422 with the missing fields', () => {
  const missing = async (body: unknown) => (await http.call('POST', url, body)).body.errors;

  test('names all missing fields beside unknown ones', async () => {
    const required = ['container_url', 'env_name', 'seeds', 'policy', 'app_id'];
    const errors = await missing({ x: 1 });
    expect(errors.map(({ pointer }: { pointer: string }) => pointer).sort()).toEqual(
      [...required, 'x'].map((name) => `/${name}`).sort(),
    );
    expect(errors).toContainEqual({ pointer: '/env_name', message: 'is required' });
  });

  test('reports an absent body', async () => {
    expect(await missing(undefined)).toEqual([{ pointer: '', message: expect.stringContaining('container_url') }]);
    expect(await missing({ config: null })).toEqual([
      { pointer: '/config', message: expect.stringContaining('container_url') },
    ]);
  });
});

test('names the limit for too many seeds', async () => {
  const seeds = Array.from({ length: 10_001 }, (_, i) => i);
  const { body } = await http.call('POST', url, { ...good, seeds });
  expect(body.errors).toEqual([{ pointer: '/seeds', message: expect.stringContaining('10000') }]);
});

describe('bad input is 422 with the name of the field', () => {
  test.each<[field: string, value: unknown, pointer?: string]>([
    ['container_url', undefined],
    ['container_url', 'http://169.254.169.254'],
    ['app_id', undefined],
    ['app_id', ''],
    ['env_name', undefined],
    ['policy', undefined],
    ['policy', { model: 'm', provider: 'nobody' }, '/policy/provider'],
    ['policy', { model: 'm', provider: 'openai', API_KEY: 'x' }, '/policy/API_KEY'],
    ['seeds', undefined],
    ['seeds', []],
    ['seeds', [0.5], '/seeds/0'],
    ['seeds', ['0'], '/seeds/0'],
    ['seeds', [-1], '/seeds/0'],
    ['seeds', Array.from({ length: 10_001 }, (_, i) => i)],
    ['max_concurrent', 0],
    ['timeout', 0],
    ['timeout', -5],
    ['timeout', 'soon'],
    ['timeout', 7 * 86_400 + 1],
    ['rollout_timeout', 0.5],
    ['max_failure_rate', 2],
    ['env_config', []],
    ['candidate', {}],
    ['candidate', { candidate_id: 'cand_1' }],
    ['candidate', { session_id: 'ses_1', messages: [{ role: 'system', content: 'x' }] }],
    ['candidate', { session_id: 'ses_1' }, '/candidate/session_id'],
    ['candidate', { messages: [{ role: 'user', content: 'x', name: '1' }] }, '/candidate/messages/0/name'],
    [
      'candidate',
      {
        messages: [
          { role: 'user', content: 'x' },
          { role: 'system', content: 'y', name: 'user' },
        ],
      },
      '/candidate/messages/1/name',
    ],
    ['surprise', 1],
  ])('%s = %j', async (field, value, pointer = `/${field}`) => {
    const body = { ...good, [field]: value };
    const flat = await http.call('POST', url, body);
    expect([flat.status, flat.body.errors[0].pointer]).toEqual([422, pointer]);
    if (field === 'app_id' && value === undefined) return;
    const wrapped = await http.call('POST', url, { kind: 'eval', config: body });
    expect([wrapped.status, wrapped.body.errors[0].pointer]).toEqual([422, `/config${pointer}`]);
  });
});
