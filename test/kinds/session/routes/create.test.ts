import { describe, expect, test } from '@jest/globals';
import { readSecret } from '../../../../src/access/store/secrets.js';
import { httpOfFile, sessionRequest as good, startHttp } from '../../../platform/http/support.js';

const url = '/api/v1/online/sessions';
const http = httpOfFile();

const message = (name?: string) => ({ role: 'system', content: 'x', ...(name !== undefined && { name }) });

const create = (policy_optimization: unknown, beside: object = {}) =>
  http.call('POST', url, { policy_optimization, ...beside });

async function stored(jobId: string) {
  const [row] = await http.db.org('default', (tx) => tx.query('select * from jobs where id = $1', [jobId]));
  return row!;
}

async function countJobs(): Promise<number> {
  const [row] = await http.db.org('default', (tx) => tx.query<{ n: number }>('select count(*) as n from jobs'));
  return row!.n;
}

describe('create session', () => {
  test.each(['gepa', 'mipro'])('reads ranges of seeds as lists: %s', async (algorithm) => {
    const evaluation = { seeds: { from: 4, to: 6 }, heldout_seeds: '7-8' };
    const section = { population_size: 1, generations: 1, evaluation, train_seeds: '0-3' };
    const { gepa: _, ...rest } = good;
    const mipro = { num_candidates: 2, evaluation, train_seeds: '0-3' };
    const { status, body } = await create({
      ...rest,
      algorithm,
      ...(algorithm === 'gepa' ? { gepa: section } : { mipro }),
    });
    expect(status).toBe(201);
    expect((await stored(body.session_id))['spec']).toMatchObject({
      search: { trainSeeds: [0, 1, 2, 3], evaluationSeeds: [4, 5, 6], heldoutSeeds: [7, 8] },
    });
  });

  test('driven by its caller needs no container, and allows rewards a week', async () => {
    const { container_url: _, ...rest } = good;
    const { status, body } = await create({ ...rest, rollouts: 'caller', rollout_timeout: 604_800 });
    expect(status).toBe(201);
    expect((await stored(body.session_id))['spec']).toMatchObject({ container: null, rollouts: 'caller' });
    // The caller pays for its calls anyway: the estimate covers the proposer.
    const { body: other } = await create(good);
    expect(body.estimate.cost_usd.high).toBeLessThan(other.estimate.cost_usd.high);
    expect(body.warnings).toBeUndefined();
    const { body: state } = await http.call('GET', `${url}/${body.session_id}`);
    expect(state).toMatchObject({ container_url: null, traffic: { compared: null, wanted: 0, claimed: 0 } });
  });

  test('answers 201 with all that the caller needs next', async () => {
    const { status, headers, body } = await create(good);
    expect(status).toBe(201);
    expect(body.session_id).toMatch(/^ses_[0-9a-f]{32}$/);
    const base = `http://127.0.0.1:8787/api/gepa/v1/${body.session_id}`;
    expect(body).toEqual({
      session_id: body.session_id,
      job_id: body.session_id,
      status: 'running',
      proxy_url: base,
      online_url: base,
      chat_completions_url: `${base}/chat/completions`,
      // 2 for the baseline, then 4 proposals, each with minibatches for parent and child and an
      // evaluation; 2 train seeds for demonstrations,
      // and 4 sets on both.
      estimate: {
        rollouts: 52,
        cost_usd: { low: expect.any(Number), likely: expect.any(Number), high: expect.any(Number) } as unknown,
      },
      planned_comparison: { basis: 'evaluation', seeds: 2, least_difference: null, seeds_for_tenth: 90 },
      warnings: [expect.stringContaining('train_seeds')],
      workflow_id: `session-${body.session_id}`,
      temporal_url: `http://127.0.0.1:8233/workflows/session-${body.session_id}`,
    });
    expect(headers['location']).toBe(`${url}/${body.session_id}`);
    expect(http.commander.started).toContain(body.session_id);
    const row = await stored(body.session_id);
    expect(row).toMatchObject({ status: 'running', kind: 'session', algorithm: 'gepa', workflow_started: true });
    expect(row['spec']).toEqual({
      kind: 'session',
      container: { url: 'http://127.0.0.1:18114', envName: null, envConfig: {}, hasApiKey: false },
      policy: { model: 'gpt-6-luna', provider: 'openai', params: {} },
      proposer: { model: 'gpt-6-luna', provider: 'openai', params: {} },
      maxConcurrent: 5,
      rolloutTimeoutS: 120,
      maxFailureRate: 0.5,
      preflight: true,
      initialPrompt: null,
      budget: { maxMinutes: null, maxCostUsd: null },
      search: {
        algorithm: 'gepa',
        maxRollouts: null,
        rngSeed: 0,
        slots: 5,
        populationSize: 2,
        generations: 2,
        minibatchSize: 3,
        trainSeeds: [0, 1],
        evaluationSeeds: [0, 1],
        heldoutSeeds: [],
        isSampled: true,
        repeats: 1,
        patience: null,
        targetReward: null,
        merge: true,
        componentSelection: 'feedback',
        demonstrations: 64,
        goodAnswers: 0,
        trials: null,
        parentSelection: 'estimate',
      },
    });
  });

  test('with every optional field', async () => {
    const { status, body } = await create(
      {
        ...good,
        container_url: 'http://127.0.0.1:18114/base/',
        container_api_key: 'env key 1',
        policy: { model: 'm', provider: 'local', temperature: 0, stop: ['x'] },
        proposer: { model: 'big', provider: 'openai', top_p: 0.5 },
        initial_prompt: { messages: [{ role: 'system', content: 'Be kind.' }] },
        rollouts: 'container',
        budget: { max_rollouts: 50, max_minutes: 1.5 },
        env_name: 'train',
        env_config: { anything: { at: ['all', 1.5, null] } },
        max_concurrent: 7,
        rollout_timeout: 1.5,
        max_failure_rate: 0,
        rng_seed: 42,
        gepa: {
          ...good.gepa,
          train_seeds: [5, 6, 7],
          minibatch_size: 2,
          merge: false,
          evaluation: { seeds: [1], repeats: 1 },
        },
      },
      { correlation_id: 'mine' },
    );
    expect([status, body.correlation_id]).toEqual([201, 'mine']);
    const { spec, correlation_id } = await stored(body.session_id);
    expect(correlation_id).toBe('mine');
    expect(spec).toMatchObject({
      container: {
        url: 'http://127.0.0.1:18114/base',
        envName: 'train',
        envConfig: { anything: { at: ['all', 1.5, null] } },
        hasApiKey: true,
      },
      policy: { model: 'm', provider: 'local', params: { temperature: 0, stop: ['x'] } },
      proposer: { model: 'big', provider: 'openai', params: { top_p: 0.5 } },
      initialPrompt: [{ role: 'system', content: 'Be kind.' }],
      budget: { maxMinutes: 1.5, maxCostUsd: null },
      maxConcurrent: 7,
      rolloutTimeoutS: 1.5,
      maxFailureRate: 0,
      preflight: true,
      search: {
        algorithm: 'gepa',
        maxRollouts: 50,
        rngSeed: 42,
        slots: 7,
        trainSeeds: [5, 6, 7],
        evaluationSeeds: [1],
        minibatchSize: 2,
      },
    });
  });

  test('stores the container’s key encrypted, bound to its origin, and nowhere else', async () => {
    const secret = 'a-very-secret-container-key';
    const { body } = await create({ ...good, container_api_key: secret });
    const where = { orgId: 'default', jobId: body.session_id, name: 'container_api_key' };
    await http.db.org('default', async (tx) => {
      const key = http.deps.secretKey;
      expect(await readSecret(tx, key, { ...where, origin: 'http://127.0.0.1:18114' })).toBe(secret);
      expect(await readSecret(tx, key, { ...where, origin: 'http://127.0.0.1:1' })).toBeNull();
      const [row] = await tx.query('select row_to_json(j)::text as text from jobs j where id = $1', [body.session_id]);
      expect(row!['text']).not.toContain(secret);
    });
    expect(JSON.stringify(body)).not.toContain(secret);
  });

  test('warns about a remote container while the proxy URLs are loopback', async () => {
    const { body } = await create({ ...good, container_url: 'https://containers.example.com' });
    expect(body.warnings).toContainEqual(expect.stringContaining('RATCHET_PUBLIC_URL'));
  });

  test('keeps a session whose workflow cannot start now for the reconciler', async () => {
    const broken = await startHttp();
    broken.commander.onStart = () => Promise.reject(new Error('Temporal is away'));
    const first = await broken.call('POST', url, { policy_optimization: good });
    expect([first.status, first.body.status]).toEqual([201, 'running']);
    broken.commander.onStart = () => new Promise(() => {});
    const second = await broken.call('POST', url, { policy_optimization: good });
    expect(second.status).toBe(201);
    const rows = await broken.db.org('default', (tx) => tx.query('select status, workflow_started from jobs'));
    expect(rows).toEqual([
      { status: 'running', workflow_started: false },
      { status: 'running', workflow_started: false },
    ]);
    await broken.close();
  });
});

