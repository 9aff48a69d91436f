import { describe, expect, test } from '@jest/globals';
import { readJob, type GraphHead } from '../../../../src/jobs/store/jobs.js';
import { httpOfFile } from '../../../platform/http/support.js';

const url = '/api/graphgen/jobs';
const http = httpOfFile();

const tasks = Array.from({ length: 12 }, (_, i) => ({ id: `t${i}`, input: { question: `q${i}`, context: 'c' } }));
const dataset = {
  initial_prompt: 'Answer.',
  tasks,
  gold_outputs: tasks.map(({ id }) => ({ task_id: id, output: 'x' })),
  verifier_config: { mode: 'exact' },
};
const good = { dataset, policy_model: 'gpt-6-luna', rollout_budget: 60 };
const step = {
  id: 'solve',
  type: 'llm',
  inputs: { question: 'input.question' },
  messages: [{ role: 'user', content: '{{question}}' }],
  output: { field: 'answer' },
};
const graph = { inputs: ['question'], steps: [step], output: 'solve.answer' };
const anyCost: unknown = expect.any(Number);
const create = (body: object = good, headers: Record<string, string> = {}) => http.call('POST', url, body, headers);
const rows = (sql: string, jobId: string) => http.db.org('default', (tx) => tx.query(sql, [jobId]));

describe('create graph job', () => {
  test('answers 201 with both names of its id, and stores the data set in rows of its own', async () => {
    const { status, headers, body } = await create();
    expect(status).toBe(201);
    expect(body).toEqual({
      job_id: expect.stringMatching(/^grf_[0-9a-f]{32}$/),
      graph_gen_job_id: body.job_id,
      graph_evolve_job_id: body.job_id,
      status: 'running',
      num_tasks: 12,
      max_rollouts: 60,
      planned_comparison: { basis: 'evaluation', seeds: 5, least_difference: 0.8, seeds_for_tenth: 90 },
      estimate: { rollouts: 60, cost_usd: { low: anyCost, likely: anyCost, high: anyCost } },
      workflow_id: `graph-${body.job_id}`,
      temporal_url: expect.stringContaining(body.job_id),
    });
    expect(headers['location']).toBe(`${url}/${body.job_id}`);
    expect(http.commander.started).toContain(body.job_id);
    const [job] = await rows('select spec, status, kind from jobs where id = $1', body.job_id);
    expect(job).toMatchObject({
      status: 'running',
      kind: 'graph',
      spec: {
        kind: 'graph',
        policies: [{ model: 'gpt-6-luna', provider: 'openai', params: {} }],
        search: { algorithm: 'gepa', populationSize: 2, minibatchSize: 2, maxRollouts: 60 },
        budget: { maxMinutes: null, maxCostUsd: null },
      },
    });
    const { search, initialGraph } = job!['spec'] as { search: Record<string, number[]>; initialGraph: string };
    expect(JSON.parse(initialGraph)).toMatchObject({ inputs: ['question', 'context'], output: 'solve.answer' });
    const all = [...search['trainSeeds']!, ...search['evaluationSeeds']!, ...search['heldoutSeeds']!];
    expect(all.sort((left, right) => left - right)).toEqual([...Array(12).keys()]);
    const stored = await rows(
      'select task_index, task_id, input, gold from graph_tasks where job_id = $1 order by task_index',
      body.job_id,
    );
    expect(stored).toEqual(
      tasks.map(({ id, input }, index) => ({ task_index: index, task_id: id, input, gold: { value: 'x' } })),
    );
    expect(JSON.stringify(job!['spec'])).not.toContain('"q3"');
  });

  test('shows the split, and after the end the rollouts that were not used', async () => {
    const { job_id: id } = (await create()).body;
    const state = async () => (await http.call('GET', `${url}/${id}`)).body;
    const { split, budget } = await state();
    expect([...split.train, ...split.evaluation].sort((left, right) => left - right)).toEqual([...Array(12).keys()]);
    expect(split.heldout).toEqual([]);
    expect(budget.unspent_rollouts).toBeNull();
    await http.call('POST', `${url}/${id}/cancel`);
    expect((await state()).budget.unspent_rollouts).toBe(60);
  });

  test('stores null for absent fields of tasks, and accepts a null gold output', async () => {
    const rubric = { criteria: [{ name: 'n', weight: 1, description: 'd' }] };
    const [first, second, ...rest] = tasks;
    const { body } = await create({
      ...good,
      dataset: {
        tasks: [{ ...first!, rubric }, { ...second!, rubric: 'Be kind.' }, ...rest],
        default_rubric: 'Be brief.',
        gold_outputs: [{ task_id: 't0', output: null }],
        verifier_config: { mode: 'rubric', model: 'gpt-4o' },
      },
    });
    const stored = await rows(
      'select gold, rubric from graph_tasks where job_id = $1 order by task_index limit 3',
      body.job_id,
    );
    expect(stored).toEqual([
      { gold: { value: null }, rubric },
      { gold: null, rubric: 'Be kind.' },
      { gold: null, rubric: 'Be brief.' },
    ]);
  });

  test('creates one job for an Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'a-graph' };
    const first = await create(good, headers);
    const again = await create(good, headers);
    expect([again.status, again.body.job_id]).toEqual([201, first.body.job_id]);
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect((await create({ ...good, rng_seed: 1 }, headers)).status).toBe(422);
  });

  test('accepts many fields, and names in its prompt those that its step needs', async () => {
    const fields = Object.fromEntries(Array.from({ length: 25 }, (_, i) => [`f${i}`, 'x']));
    const many = tasks.map(({ id }) => ({ id, input: fields }));
    const { status } = await create({
      ...good,
      dataset: { ...dataset, initial_prompt: 'Answer {{f3}}.', tasks: many },
    });
    expect(status).toBe(201);
  });

  test('omits long descriptions and fields from lists', async () => {
    const fields = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`f${i}`, 1]));
    const { body } = await create({
      ...good,
      dataset: {
        ...dataset,
        metadata: { task_description: 'd'.repeat(100_000) },
        gold_outputs: tasks.map(({ id }) => ({ task_id: id, output: { f0: 1 } })),
        verifier_config: { mode: 'json', fields },
      },
    });
    const head = await http.db.org('default', (tx) => readJob<GraphHead>(tx, body.job_id as string));
    expect(head!.spec.verifier.type).toBe('json');
    expect(JSON.stringify(head!.spec).length).toBeLessThan(2_000);
  });

  test('accepts a data set of megabytes, while other paths accept one megabyte', async () => {
    const context = 'c'.repeat(390_000);
    const large = tasks.map(({ id }) => ({ id, input: { question: 'q', context } }));
    expect((await create({ ...good, dataset: { ...dataset, tasks: large } })).status).toBe(201);
    expect((await http.call('POST', '/api/v1/offline/jobs', { context: context.repeat(3) })).status).toBe(413);
  });

  test('refuses the path that the existing client tries first', async () => {
    expect((await http.call('POST', '/api/graph-evolve/jobs', good)).status).toBe(404);
    expect((await http.call('GET', '/api/graph-evolve/jobs/grf_1')).status).toBe(404);
  });
});

