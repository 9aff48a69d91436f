import { describe, expect, test } from '@jest/globals';
import { datasetLimits } from '../../../../src/kinds/graph/contract/dataset.js';
import { httpOfFile } from '../../../platform/http/support.js';

// Graph jobs whose tasks are the rows of a data set of the service.

const url = '/api/graphgen/jobs';
const http = httpOfFile();

type Row = Record<string, unknown>;

const rowsOf = (count: number): Row[] =>
  Array.from({ length: count }, (_, i) => ({ question: `q${i}`, source: `s${i % 7}`, label: `a${i % 3}` }));

const upload = async (data: Row[]) => (await http.call('POST', '/api/v1/datasets', data)).body.dataset_id as string;
const jobOn = (dataset: object, more: object = {}) => ({
  dataset: { initial_prompt: 'Answer.', verifier_config: { mode: 'exact' }, expected: 'label', ...dataset },
  policy_model: 'gpt-6-luna',
  rollout_budget: 60,
  ...more,
});
const create = (dataset: object, more: object = {}) => http.call('POST', url, jobOn(dataset, more));
const tasksOf = (jobId: string) =>
  http.db.org('default', (tx) =>
    tx.query('select task_id, input, gold, rubric from graph_tasks where job_id = $1 order by task_index', [jobId]),
  );
const firstGraphOf = async (jobId: string) => {
  const [job] = await http.db.org('default', (tx) => tx.query('select spec from jobs where id = $1', [jobId]));
  return JSON.parse((job!['spec'] as { initialGraph: string }).initialGraph) as { inputs: string[]; steps: Row[] };
};

describe('a graph job on a data set', () => {
  test('has the rows as tasks, and the columns but that of right answers as fields', async () => {
    const id = await upload(rowsOf(1_001));
    const { status, body } = await create({ dataset_id: id, input: 'question' });
    expect([status, body.num_tasks, body.warnings]).toEqual([201, 1_001, undefined]);
    const tasks = await tasksOf(body.job_id as string);
    expect(tasks).toHaveLength(1_001);
    expect(tasks[8]).toEqual({
      task_id: '8',
      input: { question: 'q8', source: 's1' },
      gold: { value: 'a2' },
      rubric: null,
    });
    const graph = await firstGraphOf(body.job_id as string);
    expect(graph.inputs).toEqual(['question', 'source']);
    expect(graph.steps[0]).toMatchObject({
      inputs: { input: 'input.question' },
      messages: [
        { role: 'system', content: 'Answer.' },
        { role: 'user', content: '{{input}}' },
      ],
    });
  });

  test('is shown with it, found by it, keeps it, and is asked for again by its id', async () => {
    const id = await upload(rowsOf(13));
    const { body } = await create({ dataset_id: id, input: 'question' }, { name: 'on rows' });
    const path = `${url}/${body.job_id}`;
    const shown = { dataset_id: id, name: null, num_rows: 13 };
    expect((await http.call('GET', path)).body.dataset).toEqual({ ...shown, scorer: 'exact' });
    const { data } = (await http.call('GET', `/api/v1/runs?dataset=${id}`)).body;
    expect(data).toMatchObject([{ job_id: body.job_id, dataset: shown, scorer: 'exact' }]);
    expect((await http.call('GET', `/api/v1/datasets/${id}`)).body.jobs).toBe(1);
    const refused = await http.call('DELETE', `/api/v1/datasets/${id}`);
    expect([refused.status, refused.body.code, refused.body.used_by]).toEqual([409, 'dataset_in_use', [body.job_id]]);
    const again = (await http.call('GET', `${path}/request`)).body;
    expect(again.dataset).toEqual(shown);
    expect(again.request.dataset).toEqual({
      dataset_id: id,
      input: 'question',
      expected: 'label',
      initial_prompt: 'Answer.',
      verifier_config: expect.objectContaining({ mode: 'exact' }),
    });
    const clone = await http.call('POST', `${path}/clone`, { rng_seed: 1 });
    expect(clone.status).toBe(201);
    expect(await tasksOf(clone.body.job_id as string)).toEqual(await tasksOf(body.job_id as string));
  });

  test('is comparable with a job that has the same tasks in its request', async () => {
    const data = rowsOf(12);
    const onRows = await create({ dataset_id: await upload(data), input: 'question' });
    const inline = await create({
      expected: undefined,
      tasks: data.map(({ label: _, ...input }, id) => ({ id: String(id), input })),
      gold_outputs: data.map(({ label }, id) => ({ task_id: String(id), output: label })),
    });
    const keys = await http.db.org('default', (tx) =>
      tx.query('select distinct comparable_key from jobs where id = any($1)', [
        [onRows.body.job_id, inline.body.job_id],
      ]),
    );
    expect(keys).toHaveLength(1);
  });

  test('sends chats without their last turn, which is the right answer', async () => {
    const chat = (i: number) => [
      { role: 'user', content: `q${i}` },
      { role: 'assistant', content: `a${i}` },
    ];
    const id = await upload(Array.from({ length: 12 }, (_, i) => ({ messages: chat(i) })));
    const { status, body } = await create({ dataset_id: id, expected: undefined });
    expect(status).toBe(201);
    expect((await tasksOf(body.job_id as string))[3]).toMatchObject({
      input: { messages: [{ role: 'user', content: 'q3' }] },
      gold: { value: 'a3' },
    });
  });

  test('warns of rows without an input, and needs no right answers for a rubric', async () => {
    const [first, ...others] = rowsOf(12).map(({ label: _, ...row }) => row);
    const id = await upload([{ ...first, question: '' }, ...others]);
    const judged = { default_rubric: 'Be kind.', verifier_config: { mode: 'rubric', model: 'gpt-4o' } };
    const { status, body } = await create({ dataset_id: id, input: 'question', expected: undefined, ...judged });
    expect(status).toBe(201);
    expect(body.warnings[0]).toContain('"question"');
    expect((await tasksOf(body.job_id as string))[1]).toMatchObject({ gold: null, rubric: 'Be kind.' });
  });

  test('counts the copy of its rows against the bytes of its organization', async () => {
    const id = await upload(rowsOf(300));
    const { bytes } = (await http.call('GET', `/api/v1/datasets/${id}`)).body as { bytes: number };
    const { body } = await create({ dataset_id: id, input: 'question' });
    const [used] = await http.db.org('default', (tx) =>
      tx.query<{ bytes: number }>('select sum(bytes)::int as bytes from job_usage where job_id = $1', [body.job_id]),
    );
    expect(used!.bytes).toBeGreaterThan(bytes);
  });
});

