import { afterEach, expect, test } from '@jest/globals';
import { answers } from '../../../support/fakes/container-answers.js';
import { containersOfEachTest } from '../../../support/fakes/containers-of-each-test.js';
import { evaluations } from '../../../support/jobs-over-http.js';
import { serviceOfFile } from '../../../support/service-of-file.js';
import { triesOf, type Tried } from '../../../support/tries-over-http.js';
import { startRowsWorld } from '../../../support/worlds/rows.js';

const container = containersOfEachTest();

// A prompt on a few rows, answered in one response by a real worker.

const on = serviceOfFile(() => startRowsWorld());
const { send, tried, isRefusedAt, isRefusedBySpentQuota } = triesOf(on);
const rule = { messages: [{ role: 'system', content: 'Answer well. Follow rule-1.' }] };

afterEach(() => on.world.reset());

const body = (more: object = {}) => {
  const rows = on.world.rows(60);
  const dataset = { rows, input: 'question', expected: 'answer' };
  const policy = { provider: 'fake', model: 'policy' };
  return { dataset, scorer: 'exact', policy, candidate: rule, ...more };
};

test('five rows are answered by number, and no list shows the evaluation', async () => {
  const answer = await tried(body());
  const numbers = answer.rows.map(({ row }) => row);
  expect(new Set(numbers).size).toBe(5);
  expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
  for (const { row, ...shown } of answer.rows) {
    const isTaught = row % 4 === 1;
    expect(shown).toMatchObject({
      text: `Row ${row}: rule ${row % 4}`,
      expected: `needs rule-${row % 4}.`,
      answer: isTaught ? `needs rule-${row % 4}.` : 'No rule.',
      reward: isTaught ? 1 : 0,
      finish_reason: 'stop',
      error: null,
    });
  }
  // No small call before the first row.
  expect(on.world.policyCalls()).toHaveLength(5);
  const runs = await on.service.api.call<{ data: unknown[] }>('GET', '/api/v1/runs');
  const listed = await on.service.api.call<{ data: unknown[] }>('GET', evaluations);
  expect([runs.data, listed.data]).toEqual([[], []]);
  const all = await on.service.api.call<{ data: { job_id: string }[] }>('GET', '/api/v1/runs?archived=true');
  expect(all.data.map(({ job_id: id }) => id)).toEqual([answer.job_id]);
});

test('all wrong answers are diagnosed', async () => {
  const candidate = { messages: [{ role: 'system', content: 'Answer well.' }] };
  const { mean_reward: mean, diagnosis } = await tried(body({ candidate, rows: 3 }));
  expect(mean).toBe(0);
  expect(diagnosis).toMatchObject({ code: 'all_wrong' });
});

test('a row that fails has its error, and the others their answers', async () => {
  const [first] = (await tried(body())).rows;
  on.world.model.reply((request) => {
    const isFirst = request.body.messages.at(-1)!.content === first!.text;
    return isFirst ? { status: 400, raw: '{"error":{"message":"no"}}' } : on.world.answer(request);
  });
  const { rows } = await tried(body());
  expect(rows.map(({ error }) => error?.code ?? null)).toEqual([expect.any(String), null, null, null, null]);
  expect(rows[0]).toMatchObject({ row: first!.row, reward: null, answer: null });
});

test('at the deadline the rows so far are answered', async () => {
  const [first] = (await tried(body())).rows;
  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  on.world.model.reply(async (request) => {
    if (request.body.messages.at(-1)!.content === first!.text) await held;
    return on.world.answer(request);
  });
  const { rows } = await tried(body({ timeout: 2 }));
  release();
  expect(rows.map(({ error }) => error?.code ?? null)).toEqual(['timed_out', null, null, null, null]);
});

test('the same Idempotency-Key runs the rows once', async () => {
  const key = { 'idempotency-key': 'pressed-twice' };
  const [first, second] = await Promise.all([send(body(), key), send(body(), key)]);
  const answers = [first, second].filter(({ status }) => status === 200);
  const again = (await (await send(body(), key)).json()) as Tried;
  for (const answer of answers) expect(await answer.json()).toEqual(again);
  expect(on.world.policyCalls()).toHaveLength(5);
});

test('instances of a container are tried', async () => {
  const { url } = await container({ behave: ({ seed }) => answers.reward(seed / 10) });
  const policy = { provider: 'fake', model: 'policy' };
  const { rows } = await tried({ container_url: url, env_name: 'test', seeds: '0-9', policy, rows: 2 });
  expect(rows.map(({ row, reward }) => reward! * 10 - row)).toEqual([0, 0]);
  expect(rows[0]).toMatchObject({ text: null, expected: null, answer: null });
});

test.each([
  ['too many rows', { rows: 21 }, '/rows'],
  ['a long deadline', { timeout: 51 }, '/timeout'],
  [
    'the right answer in the prompt',
    { candidate: { messages: [{ role: 'user', content: '{{answer}}' }] } },
    '/candidate',
  ],
  ['a data set that does not exist', { dataset: { dataset_id: 'ds_0' } }, '/dataset/dataset_id'],
  ['no scorer', { scorer: undefined }, '/scorer'],
  [
    'a container without seeds',
    { dataset: undefined, scorer: undefined, container_url: 'http://127.0.0.1:1', env_name: 'e' },
    '/seeds',
  ],
])('%s is refused', (_, more, pointer) => isRefusedAt(body(more), pointer));

test('a spent quota is refused before a call', () => isRefusedBySpentQuota(body()));
