import { beforeAll, describe, expect, test } from '@jest/globals';
import { candidateId, rolloutId } from '../../src/core/jobs/ids.js';
import { deleteRows } from '../../src/retention/store/delete.js';
import { range } from '../support/range.js';
import { project, seedCandidates, seedRollouts } from '../platform/http/seed.js';
import { httpOfFile } from '../platform/http/support.js';

const http = httpOfFile();
const done = { status: 'succeeded' as const, tokens: [1, 1] as [number, number] };
const rows = range(0, 40).map((n) => ({ text: `text ${n}`, team: ['a', 'b'][n % 2]!, note: n }));
const local = { provider: 'local', model: 'local' };
const reviews = '/api/v1/reviews';

interface Reviewed {
  row: number;
  reviews: { verdict: string; by: string; own: boolean; note: string | null }[];
}

/** A session whose winner gives these rewards on rows from 0 on. */
async function session(rewards: number[], scorer: string | object = 'exact'): Promise<string> {
  const body = {
    dataset: { rows, input: 'text', expected: 'team' },
    scorer,
    policy: local,
    initial_prompt: { messages: [{ role: 'system', content: 'Choose a or b.' }] },
    algorithm: 'gepa',
    gepa: { population_size: 2, generations: 2 },
    budget: { max_rollouts: 400 },
  };
  const created = await http.call('POST', '/api/v1/online/sessions', { policy_optimization: body });
  const id = created.body.session_id as string;
  await seedCandidates(http, id, [{ status: 'evaluated', reward: 0.5, generation: 0 }]);
  await seedRollouts(
    http,
    id,
    rewards.map((reward, seed) => ({ ...done, candidate: 0, seed, reward })),
  );
  await project(http, id, { bestCandidateId: candidateId(id, 0), bestReward: 0.5 });
  return id;
}

const put = (id: string, row: number, body: object) => http.call('PUT', `${reviews}/${id}/${rolloutId(id, row)}`, body);
const get = async (path: string) => (await http.call('GET', path)).body;
const rowsOf = async (id: string, query = ''): Promise<Reviewed[]> =>
  (await get(`/api/v1/online/sessions/${id}/rows?${query}`)).data;
const numbers = (found: { row: number }[]) => found.map(({ row }) => row);