describe('a graph job is refused', () => {
  const refusal = async (dataset: object, more: object = {}) => {
    const { status, body } = await create(dataset, more);
    expect(status).toBe(422);
    return (body.errors as { pointer: string; message: string }[]).map(({ pointer, message }) => [pointer, message]);
  };

  test.each([
    ['a data set that does not exist', { dataset_id: 'ds_0' }, '/dataset/dataset_id'],
    ['neither tasks nor a data set', { expected: undefined }, '/dataset/tasks'],
    [
      'a column without a data set',
      { tasks: [{ id: 'a', input: 'x' }], input: 'x', expected: undefined },
      '/dataset/input',
    ],
    ['tasks beside a data set', { dataset_id: 'ds_0', tasks: [{ id: 'a', input: 'x' }] }, '/dataset/tasks'],
    ['gold outputs beside a data set', { dataset_id: 'ds_0', gold_outputs: [] }, '/dataset/gold_outputs'],
  ])('for %s', async (_, dataset, pointer) => {
    expect((await refusal(dataset)).map(([at]) => at)).toContain(pointer);
  });

  test('for a column that is missing, with the one that was meant', async () => {
    const dataset_id = await upload(rowsOf(12));
    expect(await refusal({ dataset_id, input: 'questions', expected: 'labels' })).toEqual([
      ['/dataset/input', expect.stringContaining('`question`')],
      ['/dataset/expected', expect.stringContaining('`label`')],
    ]);
    expect(await refusal({ dataset_id, expected: undefined })).toEqual([['/dataset/expected', expect.any(String)]]);
  });

  test('for rows without a right answer, and answers that the mode cannot compare', async () => {
    const [first, second, ...others] = rowsOf(12);
    const dataset_id = await upload([first!, { ...second, label: '' }, ...others]);
    expect(await refusal({ dataset_id })).toEqual([['/dataset/expected', expect.stringContaining('row 1 ')]]);
    const numbers = await refusal({ dataset_id: await upload(rowsOf(12)), verifier_config: { mode: 'numeric' } });
    expect(numbers[3]).toEqual(['/dataset/expected', expect.stringContaining('row 3 ')]);
  });

  test('for a row that no graph can take, and for the right answer in the prompt', async () => {
    const deep = JSON.parse(`${'['.repeat(60)}${']'.repeat(60)}`) as unknown;
    const dataset_id = await upload([...rowsOf(12), { question: deep, source: 's', label: 'a' }]);
    expect(await refusal({ dataset_id })).toEqual([['/dataset/dataset_id', expect.stringContaining('row 12 ')]]);
    const [[pointer]] = (await refusal({ dataset_id: await upload(rowsOf(12)), initial_prompt: 'Say {{label}}.' })) as [
      [string],
    ];
    expect(pointer).toBe('/dataset/initial_prompt');
  });

  test('for more rows or bytes than a request may have', async () => {
    const many = await upload(
      Array.from({ length: datasetLimits.tasks + 1 }, (_, i) => ({ input: `q${i}`, label: 'a' })),
    );
    expect(await refusal({ dataset_id: many })).toEqual([['/dataset/dataset_id', expect.stringContaining('10001')]]);
    const large = await upload(rowsOf(12).map((row) => ({ ...row, source: 'x'.repeat(900_000) })));
    expect((await refusal({ dataset_id: large })).map(([at]) => at)).toEqual(['/dataset/dataset_id']);
  });

  test("for another organization's data set", async () => {
    const dataset_id = await upload(rowsOf(12));
    const headers = { authorization: `Bearer ${http.otherKey}` };
    expect((await http.call('POST', url, jobOn({ dataset_id }), headers)).status).toBe(422);
  });
});
