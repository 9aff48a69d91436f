import { expect, test } from '@jest/globals';
import { answer } from '../../src/cli/mcp/answer.js';
import { lowestOf } from '../../src/cli/mcp/lowest.js';
import { jobView, sessionResultsView } from '../../src/cli/mcp/views.js';
import { Ratchet } from '../../src/client/index.js';

// How much tools tell.

const most = 8_000;
const lengthOf = (given: ReturnType<typeof answer>) => given.content[0]!.text.length;
const jsonOf = (given: ReturnType<typeof answer>) => JSON.parse(given.content[0]!.text) as Record<string, unknown>;
const session = `ses_${'0'.repeat(32)}`;
const evaluation = `evl_${'0'.repeat(32)}`;

test('a short answer is given as it is', () => {
  const value = { texts: ['a', 'b'], nothing: null, nested: { text: 'x'.repeat(2_000) } };
  expect(jsonOf(answer(value))).toEqual(value);
});

test.each([
  ['a list of numbers', { rows: Array.from({ length: 10_000 }, (_, row) => row) }],
  ['a long text', { text: '"\n'.repeat(100_000) }],
  ['a text without spaces', { text: 'x'.repeat(100_000) }],
  ['lists in lists', { rows: Array<string[]>(100).fill(Array<string>(100).fill('a b '.repeat(100))) }],
  ['a page of long texts', { page: Array<object>(20).fill({ a: 'a "b" '.repeat(500), b: 'ü\n'.repeat(500) }) }],
])('%s is cut', (_, value) => {
  expect(lengthOf(answer(value))).toBeLessThanOrEqual(most);
});

test('a page is not shortened by rows, and a whole field not at all', () => {
  const page = Array.from({ length: 20 }, (_, row) => ({ row, text: 'a '.repeat(5_000) }));
  const prompt = 'word '.repeat(10_000);
  const shown = jsonOf(answer({ page, prompt }, { whole: ['prompt'] }));
  expect(shown['page']).toHaveLength(20);
  expect(shown['prompt']).toBe(prompt);
});

test('half a character is not sent', () => {
  const text = `${'a '.repeat(1_999)}a😀`.concat(' 😀'.repeat(10_000));
  const cut = jsonOf(answer({ text }))['text'] as string;
  expect(cut.isWellFormed()).toBe(true);
});

test('a job has counts for its rows, further fields by name, and names them all for a wrong one', () => {
  const rows = Array.from({ length: 5_000 }, (_, row) => row);
  const job = { job_id: session, status: 'running', split: { train: rows, evaluation: rows, heldout: [] }, hint: 'h' };
  expect(jobView(session, job)).toEqual({ job_id: session, status: 'running' });
  expect(jobView(session, job, ['split'])).toMatchObject({ split: { train: 5_000, evaluation: 5_000, heldout: 0 } });
  expect(() => jobView(session, job, ['splits'])).toThrow('job_id, status, split, hint');
});

test('the history has the generations that improved', () => {
  const history = [0.1, 0.1, 0.4, 0.4, 0.5].map((best_reward, generation) => ({ generation, best_reward }));
  const shown = sessionResultsView({ job_id: session, history }) as { history: typeof history };
  expect(shown.history.map(({ generation }) => generation)).toEqual([0, 2, 4]);
});

test('the lowest of 10,000 results have their texts, and fit', async () => {
  const text = 'a "long" text\n'.repeat(100);
  const results = Array.from({ length: 10_000 }, (_, seed) => {
    const row = { seed, status: 'succeeded', reward: (seed * 7_919) % 10_000, trace_id: `trace-${seed}` };
    return { ...row, latency_ms: 1, tokens: 1, cost_usd: 0, error: null, completed_at: null };
  });
  const texts = { input: text, expected: text, output: text, feedback: text };
  const fetch = (url: string) => {
    const { searchParams } = new URL(url);
    const offset = Number(searchParams.get('offset'));
    const page = searchParams.has('include') ? [{ ...results[offset]!, ...texts }] : results;
    const ofJob = { job_id: evaluation, status: 'completed', diagnosis: { code: 'all_wrong' } };
    const answer = { ...ofJob, summary: { num_seeds: 10_000 }, results: page };
    return Promise.resolve(Response.json(answer));
  };
  const shown = answer(await lowestOf(new Ratchet({ url: 'http://x', fetch }), evaluation));
  expect(lengthOf(shown)).toBeLessThanOrEqual(most);
  type Shown = { rows: number; lowest: { reward: number; input: string }[]; diagnosis: object };
  const { rows, lowest, diagnosis } = jsonOf(shown) as Shown;
  expect(diagnosis).toEqual({ code: 'all_wrong' });
  expect(rows).toBe(10_000);
  expect(lowest.map(({ reward }) => reward)).toEqual(Array.from({ length: 10 }, (_, reward) => reward));
  expect(lowest[0]!.input).toContain('a "long"');
});