describe('a review of a row', () => {
  test('is one of each reviewer, replaced by the next, and repeated without a change', async () => {
    const id = await session([0, 1]);
    const { status, body: first } = await put(id, 0, { verdict: 'wrong', note: 'Says too much.' });
    expect([status, first]).toEqual([
      200,
      {
        ...{ review_id: expect.stringMatching(/^rvw_/), job_id: id, subject_id: rolloutId(id, 0), row: 0 },
        ...{ candidate_id: candidateId(id, 0), verdict: 'wrong', note: 'Says too much.', corrected: null },
        ...{ by: 'bootstrap_default', own: true, created_at: expect.any(String), updated_at: expect.any(String) },
      },
    ]);
    expect((await put(id, 0, { verdict: 'wrong', note: 'Says too much.' })).body).toEqual(first);
    const { body: second } = await put(id, 0, { verdict: 'right' });
    expect(second).toMatchObject({ review_id: first.review_id, verdict: 'right', note: null });
    await put(id, 0, { verdict: 'wrong', by: 'ann' });
    const [row] = await rowsOf(id);
    expect(row!.reviews.map(({ by, verdict, own }) => [by, verdict, own])).toEqual([
      ['bootstrap_default', 'right', true],
      ['ann', 'wrong', false],
    ]);
    expect((await get(`${reviews}?job_id=${id}&by=ann`)).data).toMatchObject([{ by: 'ann', verdict: 'wrong' }]);
    const page = await get(`${reviews}?job_id=${id}&limit=1`);
    const next = await get(`${reviews}?job_id=${id}&limit=1&cursor=${page.next_cursor}`);
    expect([...page.data, ...next.data].map(({ by }) => by)).toEqual(['ann', 'bootstrap_default']);
    const url = `${reviews}/${id}/${rolloutId(id, 0)}`;
    expect((await http.call('DELETE', url)).status).toBe(204);
    expect((await http.call('DELETE', url)).status).toBe(404);
    expect((await http.call('DELETE', `${url}?by=ann`)).status).toBe(204);
    expect((await rowsOf(id))[0]!.reviews).toEqual([]);
  });

  test('needs something to say, a finished row, and a key that may write', async () => {
    const id = await session([0]);
    expect((await put(id, 0, {})).status).toBe(422);
    expect((await put(id, 0, { verdict: 'fine' })).body.errors[0].pointer).toBe('/verdict');
    expect((await put(id, 5, { verdict: 'right' })).status).toBe(404);
    expect((await http.call('PUT', `${reviews}/ses_no/x`, { verdict: 'right' })).status).toBe(404);
    const { body: key } = await http.call('POST', '/api/v1/admin/keys', { name: 'r', scopes: ['read'] });
    const as = { authorization: `Bearer ${key.key}` };
    const url = `${reviews}/${id}/${rolloutId(id, 0)}`;
    expect((await http.call('PUT', url, { verdict: 'right' }, as)).status).toBe(403);
    expect((await http.call('GET', `${reviews}?job_id=${id}`, undefined, as)).body.data).toEqual([]);
  });

  test('filters rows and counts them, and goes with its job', async () => {
    const id = await session([0, 0, 0, 1]);
    await put(id, 0, { verdict: 'wrong' });
    await put(id, 1, { verdict: 'bad_expected', by: 'ann' });
    await put(id, 2, { note: 'Unsure.' });
    expect(numbers(await rowsOf(id, 'review=none'))).toEqual([2, 3]);
    expect(numbers(await rowsOf(id, 'review=any'))).toEqual([0, 1]);
    expect(numbers(await rowsOf(id, 'review=bad_expected&group=failing'))).toEqual([1]);
    const summary = await get(`/api/v1/online/sessions/${id}/rows/summary?group=failing&review=wrong`);
    expect([summary.total, summary.reviews]).toEqual([1, { none: 1, any: 2, right: 0, wrong: 1, bad_expected: 1 }]);
    await deleteRows(http.db, { orgId: 'default', jobId: id });
    const left = await http.db.org('default', (tx) => tx.query('select 1 from reviews where job_id = $1', [id]));
    expect(left).toEqual([]);
  });
});

test('the queue has the rows of a filter without a verdict of the reviewer', async () => {
  const id = await session([0, 1, 0, 0]);
  const queue = async (query = '') => get(`${reviews}/queue?job_id=${id}&group=failing${query}`);
  await put(id, 2, { verdict: 'wrong' });
  const { data, done: reviewed, left } = await queue('&limit=1');
  expect([reviewed, left]).toEqual([1, 2]);
  expect(data).toEqual([
    {
      ...{ job_id: id, subject_id: rolloutId(id, 0), row: 0, candidate_id: candidateId(id, 0) },
      ...{ input: 'text 0', expected: 'a', answer: 'yes', reward: 0, judge: null, feedback: null, reviews: [] },
    },
  ]);
  const all = await queue('&include_reviewed=true');
  expect([numbers(all.data), all.data.at(-1).reviews]).toEqual([
    [0, 3, 2],
    [expect.objectContaining({ verdict: 'wrong', own: true })],
  ]);
  const ofAnn = await queue('&by=ann');
  expect([numbers(ofAnn.data), ofAnn.done]).toEqual([[0, 2, 3], 0]);
  expect((await http.call('GET', `${reviews}/queue?job_id=ses_no`)).status).toBe(404);
  expect((await http.call('GET', `${reviews}/queue`)).status).toBe(422);
});

