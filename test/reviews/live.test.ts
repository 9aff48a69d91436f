import { describe, expect, test } from '@jest/globals';
import { deleteOldTraffic } from '../../src/retention/store/orgs.js';
import { deployments as base } from '../support/jobs-over-http.js';
import { deploymentsOfFile, saying } from '../kinds/deployment/routes/support.js';
import { AnswerIds } from '../../src/kinds/deployment/store/answer-ids.js';
import { recordFeedback } from '../../src/kinds/deployment/store/feedback.js';
import { secretKey } from '../platform/http/support.js';

const it = deploymentsOfFile();
const reviews = '/api/v1/reviews';

async function logging(name: string, more: object = {}): Promise<string> {
  const { status, body } = await it.create({ name, source: saying(`I am ${name}.`), log: {}, ...more });
  expect(status).toBe(201);
  return body.id as string;
}
async function asked(name: string, text: string): Promise<string> {
  it.model.reply(() => ({ text: `About: ${text}` }));
  const answer = await it.ask(name, { messages: [{ role: 'user', content: text }] });
  await answer.text();
  return answer.headers.get('x-ratchet-answer-id')!;
}
const put = (name: string, answer: string, body: object) => it.http.call('PUT', `${reviews}/${name}/${answer}`, body);
const get = async (path: string) => (await it.http.call('GET', path)).body;
const rewardOf = async (name: string) => {
  const { reward } = (await get(`${base}/${name}/stats`)).metrics;
  return reward ? [reward.count, reward.mean] : null;
};
const reportsOf = async (name: string) =>
  ((await get(`${base}/${name}/feedback`)).data as { key: string; reward: boolean; corrected: string }[]).map(
    ({ key, reward, corrected }) => [key, reward, corrected],
  );

describe('a review of a live answer', () => {
  test('counts as feedback once, as it is now, until it is taken back', async () => {
    const id = await logging('once');
    const answer = await asked('once', 'a');
    const { status, body } = await put('once', answer, { verdict: 'wrong' });
    expect([status, body.job_id, body.row]).toEqual([200, id, null]);
    expect(await rewardOf('once')).toEqual([1, 0]);
    await put(id, answer, { verdict: 'right', corrected: 'b', by: 'bootstrap_default' });
    expect(await rewardOf('once')).toEqual([1, 1]);
    await put(id, answer, { verdict: 'right', corrected: 'b' });
    await put(id, answer, { verdict: 'wrong', by: 'ann' });
    expect(await rewardOf('once')).toEqual([1, 1]);
    expect(await reportsOf('once')).toEqual([
      ['ratchet:review:ann', false, null],
      ['ratchet:review:bootstrap_default', true, 'b'],
    ]);
    const period = async () => (await get(`${base}/once/history?per=minute`)).data.at(-1)?.metrics?.reward?.count;
    expect(await period()).toBe(1);
    expect((await it.http.call('DELETE', `${reviews}/${id}/${answer}`)).status).toBe(204);
    // The other reviewer's is the first that is left.
    expect(await rewardOf('once')).toEqual([1, 0]);
    expect((await it.http.call('DELETE', `${reviews}/${id}/${answer}?by=ann`)).status).toBe(204);
    expect([await rewardOf('once'), await reportsOf('once')]).toEqual([null, []]);
  });

  test("comes after an application's report, and leaves the sums of others as they were", async () => {
    await logging('after');
    const [one, two, three] = [await asked('after', '1'), await asked('after', '2'), await asked('after', '3')];
    await it.http.call('POST', `${base}/after/feedback`, { answer_id: one, reward: 0.25 });
    await put('after', one, { verdict: 'right' });
    expect(await rewardOf('after')).toEqual([1, 0.25]);
    await put('after', two, { verdict: 'right' });
    await put('after', three, { verdict: 'right' });
    await put('after', three, { verdict: 'wrong' });
    const [count, mean] = (await rewardOf('after'))!;
    expect([count, mean]).toEqual([3, expect.closeTo(1.25 / 3, 12)]);
    const [{ distances }] = (await it.http.db.org('default', (tx) =>
      tx.query<{ distances: number }>(
        `select m.distances from deployment_metrics m join deployments d on d.id = m.deployment_id
          where d.name = 'after' and width = 'all' and metric = 'reward'`,
      ),
    )) as [{ distances: number }];
    const values = [0.25, 1, 0];
    expect(distances).toBeCloseTo(
      values.reduce((sum, value) => sum + (value - 1.25 / 3) ** 2, 0),
      12,
    );
  });

  test('is refused for what has no expected value, no texts, or another owner', async () => {
    const id = await logging('refused');
    await logging('other');
    const answer = await asked('refused', 'a');
    expect((await put(id, answer, { verdict: 'bad_expected' })).body.errors[0].pointer).toBe('/verdict');
    expect((await put('other', answer, { verdict: 'right' })).status).toBe(404);
    const as = { authorization: `Bearer ${it.http.otherKey}` };
    expect((await it.http.call('PUT', `${reviews}/${id}/${answer}`, { verdict: 'right' }, as)).status).toBe(404);
    await put(id, answer, { verdict: 'right' });
    await deleteOldTraffic(it.http.db, 'default', Date.now() + 366 * 86_400_000);
    expect((await get(`${reviews}?job_id=${id}`)).data).toEqual([]);
    expect((await put(id, answer, { verdict: 'wrong' })).status).toBe(404);
    // What it counted for stays, as all feedback does.
    expect(await rewardOf('refused')).toEqual([1, 1]);
  });

  test('makes rows of corrected answers, and of answers that all call right', async () => {
    await logging('rows');
    const answers = [];
    for (const text of ['1', '2', '3', '4']) answers.push(await asked('rows', text));
    await put('rows', answers[0]!, { verdict: 'right' });
    await put('rows', answers[1]!, { verdict: 'wrong', corrected: 'two' });
    await put('rows', answers[2]!, { verdict: 'right' });
    await put('rows', answers[2]!, { verdict: 'wrong', by: 'ann' });
    const { body } = await it.http.call('POST', `${base}/rows/requests/dataset`, { expected: 'reviewed' });
    const { data } = await get(`/api/v1/datasets/${body.dataset_id}/rows`);
    expect(
      data.map((row: { data: { input: string; expected: string } }) => [row.data.input, row.data.expected]),
    ).toEqual([
      ['2', 'two'],
      ['1', 'About: 1'],
    ]);
  });
});

