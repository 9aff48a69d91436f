import { beforeAll, describe, expect, test } from '@jest/globals';
import { rolloutId } from '../../../../src/core/jobs/ids.js';
import { seedRollouts } from '../../../platform/http/seed.js';
import { createEvaluation, evaluationRequest, httpOfFile } from '../../../platform/http/support.js';

const base = '/api/v1/offline/jobs';
const http = httpOfFile();

const results = async (id: string, query: string) =>
  (await http.call('GET', `${base}/${id}/results?${query}`)).body.results as Record<string, unknown>[];
const outputs = (id: string) => results(id, 'include=outputs');

/** Replaces the content of a rollout's recorded answer. */
const answer = (id: string, ordinal: number, content: unknown) =>
  http.db.org('default', (tx) =>
    tx.query(
      `update model_calls set response = jsonb_build_object('choices', jsonb_build_array(
         jsonb_build_object('message', jsonb_build_object('content', $2::jsonb)))) where rollout_id = $1`,
      [rolloutId(id, ordinal), JSON.stringify(content)],
    ),
  );

describe('of a container', () => {
  let id: string;
  beforeAll(async () => {
    id = await createEvaluation(http, { seeds: [7, 3, 9, 4, 5] });
    const done = { candidate: 0, status: 'succeeded' as const, reward: 1, tokens: [1, 1] as [number, number] };
    await seedRollouts(http, id, [
      { ...done, seed: 7, feedback: 'f'.repeat(2_001) },
      { ...done, seed: 3 },
      { candidate: 0, seed: 9, status: 'failed', error: 'no' },
      { ...done, seed: 4 },
      { candidate: 0, seed: 5, status: 'running', tokens: [1, 1] },
    ]);
    await answer(id, 1, `<think>${'x'.repeat(3_000)}</think>${'🙂'.repeat(2_001)}`);
    await answer(id, 3, [{ type: 'text', text: 'a' }, { type: 'image' }, 'b', { type: 'text', text: 'c' }]);
  });

  test('each finished seed has its last answer and its feedback, cut at 2,000 characters', async () => {
    const none = { output: null, output_truncated: false, feedback: null, input: null, expected: null };
    expect(await outputs(id)).toEqual([
      expect.objectContaining({ ...none, seed: 7, output: 'yes', feedback: 'f'.repeat(2_000) }),
      expect.objectContaining({ ...none, seed: 3, output: '🙂'.repeat(2_000), output_truncated: true }),
      expect.objectContaining({ ...none, seed: 9, status: 'failed', error: 'no' }),
      expect.objectContaining({ ...none, seed: 4, output: 'ac' }),
    ]);
  });

  test('are the answers of the policy: the last one, no refusal and no judge', async () => {
    const copy = (more: string, minutes: number) =>
      http.db.org('default', (tx) =>
        tx.query(
          `insert into model_calls (id, org_id, job_id, rollout_id, request_hash, provider, model, request, purpose,
                                    http_status, response, created_at)
           select id || $2, org_id, job_id, rollout_id, $2::bytea, provider, model, request,
                  case when $2 = 'judge' then 'judge' else purpose end, case when $2 = 'refused' then 429 else 200 end,
                  jsonb_build_object('choices', jsonb_build_array(
                    jsonb_build_object('message', jsonb_build_object('content', $2::text)))),
                  created_at + make_interval(mins => $3)
             from model_calls where id = 'call_' || $1`,
          [rolloutId(id, 0), more, minutes],
        ),
      );
    await copy('later', 1);
    await copy('refused', 2);
    await copy('judge', 3);
    expect((await outputs(id))[0]).toMatchObject({ seed: 7, output: 'later' });
  });

  test('come in pages, and only if asked for', async () => {
    const seeds = async (query: string) => (await results(id, query)).map(({ seed }) => seed);
    expect(await seeds('include=outputs&limit=2')).toEqual([7, 3]);
    expect(await seeds('include=outputs&limit=2&offset=3')).toEqual([4]);
    const [plain] = await results(id, '');
    expect(Object.keys(plain!)).not.toEqual(expect.arrayContaining(['output']));
    expect(await seeds('')).toEqual([7, 3, 9, 4]);
  });

  test.each(['include=all', 'include=outputs&limit=501', 'limit=5', 'offset=1', 'include=outputs&offset=-1'])(
    '%s is 422',
    async (query) => {
      const { status, body } = await http.call('GET', `${base}/${id}/results?${query}`);
      expect([status, query.includes(`${body.error.param}=`)]).toEqual([422, true]);
    },
  );
});

describe('of a data set', () => {
  const rows = [
    { question: 'q0', answer: 'a0', n: 1 },
    { question: { deep: true }, answer: 7, n: 2 },
    { question: 'q'.repeat(2_001), answer: null, n: 3 },
  ];
  const create = async (content: string) => {
    const { policy } = evaluationRequest;
    const candidate = { messages: [{ role: 'system', content }] };
    const dataset = { rows, input: 'question', expected: 'answer' };
    const { body } = await http.call('POST', base, {
      app_id: 'x',
      policy,
      dataset,
      scorer: { type: 'rubric', criteria: 'good?', model: 'gpt-4o-mini' },
      candidate,
      seeds: [2, 0, 1],
    });
    expect(body.errors).toBeUndefined();
    const id = body.job_id as string;
    const done = { candidate: 0, status: 'succeeded' as const, reward: 1 };
    await seedRollouts(
      http,
      id,
      [2, 0, 1].map((seed) => ({ ...done, seed })),
    );
    return id;
  };
  const texts = async (id: string) => (await outputs(id)).map(({ seed, input, expected }) => [seed, input, expected]);

  test('each has the input and the expected value of its row', async () => {
    const expected = [
      [2, 'q'.repeat(2_000), null],
      [0, 'q0', 'a0'],
      [1, '{"deep":true}', '7'],
    ];
    expect(await texts(await create('Answer.'))).toEqual(expected);
    expect(await texts(await create('{{question}}!'))).toEqual(expected);
    expect(await texts(await create('{{n}}: {{input}}'))).toEqual(expected);
  });

  test('has the row as JSON if the prompt shows several columns', async () => {
    const [, second] = await texts(await create('{{question}} {{n}}'));
    expect(JSON.parse(String(second![1]))).toEqual(rows[0]);
  });
});