describe('requests of the existing client', () => {
  const recorded = JSON.parse(
    '{"config_body":{"policy_optimization":{"algorithm":"gepa","container_url":"http://127.0.0.1:18114","gepa":{"evaluation":{"seeds":[0,1]},"generations":2,"population_size":2},"policy":{"model":"gpt-6-luna","provider":"openai"}}},"kind":"voyager_online","metadata":{},"overrides":{},"system":{"name":"gepa-online-session"},"technique":"discrete_optimization"}',
  ) as Record<string, unknown>;

  test('accepts its recorded request, with its headers', async () => {
    const headers = { accept: '*/*', authorization: `Bearer ${http.key}`, 'x-api-key': http.key };
    const { status, body } = await http.call('POST', url, recorded, headers);
    expect(status).toBe(201);
    expect((await stored(body.session_id))['spec']).toMatchObject({
      search: { evaluationSeeds: [0, 1], generations: 2 },
    });
  });

  const { config_body: wrapped, ...envelope } = recorded;
  test.each([
    ['config', { config: wrapped, ...envelope, config_mode: 'DEFAULT', correlation_id: 'c' }],
    ['the top level', { policy_optimization: good, ...envelope }],
    ['prompt_learning', { prompt_learning: good }],
    ['prompt_learning in config_body', { config_body: { prompt_learning: good } }],
    ['task_app_url', { policy_optimization: { ...good, container_url: undefined, task_app_url: good.container_url } }],
    ['localapi_url', { policy_optimization: { ...good, container_url: undefined, localapi_url: good.container_url } }],
    ['two names for the same URL', { policy_optimization: { ...good, task_app_url: good.container_url } }],
  ])('accepts %s', async (_name, body) => {
    const answer = await http.call('POST', url, body);
    expect([answer.status, answer.body.detail]).toEqual([201, undefined]);
    expect((await stored(answer.body.session_id))['spec']).toMatchObject({ container: { url: good.container_url } });
  });
});

