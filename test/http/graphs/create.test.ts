import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readJob, type GraphHead } from '../../../src/storage/jobs/jobs.js';
import { startHttp, type TestHttp } from '../support.js';

const url = '/api/graphgen/jobs';
let http: TestHttp;
beforeAll(async () => {
  http = await startHttp();
});
afterAll(() => http.close());

const tasks = Array.from({ length: 12 }, (_, i) => ({ id: `t${i}`, input: { question: `q${i}`, context: 'c' } }));
const dataset = {
  initial_prompt: 'Answer.',
  tasks,
  gold_outputs: tasks.map(({ id }) => ({ task_id: id, output: 'x' })),
  verifier_config: { mode: 'exact' },
};
const good = { dataset, policy_model: 'gpt-4o-mini', rollout_budget: 60 };
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

describe('a graph job is created', () => {
  test('201 with both names of its id; the data set is in rows of its own', async () => {
    const { status, headers, body } = await create();
    expect(status).toBe(201);
    expect(body).toEqual({
      job_id: expect.stringMatching(/^grf_[0-9a-f]{32}$/),
      graph_gen_job_id: body.job_id,
      status: 'running',
      num_tasks: 12,
      max_rollouts: 60,
      estimate: { rollouts: 42, cost_usd: { low: anyCost, likely: anyCost, high: anyCost } },
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
        policies: [{ model: 'gpt-4o-mini', provider: 'openai', params: {} }],
        search: { algorithm: 'gepa', populationSize: 2, minibatchSize: 3, maxRollouts: 60 },
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

  test('what a task lacks is null, and a gold output may be null itself', async () => {
    const rubric = { criteria: [{ name: 'n', weight: 1, description: 'd' }] };
    const [first, second, ...others] = tasks;
    const { body } = await create({
      ...good,
      dataset: {
        tasks: [{ ...first!, rubric }, { ...second!, rubric: 'Be kind.' }, ...others],
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

  test('under an Idempotency-Key once', async () => {
    const headers = { 'idempotency-key': 'a-graph' };
    const first = await create(good, headers);
    const again = await create(good, headers);
    expect([again.status, again.body.job_id]).toEqual([201, first.body.job_id]);
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect((await create({ ...good, rng_seed: 1 }, headers)).status).toBe(422);
  });

  test('with many fields, where its prompt names those that its step needs', async () => {
    const fields = Object.fromEntries(Array.from({ length: 25 }, (_, i) => [`f${i}`, 'x']));
    const many = tasks.map(({ id }) => ({ id, input: fields }));
    const { status } = await create({
      ...good,
      dataset: { ...dataset, initial_prompt: 'Answer {{f3}}.', tasks: many },
    });
    expect(status).toBe(201);
  });

  test('with a long description and many fields to compare, of which lists read nothing', async () => {
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
    expect(head!.spec.verifier.mode).toBe('json');
    expect(JSON.stringify(head!.spec).length).toBeLessThan(2_000);
  });

  test('with a data set of megabytes, while other paths take one', async () => {
    const context = 'c'.repeat(390_000);
    const large = tasks.map(({ id }) => ({ id, input: { question: 'q', context } }));
    expect((await create({ ...good, dataset: { ...dataset, tasks: large } })).status).toBe(201);
    expect((await http.call('POST', '/api/v1/offline/jobs', { context: context.repeat(3) })).status).toBe(413);
  });

  test('not by the path that the existing client tries first', async () => {
    expect((await http.call('POST', '/api/graph-evolve/jobs', good)).status).toBe(404);
    expect((await http.call('GET', '/api/graph-evolve/jobs/grf_1')).status).toBe(404);
  });
});

describe('refused with 422 before anything is stored', () => {
  const input = (changes: object) =>
    ({ question: 'q', context: 'c', ...changes }) as { question: string; context: string };
  const nested = (levels: number): unknown => Array.from({ length: levels }).reduce((inner) => [inner], 'x');
  const long = 'c'.repeat(600_000);
  const fieldsOf = (count: number) => Array.from({ length: count }, (_, i) => `f${i}`);
  const placesOf = (count: number) =>
    fieldsOf(count)
      .map((name) => `{{${name}}}`)
      .join(' ');
  const withFields = (count: number) =>
    tasks.map(({ id }) => ({ id, input: Object.fromEntries(fieldsOf(count).map((name) => [name, 'x'])) }));
  const withGraph = (changes: object) => ({ ...good, initial_graph: { ...graph, ...changes } });
  const cases: [name: string, body: object, pointer: string, message: RegExp][] = [
    ['no data set', { policy_model: 'm', rollout_budget: 9 }, '/dataset', /is required/],
    ['a field that is not known', { ...good, colour: 'red' }, '/colour', /unknown field/],
    ['a budget that buys nothing', { ...good, rollout_budget: 5 }, '/rollout_budget', /at least \d+/],
    [
      'a provider that is not known',
      { ...good, policy_provider: 'nobody' },
      '/policy_provider',
      /is not a known provider/,
    ],
    [
      "a proposer's",
      { ...good, proposer: { model: 'm', provider: 'nobody' } },
      '/proposer/provider',
      /is not a known provider/,
    ],
    [
      "a judge's",
      { ...good, dataset: { ...dataset, verifier_config: { mode: 'gold_examples', model: 'm', provider: 'nobody' } } },
      '/dataset/verifier_config/provider',
      /is not a known provider/,
    ],
    [
      'money for a model without a price',
      { ...good, policy_model: 'no-such-model', budget: { max_cost_usd: 1 } },
      '/budget/max_cost_usd',
      /price of the model "no-such-model"/,
    ],
    [
      'a gold output that nothing compares with',
      { ...good, dataset: { ...dataset, verifier_config: { mode: 'numeric' } } },
      '/dataset/gold_outputs/0/output',
      /contains no number/,
    ],
    [
      'a prompt with a place for what no task has',
      { ...good, dataset: { ...dataset, initial_prompt: 'Answer {{question}} by {{date}}.' } },
      '/dataset/initial_prompt',
      /date/,
    ],
    [
      'a field that no graph can name',
      { ...good, dataset: { ...dataset, tasks: tasks.map(({ id }) => ({ id, input: { 'a.b': 'q' } })) } },
      '/dataset/tasks/0/input',
      /"a\.b"/,
    ],
    [
      'a description that is a data set itself',
      { ...good, dataset: { ...dataset, metadata: { description: 'd'.repeat(9_000_000) } } },
      '/dataset/metadata/description',
      /^has 9000000 characters; at most 100000 are allowed$/,
    ],
    [
      'an input that no graph can take',
      {
        ...good,
        dataset: { ...dataset, tasks: tasks.with(7, { ...tasks[7]!, input: input({ context: nested(55) }) }) },
      },
      '/dataset/tasks/7/input',
      /^is nested deeper than 50 levels$/,
    ],
    [
      'an input that no call has room for',
      { ...good, dataset: { ...dataset, tasks: tasks.with(3, { ...tasks[3]!, input: input({ context: long }) }) } },
      '/dataset/tasks/3/input',
      /^fails in the first graph before a model call: step solve: its messages have more than 400000 characters$/,
    ],
    [
      'an input that a graph’s first step cannot work on',
      withGraph({
        steps: [
          {
            ...step,
            id: 'count',
            type: 'transform',
            op: 'count',
            inputs: { list: 'input.question' },
            messages: undefined,
            output: undefined,
          },
        ],
        output: 'count',
      }),
      '/dataset/tasks/0/input',
      /^fails in the first graph before a model call: step count: count expects a list, but got the text "q0"$/,
    ],
    [
      'more fields than a step can be given',
      { ...good, dataset: { ...dataset, tasks: withFields(25) } },
      '/dataset/tasks/0/input',
      /^has 25 fields; one step takes at most 20: /,
    ],
    [
      'more fields than a graph takes',
      { ...good, dataset: { ...dataset, initial_prompt: 'Answer {{f1}}.', tasks: withFields(51) } },
      '/dataset/tasks/0/input',
      /^has 51 fields; a graph takes at most 50/,
    ],
    [
      'a prompt with more of them than a step can be given',
      { ...good, dataset: { ...dataset, initial_prompt: placesOf(21), tasks: withFields(25) } },
      '/dataset/initial_prompt',
      /^names 21 fields; one step takes at most 20$/,
    ],
    [
      'a message of several',
      {
        ...good,
        dataset: {
          ...dataset,
          initial_prompt: {
            messages: [
              { role: 'system', content: 'Answer.' },
              { role: 'user', content: '{{date}} {{question}}' },
            ],
          },
        },
      },
      '/dataset/initial_prompt/messages/1/content',
      /\{\{date\}\}/,
    ],
    [
      'as many messages as there can be, none with the input',
      {
        ...good,
        dataset: {
          ...dataset,
          initial_prompt: {
            messages: Array.from({ length: 20 }, (_, i) => ({ role: 'system', content: `Rule ${i}.`, name: `m${i}` })),
          },
        },
      },
      '/dataset/tasks/0/input',
      /any of the 20 messages/,
    ],
    ['a graph that is none', { ...good, initial_graph: 'solve' }, '/initial_graph', /object/],
    [
      'a graph that lacks a field',
      { ...good, initial_graph: { ...graph, output: undefined } },
      '/initial_graph/output',
      /^is required$/,
    ],
    [
      'a field that no step has',
      withGraph({ steps: [{ ...step, colour: 1 }] }),
      '/initial_graph/steps/0/colour',
      /^unknown field$/,
    ],
    ['a step without a form', withGraph({ steps: [{ ...step, type: 'code' }] }), '/initial_graph/steps/0/type', /./],
    ['a ref that leads nowhere', withGraph({ output: 'other.answer' }), '/initial_graph/output', /other/],
    [
      'a model that is none of the policy models',
      withGraph({ steps: [{ ...step, model: 'm' }] }),
      '/initial_graph/steps/0/model',
      /must be one of the policy models/,
    ],
    [
      'an input that the tasks lack',
      withGraph({ inputs: ['question', 'date'] }),
      '/initial_graph/inputs/1',
      /"date" is not a field of the tasks' inputs/,
    ],
    [
      'a time-out, by the name that the body has',
      withGraph({ steps: [{ ...step, timeout_s: -1 }] }),
      '/initial_graph/steps/0/timeout_s',
      /above 0/,
    ],
  ];
  test.each(cases)('%s', async (_name, body, pointer, message) => {
    const before = await http.db.org('default', (tx) => tx.query('select count(*) from jobs'));
    const answer = await create(body);
    expect([answer.status, answer.body.code]).toEqual([422, 'validation_failed']);
    const found = (answer.body.errors as { pointer: string; message: string }[]).find((one) => one.pointer === pointer);
    expect(found?.message ?? answer.body.errors).toMatch(message);
    expect(await http.db.org('default', (tx) => tx.query('select count(*) from jobs'))).toEqual(before);
  });
});

describe('a graph job that waits to be started', () => {
  const pending = async () => (await create({ ...good, auto_start: false })).body.job_id as string;
  const post = (id: string, what: string, body: object = {}) => http.call('POST', `${url}/${id}/${what}`, body);

  test('is pending, has no workflow, and is started once', async () => {
    const id = await pending();
    expect((await http.call('GET', `${url}/${id}`)).body).toMatchObject({ status: 'pending', started_at: null });
    expect(http.commander.started).not.toContain(id);
    expect(await post(id, 'start')).toMatchObject({ status: 200, body: { job_id: id, status: 'running' } });
    expect(await post(id, 'start')).toMatchObject({ status: 200, body: { status: 'running' } });
    expect(http.commander.started.filter((one) => one === id)).toEqual([id]);
  });

  test.each([
    ['pause', 409, 'pending'],
    ['resume', 409, 'pending'],
    ['cancel', 200, 'cancelled'],
  ])('%s is %d, and it is %s', async (command, code, status) => {
    const id = await pending();
    const answer = await post(id, command);
    expect(answer.status).toBe(code);
    expect((await http.call('GET', `${url}/${id}`)).body.status).toBe(status);
    expect(http.commander.started).not.toContain(id);
    expect(http.commander.sent.filter(({ jobId }) => jobId === id)).toEqual([]);
  });

  test('cancelled it says so in its events, and is not started any more', async () => {
    const id = await pending();
    await http.call('PATCH', `${url}/${id}`, { state: 'cancelled' });
    const { body } = await http.call('GET', `${url}/${id}/events?since_seq=0`);
    expect(body.events).toEqual([expect.objectContaining({ type: 'job_cancelled', seq: 1 })]);
    expect(await post(id, 'start')).toMatchObject({ status: 409, body: { current_status: 'cancelled' } });
    expect((await post(id, 'cancel')).status).toBe(200);
  });
});

describe('reading', () => {
  test('the state of a job that has just begun', async () => {
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

  test("a list of its kind, newest first; another organization's is 404", async () => {
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
