import { afterEach, expect, test } from '@jest/globals';
import type { GraphJob } from '../../../support/jobs-over-http.js';
import { serviceOfFile } from '../../../support/service-of-file.js';
import { triesOf, type Tried } from '../../../support/tries-over-http.js';
import { firstPrompt, startGraphWorld } from '../../../support/worlds/graph.js';

// A graph on a few rows, answered in one response by a real worker.

const on = serviceOfFile(() => startGraphWorld());
const { send, tried, isRefusedAt, isRefusedBySpentQuota } = triesOf(on);
afterEach(() => on.world.reset());

const prompt = `${firstPrompt} There is rule-1.`;
const inline = (initial_prompt = prompt) => ({ ...(on.world.job(60)['dataset'] as object), initial_prompt });
const body = (more: object = {}) => ({ dataset: inline(), policy_model: 'task', policy_provider: 'fake', ...more });

const runsOf = async (query: string) =>
  (await on.service.api.call<{ data: { job_id: string }[] }>('GET', `/api/v1/runs${query}`)).data;

/** What the row of an item is answered with if the prompt has rule 1. */
const rowOf = (item: number) => ({
  text: `What is item ${item}?`,
  expected: `rule-${item % 3}`,
  answer: item % 3 === 1 ? 'rule-1' : 'unknown',
  reward: item % 3 === 1 ? 1 : 0,
  finish_reason: 'stop',
  error: null,
});

test('five tasks are answered by number, by calls of the graph alone, and no list shows the job', async () => {
  const answer = await tried(body());
  const numbers = answer.rows.map(({ row }) => row);
  expect(new Set(numbers).size).toBe(5);
  for (const { row, ...shown } of answer.rows) expect(shown).toMatchObject(rowOf(row));
  expect(on.world.model.requests.map(({ body: { model } }) => model)).toEqual(Array(5).fill('task'));
  expect(answer.mean_reward).toBeCloseTo(numbers.filter((n) => n % 3 === 1).length / 5, 9);
  expect(await runsOf('')).toEqual([]);
  expect((await runsOf('?archived=true')).map(({ job_id: id }) => id)).toContain(answer.job_id);
  const job = await on.service.api.call<GraphJob & { stopped_by: string }>(
    'GET',
    `/api/graphgen/jobs/${answer.job_id}`,
  );
  expect(job).toMatchObject({ status: 'completed', stopped_by: 'target_reward', candidates: [{ generation: 0 }] });
  const trace = await on.service.api.call<{ calls: unknown[] }>(
    'GET',
    `/api/graphgen/jobs/${answer.job_id}/traces/${answer.rows[0]!.trace_id}`,
  );
  expect(trace.calls).toHaveLength(1);
});

test('the rows of a data set are tried, the same ones each time, and only their tasks are stored', async () => {
  const data = Array.from({ length: 60 }, (_, i) => ({
    question: `What is item ${i}?`,
    note: 'n',
    rule: `rule-${i % 3}`,
  }));
  const { dataset_id } = await on.service.api.call<{ dataset_id: string }>('POST', '/api/v1/datasets', data);
  const dataset = {
    dataset_id,
    input: 'question',
    expected: 'rule',
    initial_prompt: prompt,
    verifier_config: { mode: 'exact' },
  };
  const [first, second] = [await tried(body({ dataset })), await tried(body({ dataset, rows: 5 }))];
  expect(first.rows.map(({ row, answer, reward }) => ({ row, answer, reward }))).toEqual(
    second.rows.map(({ row, answer, reward }) => ({ row, answer, reward })),
  );
  for (const { row, text, ...shown } of first.rows) {
    const { text: _, ...wanted } = rowOf(row);
    expect(shown).toMatchObject(wanted);
    expect(JSON.parse(text!)).toEqual({ question: `What is item ${row}?`, note: 'n' });
  }
  const stored = await on.service.query<{ index: number }>(
    'select task_index as index from graph_tasks where job_id = $1 order by 1',
    [first.job_id],
  );
  expect(stored.map(({ index }) => index)).toEqual(first.rows.map(({ row }) => row));
});