describe('refused with 422 before anything is stored', () => {
  const nested = (levels: number): unknown => Array.from({ length: levels }).reduce((inner) => [inner], 'x');
  const fieldsOf = (count: number) => Array.from({ length: count }, (_, i) => `f${i}`);
  const withData = (changes: object) => ({ ...good, dataset: { ...dataset, ...changes } });
  const withPrompt = (initial_prompt: unknown) => withData({ initial_prompt });
  const withContext = (at: number, context: unknown) =>
    withData({ tasks: tasks.with(at, { ...tasks[at]!, input: { question: 'q', context: context as string } }) });
  const withFields = (names: string[], changes: object = {}) => {
    const input = Object.fromEntries(names.map((name) => [name, 'x']));
    return withData({ tasks: tasks.map(({ id }) => ({ id, input })), ...changes });
  };
  const withGraph = (changes: object) => ({ ...good, initial_graph: { ...graph, ...changes } });
  const withStep = (changes: object) => withGraph({ steps: [{ ...step, ...changes }] });
  const count = { id: 'count', type: 'transform', op: 'count', inputs: { list: 'input.question' } };
  const nobody = { mode: 'gold_examples', model: 'm', provider: 'nobody' };
  const separate = [
    { role: 'system', content: 'Answer.' },
    { role: 'user', content: '{{date}} {{question}}' },
  ];
  const withoutInput = fieldsOf(20).map((name) => ({ role: 'system', content: `Rule ${name}.`, name }));

  test.each<[name: string, body: object, pointer: string]>([
    ['no data set', { policy_model: 'm', rollout_budget: 9 }, '/dataset'],
    ['an unknown field', { ...good, colour: 'red' }, '/colour'],
    ['a budget that buys nothing', { ...good, rollout_budget: 5 }, '/rollout_budget'],
    ['an unknown provider', { ...good, policy_provider: 'nobody' }, '/policy_provider'],
    ["a proposer's", { ...good, proposer: { model: 'm', provider: 'nobody' } }, '/proposer/provider'],
    ["a judge's", withData({ verifier_config: nobody }), '/dataset/verifier_config/provider'],
    [
      'a cost budget for a model without a price',
      { ...good, policy_model: 'no-such-model', budget: { max_cost_usd: 1 } },
      '/budget/max_cost_usd',
    ],
    [
      'an incomparable gold output',
      withData({ verifier_config: { mode: 'numeric' } }),
      '/dataset/gold_outputs/0/output',
    ],
    ['a prompt with an unknown field', withPrompt('Answer {{question}} by {{date}}.'), '/dataset/initial_prompt'],
    [
      'one message with an unknown field',
      withPrompt({ messages: separate }),
      '/dataset/initial_prompt/messages/1/content',
    ],
    ['the most messages without the input', withPrompt({ messages: withoutInput }), '/dataset/tasks/0/input'],
    ['a field with an invalid name', withFields(['a.b']), '/dataset/tasks/0/input'],
    [
      'a description as large as a data set',
      withData({ metadata: { description: 'd'.repeat(9_000_000) } }),
      '/dataset/metadata/description',
    ],
    ['an input nested too deep', withContext(7, nested(55)), '/dataset/tasks/7/input'],
    ['an input too large for a call', withContext(3, 'c'.repeat(600_000)), '/dataset/tasks/3/input'],
    ['an input that fails the first step', withGraph({ steps: [count], output: 'count' }), '/dataset/tasks/0/input'],
    ['more fields than the limit of a step', withFields(fieldsOf(25)), '/dataset/tasks/0/input'],
    [
      'more fields than the limit of a graph',
      withFields(fieldsOf(51), { initial_prompt: 'Answer {{f1}}.' }),
      '/dataset/tasks/0/input',
    ],
    [
      'a prompt with more fields than the limit of a step',
      withFields(fieldsOf(25), {
        initial_prompt: fieldsOf(21)
          .map((name) => `{{${name}}}`)
          .join(' '),
      }),
      '/dataset/initial_prompt',
    ],
    ['a graph other than an object', { ...good, initial_graph: 'solve' }, '/initial_graph'],
    ['a graph without output', withGraph({ output: undefined }), '/initial_graph/output'],
    ['a dangling ref', withGraph({ output: 'other.answer' }), '/initial_graph/output'],
    ['an input missing from the tasks', withGraph({ inputs: ['question', 'date'] }), '/initial_graph/inputs/1'],
    ['an unknown field of a step', withStep({ colour: 1 }), '/initial_graph/steps/0/colour'],
    ['an unknown type of step', withStep({ type: 'code' }), '/initial_graph/steps/0/type'],
    ['a model other than a policy model', withStep({ model: 'm' }), '/initial_graph/steps/0/model'],
    ['a negative time-out', withStep({ timeout_s: -1 }), '/initial_graph/steps/0/timeout_s'],
  ])('%s', async (_name, body, pointer) => {
    const jobs = () => http.db.org('default', (tx) => tx.query('select count(*) from jobs'));
    const before = await jobs();
    const answer = await create(body);
    expect([answer.status, answer.body.code]).toEqual([422, 'validation_failed']);
    expect(answer.body.errors).toContainEqual({ pointer, message: expect.any(String) as unknown });
    expect(await jobs()).toEqual(before);
  });

  test('names the field, the number and the limit', async () => {
    const { body } = await create(withData({ metadata: { description: 'd'.repeat(100_001) } }));
    expect(body.errors[0].message).toMatch(/100001 characters.* 100000/);
  });
});