describe('a prompt of several components', () => {
  test('is stored as given, with its names', async () => {
    const messages = [
      { role: 'system', content: 'Plan.', name: 'plan' },
      { role: 'user', content: 'Act.', name: `a${'-'.repeat(62)}9` },
      { role: 'system', content: 'One without a name.' },
      { role: 'system', content: 'And another.' },
    ];
    const { status, body } = await create({ ...good, initial_prompt: { messages } });
    expect([status, body.errors]).toEqual([201, undefined]);
    expect((await stored(body.session_id))['spec']).toMatchObject({ initialPrompt: messages });
  });

  test('has up to twenty', async () => {
    const messages = Array.from({ length: 20 }, () => message());
    expect((await create({ ...good, initial_prompt: { messages } })).status).toBe(201);
  });

  test('names both places of two messages with the same name', async () => {
    const { body } = await create({ ...good, initial_prompt: { messages: [message('a'), message('a')] } });
    expect(body.errors).toEqual([
      {
        pointer: '/policy_optimization/initial_prompt/messages/1/name',
        message: expect.stringContaining('messages.0'),
      },
    ]);
  });
});

describe('bad input is 422 with the name of the field, before anything is stored', () => {
  const at = (path: string, value: unknown): Record<string, unknown> => {
    const copy = structuredClone(good) as Record<string, unknown>;
    const names = path.split('.');
    const last = names.pop()!;
    let holder = copy;
    for (const name of names) holder = (holder[name] ??= {}) as Record<string, unknown>;
    if (value === undefined) delete holder[last];
    else holder[last] = value;
    return copy;
  };
  const seeds = 'gepa.evaluation.seeds';

  test.each<[field: string, value: unknown, named?: string]>([
    ['answer_cache', 'deterministic'],
    ['answer_cache', { sampled: true }],
    ['algorithm', 'simulated_annealing'],
    ['algorithm', undefined],
    ['algorithm', 5],
    ['container_url', undefined],
    ['container_url', ''],
    ['container_url', 17],
    ['container_url', 'not a url'],
    ['container_url', 'ftp://127.0.0.1'],
    ['container_url', 'http://user:pass@127.0.0.1'],
    ['container_url', 'http://127.0.0.1?x=1'],
    ['container_url', 'http://169.254.169.254'],
    ['task_app_url', 'http://127.0.0.1:5', 'container_url'],
    ['policy', undefined],
    ['policy', 'gpt-4o'],
    ['policy.model', undefined],
    ['policy.model', ''],
    ['policy.provider', undefined],
    ['policy.provider', 'nobody'],
    ['policy.api_key', 'sk'],
    ['policy.API_Base', 'http://x'],
    ['policy.base_url', 'http://x'],
    ['policy.BaseUrl', 'http://x'],
    ['policy.extra_headers', {}],
    ['policy.headers', {}],
    ['policy.default_headers', {}],
    ['policy.organization', 'org'],
    ['proposer.api_key', 'sk', 'proposer.model'],
    ['proposer', { model: 'm', provider: 'openai', api_key: 'sk' }, 'proposer.api_key'],
    ['proposer', { model: 'm', provider: 'nobody' }, 'proposer.provider'],
    ['gepa', undefined],
    ['gepa', []],
    ['gepa.population_size', 501],
    ['gepa.population_size', 1.5],
    ['gepa.generations', -1],
    ['gepa.generations', 2_001],
    ['gepa.generations', 1_000],
    ['gepa.minibatch_size', 0],
    ['gepa.minibatch_size', 1_001],
    ['gepa.evaluation', undefined],
    [seeds, undefined],
    [seeds, []],
    [seeds, [0, 1.5], `${seeds}.1`],
    [seeds, [0, '1'], `${seeds}.1`],
    [seeds, [-1], `${seeds}.0`],
    [seeds, [2 ** 53], `${seeds}.0`],
    [seeds, [null], `${seeds}.0`],
    [seeds, Array.from({ length: 1001 }, (_, i) => i)],
    ['gepa.train_seeds', []],
    ['gepa.mutation_rate', 0.5],
    ['budget.max_rollouts', 7],
    ['budget.max_rollouts', 0],
    ['budget.max_tokens', 1],
    ['initial_prompt', { messages: [{ role: 'system', content: '' }] }, 'initial_prompt.messages.0.content'],
    ['initial_prompt', { messages: [{ role: 'robot', content: 'x' }] }, 'initial_prompt.messages.0.role'],
    ['initial_prompt', { messages: [] }, 'initial_prompt.messages'],
    ['initial_prompt', { messages: Array(21).fill(message()) }, 'initial_prompt.messages'],
    ...['', '1st', '-a', 'a b', 'a.b', 'é', 'a'.repeat(65), 7].map((name): [string, unknown, string] => [
      'initial_prompt',
      { messages: [message(), { ...message(), name }] },
      'initial_prompt.messages.1.name',
    ]),
    ['initial_prompt', { messages: [message('a'), message('b'), message('a')] }, 'initial_prompt.messages.2.name'],
    ['initial_prompt', { messages: [message(), message('system')] }, 'initial_prompt.messages.1.name'],
    ['initial_prompt', { messages: [message('system_2'), message(), message()] }, 'initial_prompt.messages.2.name'],
    ['max_concurrent', 0],
    ['max_concurrent', 257],
    ['max_concurrent', 2.5],
    ['rollout_timeout', 0],
    ['rollout_timeout', 3601],
    ['max_failure_rate', 1.1],
    ['max_failure_rate', -0.1],
    ['rng_seed', 0.5],
    ['container_api_key', ''],
    ['container_api_key', 'line\nbreak'],
    ['env_config', 'x'],
    ['env_name', ''],
    ['surprise', 1],
  ])('%s = %j', async (field, value, named = field) => {
    const before = await countJobs();
    const { status, body } = await create(at(field, value));
    expect(status).toBe(422);
    const pointers = body.errors.map((error: { pointer: string }) => error.pointer);
    expect(pointers).toContain(`/policy_optimization/${named.replaceAll('.', '/')}`);
    expect(body.detail).toContain(named);
    expect(await countJobs()).toBe(before);
  });

  test('refuses max_cost_usd with unknown prices, and names each model without one', async () => {
    const budget = { max_cost_usd: 1 };
    expect((await create({ ...good, budget })).status).toBe(201);
    const unknown = { provider: 'openai', model: 'no-such-model' };
    for (const [more, named] of [
      [{ policy: unknown }, /policy: the price of the model "no-such-model" of the provider "openai" is not known/],
      [{ proposer: unknown }, /proposer: the price of/],
    ] as const) {
      const { status, body } = await create({ ...good, ...more, budget });
      expect(status).toBe(422);
      expect(body.errors).toEqual([
        { pointer: '/policy_optimization/budget/max_cost_usd', message: expect.stringMatching(named) as unknown },
      ]);
    }
    expect((await create({ ...good, budget: { max_cost_usd: 0 } })).status).toBe(422);
  });

  test.each<[field: string, change: object, named: RegExp]>([
    ['answer_cache', { answer_cache: true }, /caller/],
    ['answer_cache', { answer_cache: 'sampled' }, /caller/],
    ['container_api_key', { container_url: undefined, container_api_key: 'k' }, /container_url/],
    ['rollout_timeout', { rollouts: 'container', rollout_timeout: 3_601 }, /at most 3600/],
    ['rollout_timeout', { rollout_timeout: 604_801 }, /<=604800/],
    ['container_url', { rollouts: 'container', container_url: undefined }, /is required/],
  ])('checks %s by the driver of the session', async (field, change, named) => {
    const { status, body } = await create({ ...good, rollouts: 'caller', ...change });
    expect(status).toBe(422);
    expect(body.errors).toEqual([
      { pointer: `/policy_optimization/${field}`, message: expect.stringMatching(named) as unknown },
    ]);
  });

  const { gepa: _gepa, ...shared } = good;
  const mipro = { ...shared, algorithm: 'mipro', mipro: { num_candidates: 4, evaluation: { seeds: [1, 2, 3] } } };

  test('limits the trials and minibatches of a MIPRO session by its choices and seeds', async () => {
    const { status, body } = await create(mipro);
    expect(status).toBe(201);
    // 9 evaluations of 3 seeds; 8 tests of 3 seeds and 3 for losses, of child and parent; four
    // probes of noise; 3 seeds explored, and 8 sets confirmed on 3.
    expect(body.estimate.rollouts).toBeLessThanOrEqual(9 * 3 + 8 * 2 * 6 + 4 + 3 + 8 * 3);
    const { body: seen } = await http.call('GET', `${url}/${body.session_id}`);
    expect(seen).toMatchObject({ algorithm: 'mipro', progress: { generation: 0, total_generations: 8 } });
  });

  test.each<[field: string, change: object, named: RegExp]>([
    ['mipro', { mipro: undefined }, /mipro/],
    ['gepa', { gepa: good.gepa }, /remove it/],
    ['mipro/num_candidates', { mipro: { num_candidates: 51, evaluation: { seeds: [1] } } }, /1 to 50/],
    ['mipro/max_labeled_demos', { mipro: { ...mipro.mipro, max_labeled_demos: 101 } }, /0 to 100/],
    [
      'mipro/evaluation/heldout_seeds',
      { mipro: { num_candidates: 2, evaluation: { seeds: [1], heldout_seeds: [1] } } },
      /1 is among/,
    ],
    ['budget/max_rollouts', { budget: { max_rollouts: 11 } }, /at least 12/],
    ['mipro/generations', { mipro: { ...mipro.mipro, generations: 2 } }, /nrecognized|nknown/],
  ])('refuses a MIPRO session with a wrong %s', async (field, change, named) => {
    const { status, body } = await create({ ...mipro, ...change });
    expect(status).toBe(422);
    expect(body.errors).toEqual([
      { pointer: `/policy_optimization/${field}`, message: expect.stringMatching(named) as unknown },
    ]);
  });

  test.each<[string, unknown, string]>([
    ['no body', undefined, ''],
    ['a list', [], ''],
    ['an empty object', {}, '/policy_optimization'],
    ['an empty wrapper', { config_body: {} }, '/policy_optimization'],
    ['an unknown field beside', { policy_optimization: good, surprise: 1 }, '/surprise'],
    ['an unknown field in the wrapper', { config: { policy_optimization: good, surprise: 1 } }, '/config/surprise'],
    [
      'two of them',
      { policy_optimization: good, config: { policy_optimization: good } },
      '/config/policy_optimization',
    ],
    [
      'a fault in the wrapper',
      { config_body: { policy_optimization: at('policy.provider', 'nobody') } },
      '/config_body/policy_optimization/policy/provider',
    ],
    [
      'a fault in another name of the URL',
      { prompt_learning: { ...good, container_url: undefined, task_app_url: 'ftp://127.0.0.1' } },
      '/prompt_learning/task_app_url',
    ],
  ])('%s', async (_name, body, pointer) => {
    const answer = await http.call('POST', url, body);
    expect([answer.status, answer.body.errors?.[0].pointer]).toEqual([422, pointer]);
  });

  test.each<[field: string, value: unknown, message: string]>([
    ['gepa.population_size', 0, 'must be 1 to 500'],
    ['gepa.population_size', '2', 'must be a whole number'],
    ['gepa.population_size', undefined, 'is required'],
    [seeds, 'all', expect.stringContaining('"0-99"') as never],
    [seeds, '0-1000', 'must hold at most 1000 seeds; 0 to 1000 has 1001'],
    ['rng_seed', 2 ** 53, `must be ${-1e15} to ${1e15}`],
  ])('%s = %j: %s', async (field, value, message) => {
    const { body } = await create(at(field, value));
    expect(body.errors).toEqual([{ pointer: `/policy_optimization/${field.replaceAll('.', '/')}`, message }]);
  });

  const pointersOf = async (body: unknown) =>
    (await http.call('POST', url, body)).body.errors.map(({ pointer }: { pointer: string }) => pointer).sort();

  test('names all missing fields at once', async () => {
    const required = ['algorithm', 'container_url', 'gepa', 'policy'].map((name) => `/policy_optimization/${name}`);
    expect(await pointersOf({ policy_optimization: {} })).toEqual(required);
    expect(await pointersOf({ policy_optimization: { x: 1 } })).toEqual([...required, '/policy_optimization/x']);
    expect(await pointersOf({ x: 1 })).toEqual(['/policy_optimization', '/x']);
    expect(await pointersOf({ config: { x: 1 } })).toEqual(['/config/x', '/policy_optimization']);
  });

  test.each<[string, change: object, errors: object]>([
    ['gepa/generation', { gepa: { ...good.gepa, generation: 2 } }, { '/gepa/generation': 'generations' }],
    ['maxConcurrent', { maxConcurrent: 2 }, { '/maxConcurrent': 'max_concurrent' }],
    ['budget/max_rollout', { budget: { max_rollout: 9 } }, { '/budget/max_rollout': 'max_rollouts' }],
    ['colour', { colour: 'red' }, { '/colour': null }],
    [
      'policy/provder',
      { policy: { provder: 'local', model: 'm' } },
      { '/policy/provder': 'provider', '/policy/provider': null },
    ],
  ])('suggests the known field that is close to %s', async (_name, change, errors) => {
    const { status, body } = await create({ ...good, ...change });
    const suggested = body.errors.map(({ pointer, message }: { pointer: string; message: string }) => [
      pointer.replace('/policy_optimization', ''),
      /did you mean `(\w+)`\?$/.exec(message)?.[1] ?? null,
    ]);
    expect([status, Object.fromEntries(suggested)]).toEqual([422, errors]);
  });

  test.each([[[]], [['config']], [['config_body']]])(
    'says once where fields without their wrapper go: %j',
    async (holder) => {
      const { status, body } = await http.call('POST', url, holder.length > 0 ? { [holder[0]!]: good } : good);
      const names = 'algorithm, container_url, gepa, policy';
      expect([status, body.errors]).toEqual([
        422,
        [
          {
            pointer: `/${[...holder, 'policy_optimization'].join('/')}`,
            message: `is required; put ${names} inside it`,
          },
        ],
      ]);
    },
  );

  test('runs the checks across fields despite other faults', async () => {
    expect(
      await pointersOf({
        policy_optimization: {
          ...good,
          container_url: undefined,
          policy: { api_key: 'sk', model: 'm' },
          patience: 0.5,
          rng_seed: 0.5,
          gepa: { generations: 1.5, merge: 1, evaluation: 'all' },
        },
      }),
    ).toEqual(
      [
        'container_url',
        'policy/api_key',
        'policy/provider',
        'patience',
        'rng_seed',
        'gepa/generations',
        'gepa/population_size',
        'gepa/merge',
        'gepa/evaluation',
      ]
        .map((name) => `/policy_optimization/${name}`)
        .sort(),
    );
  });

  test.each([undefined, 'null', '[]', '5'])('names the expected field for a body of %s', async (body) => {
    const answer = await http.call('POST', url, body);
    expect(answer.body.errors).toEqual([{ pointer: '', message: expect.stringContaining('policy_optimization') }]);
  });

  test('reports all static faults at once', async () => {
    const { body } = await create({
      ...good,
      container_url: 'http://169.254.169.254',
      policy: { model: 'm', provider: 'nobody' },
      budget: { max_rollouts: 1 },
    });
    expect(body.errors.map((error: { pointer: string }) => error.pointer)).toEqual([
      '/policy_optimization/container_url',
      '/policy_optimization/policy/provider',
      '/policy_optimization/budget/max_rollouts',
    ]);
  });
});