test('a graph of several steps, a judge, and a diagnosis of wrong answers', async () => {
  const solve = (id: string, content: string, inputs: object = {}) => ({
    id,
    type: 'llm',
    inputs: { question: 'input.question', ...inputs },
    messages: [{ role: 'user', content: `{{question}} ${content}` }],
    output: { field: 'answer' },
  });
  const initial_graph = {
    inputs: ['question'],
    steps: [solve('think', 'Think.'), solve('solve', '{{thought}}', { thought: 'think.answer' })],
    output: 'solve.answer',
  };
  const verifier_config = { mode: 'gold_examples', model: 'judge' };
  const dataset = { ...inline(firstPrompt), verifier_config };
  const { rows, diagnosis, mean_reward: mean } = await tried(body({ dataset, initial_graph, rows: 3 }));
  expect([rows.length, mean, diagnosis?.code]).toEqual([3, 0, 'all_wrong']);
  const models = on.world.model.requests.map(({ body: { model } }) => model).sort();
  expect(models).toEqual([...Array<string>(3).fill('judge'), ...Array<string>(6).fill('task')]);
});

test('a task that fails has its error, and the others their answers', async () => {
  const [first] = (await tried(body())).rows;
  on.world.model.reply((request) => {
    const isFirst = request.body.messages.some(({ content }) => content === first!.text);
    return isFirst ? { status: 400, raw: '{"error":{"message":"no"}}' } : on.world.answer(request);
  });
  const { rows } = await tried(body());
  expect(rows.map(({ error }) => error?.code ?? null)).toEqual([expect.any(String), null, null, null, null]);
  expect(rows[0]).toMatchObject({ row: first!.row, reward: null, answer: null });
});

test('all tasks fail, each with its error', async () => {
  on.world.model.reply(() => ({ status: 400, raw: '{"error":{"message":"no"}}' }));
  const { rows, diagnosis } = await tried(body({ rows: 2 }));
  expect(rows.map(({ error }) => error?.code)).toEqual([expect.any(String), expect.any(String)]);
  expect(diagnosis).toMatchObject({ code: 'rollouts_failed' });
});

test('at the deadline the rows so far are answered', async () => {
  const [first] = (await tried(body())).rows;
  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  on.world.model.reply(async (request) => {
    if (request.body.messages.some(({ content }) => content === first!.text)) await held;
    return on.world.answer(request);
  });
  const { rows } = await tried(body({ timeout: 2 }));
  release();
  expect(rows.map(({ error }) => error?.code ?? null)).toEqual(['timed_out', null, null, null, null]);
});

test('the same Idempotency-Key runs the tasks once', async () => {
  const key = { 'idempotency-key': 'pressed-twice' };
  await (await send(body(), key)).json();
  const again = (await (await send(body(), key)).json()) as Tried;
  expect(again.rows).toHaveLength(5);
  expect(on.world.model.requests).toHaveLength(5);
});

test.each([
  ['too many rows', { rows: 21 }, '/rows'],
  ['no model', { policy_model: undefined }, '/policy_model'],
  ['a field of searches', { rollout_budget: 60 }, '/rollout_budget'],
  [
    'a data set that does not exist',
    { dataset: { dataset_id: 'ds_0', verifier_config: { mode: 'exact' } } },
    '/dataset/dataset_id',
  ],
  ['a graph that is none', { initial_graph: { inputs: ['question'], steps: [], output: 'x' } }, '/initial_graph/steps'],
  [
    'a graph with a field that no task has',
    { initial_graph: { inputs: ['nothing'], steps: [], output: 'x' } },
    '/initial_graph/inputs/0',
  ],
])('%s is refused before a call', (_, more, pointer) => isRefusedAt(body(more), pointer));

test('a spent quota is refused before a call', () => isRefusedBySpentQuota(body()));