test('a job without auto_start is pending; its cancel is an event', async () => {
  const id = (await create({ ...good, auto_start: false })).body.job_id as string;
  expect((await http.call('GET', `${url}/${id}`)).body).toMatchObject({ status: 'pending', started_at: null });
  await http.call('PATCH', `${url}/${id}`, { state: 'cancelled' });
  const { body } = await http.call('GET', `${url}/${id}/events?since_seq=0`);
  expect(body.events).toEqual([expect.objectContaining({ type: 'job_cancelled', seq: 1 })]);
});

describe('reading', () => {
  test('returns the state of a new job', async () => {
    const { body } = await create();
    expect((await http.call('GET', `${url}/${body.job_id}`)).body).toMatchObject({
      job_id: body.job_id,
      graph_gen_job_id: body.job_id,
      status: 'running',
      progress: { generation: 0, best_reward: null, rollouts_completed: 0, max_rollouts: 60 },
      candidates: [],
      history: [],
      verifier_mode: 'exact',
      num_tasks: 12,
      usage: { total_tokens: 0, total_cost_usd: null },
      budget: { max_rollouts: 60, max_cost_usd: null },
    });
    const early = await http.call('GET', `${url}/${body.job_id}/graph.txt`);
    expect([early.status, early.body.current_status]).toEqual([409, 'running']);
  });

  test('lists its kind, newest first; a job of another organization is 404', async () => {
    const { body } = await create();
    const page = (await http.call('GET', `${url}?limit=2`)).body;
    expect(page.data[0]).toMatchObject({ job_id: body.job_id, graph_gen_job_id: body.job_id });
    expect([page.data.length, page.has_more]).toEqual([2, true]);
    const headers = { authorization: `Bearer ${http.otherKey}` };
    expect((await http.call('GET', url, undefined, headers)).body.data).toEqual([]);
    for (const path of ['', '/graph.txt', '/events', '/events/stream', '/traces']) {
      expect((await http.call('GET', `${url}/${body.job_id}${path}`, undefined, headers)).status).toBe(404);
    }
    for (const path of ['/start', '/pause', '/resume', '/cancel']) {
      expect((await http.call('POST', `${url}/${body.job_id}${path}`, {}, headers)).status).toBe(404);
    }
    const session = await http.call('GET', `/api/v1/online/sessions/${body.job_id}`);
    expect(session.status).toBe(404);
  });
});