test('kept answers have what people say of them, in their list, one by one and in the queue', async () => {
  const id = await logging('said');
  const answers = [await asked('said', '1'), await asked('said', '2')];
  await put('said', answers[0]!, { verdict: 'wrong', corrected: 'one' });
  await put('said', answers[0]!, { verdict: 'right', note: 'fine', by: 'ann' });
  await put('said', answers[1]!, { note: 'why?', by: 'ann' });
  type Said = { by: string; verdict: string | null; own: boolean };
  const saidOf = (reviews: Said[]) => reviews.map(({ by, verdict, own }) => [by, verdict, own]);
  const ofFirst = [
    ['bootstrap_default', 'wrong', true],
    ['ann', 'right', false],
  ];
  const ofSecond = [['ann', null, false]];
  const list = await get(`${base}/${id}/requests`);
  expect(list.data.map(({ reviews: of }: { reviews: Said[] }) => saidOf(of))).toEqual([ofSecond, ofFirst]);
  expect(saidOf((await get(`${base}/said/requests/${answers[0]}`)).reviews)).toEqual(ofFirst);
  const queue = async (query: string) => {
    const { data, done, left } = await get(`${reviews}/queue?job_id=${id}${query}`);
    return [data.map(({ reviews: of }: { reviews: Said[] }) => saidOf(of)), done, left];
  };
  expect(await queue('')).toEqual([[ofSecond], 1, 1]);
  expect(await queue('&include_reviewed=true')).toEqual([[ofSecond, ofFirst], 1, 1]);
  expect(await queue('&include_reviewed=true&limit=1')).toEqual([[ofSecond], 1, 1]);
});

test('the queue shows where judge and reward disagree first, then the newest, and the judge agrees with people', async () => {
  const id = await logging('judged', { judge: { scorer: { type: 'regex', pattern: 'x' }, sample_rate: 0 } });
  const answers: string[] = [];
  for (const text of ['1', '2', '3', '4', '5', '6']) answers.push(await asked('judged', text));
  const answerIds = new AnswerIds(secretKey);
  const judge = (answerId: string, score: number) =>
    it.http.db.org('default', (tx) =>
      recordFeedback(
        tx,
        {
          ...{ orgId: 'default', name: 'judged', deploymentId: id, unitOf: () => null },
          about: { answerId, answered: answerIds.read(answerId) },
        },
        { key: 'ratchet:judge', content: { metrics: { judge: score } } },
      ),
    );
  for (const [at, score] of [1, 1, 0, 0, 1, 0].entries()) await judge(answers[at]!, score);
  await it.http.call('POST', `${base}/judged/feedback`, { answer_id: answers[1], reward: 0 });
  await put('judged', answers[5]!, { verdict: 'wrong' });
  const { data, done, left } = await get(`${reviews}/queue?job_id=judged`);
  expect([done, left]).toEqual([1, 5]);
  expect(data.map(({ input }: { input: string }) => input)).toEqual(['2', '5', '4', '3', '1']);
  expect(data[0]).toEqual({
    ...{ job_id: id, subject_id: answers[1], row: null, candidate_id: null, input: '2', expected: null },
    ...{ answer: 'About: 2', reward: 0, judge: 1, feedback: null, reviews: [] },
  });
  expect((await it.http.call('GET', `${reviews}/queue?job_id=judged&group=failing`)).status).toBe(422);
  for (const [at, verdict] of ['right', 'right', 'wrong', 'right', 'right'].entries())
    await put('judged', answers[at]!, { verdict });
  const { judge: state } = await get(`${base}/judged/stats`);
  // 3 good for the judge, 4 for people, 3 for both, of 6: C(4,3) of C(6,3) tables agree as much.
  expect(state.agreement).toMatchObject({ basis: 'reviews', outputs: 6, threshold: 0.5 });
  expect(state.agreement.p_value).toBeCloseTo(4 / 20, 12);
  expect((await get(`${reviews}/queue?job_id=judged`)).left).toBe(0);
});