describe('a corrected data set', () => {
  let id: string;
  const make = (body: object) => http.call('POST', `/api/v1/online/sessions/${id}/rows/dataset`, body);
  const rowsIn = async (dataset: string) =>
    (await get(`/api/v1/datasets/${dataset}/rows`)).data.map(({ data }: { data: object }) => data);

  beforeAll(async () => {
    id = await session([0, 0, 0, 1]);
    await put(id, 0, { verdict: 'bad_expected' });
    await put(id, 1, { verdict: 'bad_expected', corrected: 'c' });
    await put(id, 1, { corrected: 'c "2"', by: 'ann' });
    await put(id, 2, { verdict: 'wrong' });
  });

  test('has the corrected answers, leaves out wrong expected values, and says so', async () => {
    const { status, body } = await make({ group: 'failing', corrected: true });
    const counts = [body.num_rows, body.corrected, body.left_out];
    expect([status, ...counts]).toEqual([201, 2, 1, 1]);
    expect(body.name).toBe(`${id}: 2 rows, 1 corrected by reviews`);
    expect(await rowsIn(body.dataset_id)).toEqual([{ ...rows[1], team: 'c "2"' }, rows[2]]);
  });

  test('keeps them if asked for, and nothing changes unless asked for', async () => {
    const { body: kept } = await make({ group: 'failing', corrected: true, bad_expected: 'keep' });
    expect([kept.num_rows, kept.corrected, kept.left_out]).toEqual([3, 1, 0]);
    expect((await rowsIn(kept.dataset_id))[0]).toEqual(rows[0]);
    const { body: plain } = await make({ group: 'failing' });
    expect([plain.corrected, plain.left_out]).toEqual([0, 0]);
    expect(await rowsIn(plain.dataset_id)).toEqual(rows.slice(0, 3));
    const { status, body } = await make({ review: 'bad_expected', q: 'text 0', corrected: true });
    expect([status, body.code]).toEqual([404, 'no_rows']);
  });
});

describe("the agreement of a job's judge", () => {
  const rubric = { type: 'rubric', criteria: 'Is it kind?', ...local };
  const agreement = async (id: string) => (await get(`/api/v1/online/sessions/${id}`)).judge_agreement;

  test('is that with people, an output counting once', async () => {
    const id = await session([1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 1], rubric);
    expect(await agreement(id)).toBeUndefined();
    for (const row of range(0, 10)) await put(id, row, { verdict: row < 4 || row === 5 ? 'right' : 'wrong' });
    // As many say right as wrong; an expected value says nothing of the answer.
    await put(id, 10, { verdict: 'right' });
    await put(id, 10, { verdict: 'wrong', by: 'ann' });
    await put(id, 3, { verdict: 'right', by: 'ann' });
    await put(id, 4, { verdict: 'bad_expected', by: 'ann' });
    // 5 good for the judge, 5 for people, 4 for both: 26 of C(10, 5) tables agree as much.
    const { p_value: p, ...rest } = await agreement(id);
    expect(p).toBeCloseTo(26 / 252, 12);
    expect(rest).toEqual({
      ...{ basis: 'reviews', outputs: 10, threshold: 0.5, accuracy: 0.8 },
      ...{ kappa: expect.closeTo(0.6, 12), better_than_chance: false },
    });
  });

  test('is none of a scorer without a judge', async () => {
    const id = await session([1, 0]);
    await put(id, 0, { verdict: 'right' });
    expect(await agreement(id)).toBeUndefined();
  });
});

test('results of an evaluation have their reviews, and its rows a corrected data set', async () => {
  const body = {
    dataset: { rows, input: 'text', expected: 'team' },
    scorer: 'exact',
    policy: local,
    candidate: { messages: [{ role: 'system', content: 'Choose.' }] },
  };
  const { body: created } = await http.call('POST', '/api/v1/offline/jobs', body);
  const id = created.job_id as string;
  await seedRollouts(http, id, [{ ...done, candidate: 0, seed: 3, reward: 0 }]);
  await put(id, 0, { verdict: 'wrong', corrected: 'z' });
  const { results } = await get(`/api/v1/offline/jobs/${id}/results?include=outputs&review=wrong`);
  expect(results).toMatchObject([
    { seed: 3, reviews: [{ verdict: 'wrong', corrected: 'z', row: 3, candidate_id: null }] },
  ]);
  const made = await http.call('POST', `/api/v1/offline/jobs/${id}/results/dataset`, { corrected: true });
  expect(made.body).toMatchObject({ num_rows: 1, corrected: 1 });
});
