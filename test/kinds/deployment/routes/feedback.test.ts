import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { deleteOldTraffic } from '../../../../src/retention/store/orgs.js';
import { deployments as base } from '../../../support/jobs-over-http.js';
import { deploymentsOfFile, question } from './support.js';

const it = deploymentsOfFile();

const report = (ref: string, body: object, headers?: Record<string, string>) =>
  it.http.call('POST', `${base}/${ref}/feedback`, body, headers);
const metricsOf = async (id: string) => (await it.http.call('GET', `${base}/${id}/stats`)).body.metrics;
const listed = async (id: string, query = '') => (await it.http.call('GET', `${base}/${id}/feedback${query}`)).body;
/** The id of an answer. */
async function answered(ref: string, correlationId?: string): Promise<string> {
  const headers = correlationId === undefined ? {} : { 'x-ratchet-correlation-id': correlationId };
  const answer = await it.ask(ref, question, headers);
  const { id } = (await answer.json()) as { id: string };
  expect(answer.headers.get('x-ratchet-answer-id')).toBe(id);
  return id;
}

describe('the id of an answer', () => {
  test('is the id of the completion that OpenAI’s client sees, whatever id the provider gives', async () => {
    const id = await it.deploy('named');
    const given = [{ id: 'chatcmpl-same' }, { id: '' }, { id: undefined }, { id: 7 }];
    const seen = new Set<string>();
    for (const fields of given) {
      it.model.reply(() => ({ fields }));
      const { data, response } = await it
        .openai('named')
        .chat.completions.create({ model: 'm', messages: [{ role: 'user', content: 'a' }] })
        .withResponse();
      expect(response.headers.get('x-ratchet-answer-id')).toBe(data.id);
      expect((await report('named', { answer_id: data.id, reward: 1 })).status).toBe(200);
      seen.add(data.id);
    }
    expect(seen.size).toBe(given.length);
    expect(await metricsOf(id)).toMatchObject({ reward: { count: given.length, mean: 1 } });
  });

  test('is on every chunk of a stream', async () => {
    await it.deploy('streamed');
    it.model.reply(() => ({ text: 'one two three', fields: { id: 'theirs' } }));
    const { data, response } = await it
      .openai('streamed')
      .chat.completions.create({ model: 'm', stream: true, messages: [{ role: 'user', content: 'a' }] })
      .withResponse();
    const chunks = [];
    for await (const chunk of data) chunks.push(chunk);
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toContain('three');
    expect(new Set(chunks.map(({ id }) => id))).toEqual(new Set([response.headers.get('x-ratchet-answer-id')]));
  });
});

describe('feedback', () => {
  test('keeps what was reported, and answers a repetition with it', async () => {
    const id = await it.deploy('rated');
    const answer_id = await answered('rated');
    const content = { reward: 0.25, metrics: { solved: false, turns: 3 }, comment: 'Too long.', corrected: 'Yes.' };
    const body = { answer_id, key: 'reviewer-1', ...content };
    const first = await report('rated', body);
    expect(first.body).toMatchObject({ ...body, deployment_id: id, answers: 1, duplicate: false, warning: null });
    const again = await report(id, body);
    expect(again.body).toEqual({ ...first.body, duplicate: true });
    const { duplicate: _duplicate, warning: _warning, ...stored } = first.body;
    expect((await listed(id)).data).toEqual([stored]);
    expect(await metricsOf(id)).toMatchObject({
      reward: { count: 1, mean: 0.25 },
      solved: { count: 1, mean: 0 },
      turns: { count: 1, mean: 3 },
    });
  });

  test('has one report of a key; of several keys the first value of a metric counts', async () => {
    const id = await it.deploy('keyed');
    const answer_id = await answered('keyed');
    expect((await report(id, { answer_id, reward: 1 })).status).toBe(200);
    expect(await report(id, { answer_id, reward: 0 })).toMatchObject({
      status: 409,
      body: { code: 'feedback_conflict' },
    });
    const other = await report(id, { answer_id, key: 'b', reward: 0, metrics: { polite: true } });
    expect(other.body).toMatchObject({ reward: 0, warning: expect.stringContaining('reward') });
    const again = await report(id, { answer_id, key: 'b', reward: 0, metrics: { polite: true } });
    expect(again.body).toEqual({ ...other.body, duplicate: true });
    expect(await metricsOf(id)).toMatchObject({ reward: { count: 1, mean: 1 }, polite: { count: 1 } });
    expect((await listed(id)).data).toHaveLength(2);
  });

  test('counts each report once, in any order and at the same time', async () => {
    let run = 0;
    const reports = fc.array(fc.record({ answer: fc.nat(3), key: fc.nat(2), reward: fc.nat(4) }), { maxLength: 24 });
    await fc.assert(
      fc.asyncProperty(reports, async (given) => {
        const name = `counted-${(run += 1)}`;
        const id = await it.deploy(name);
        const answers = await Promise.all([0, 1, 2, 3].map(() => answered(name)));
        const twice = [...given, ...given].map(({ answer, key, reward }) => {
          return { answer_id: answers[answer], key: `k${key}`, reward };
        });
        const outcomes = await Promise.all(twice.map((body) => report(name, body)));
        for (const { status } of outcomes) expect([200, 409]).toContain(status);
        const { data } = await listed(id);
        const subjects = new Set(given.map(({ answer, key }) => `${answers[answer]} k${key}`));
        expect(new Set(data.map((one: Record<string, string>) => `${one['answer_id']} ${one['key']}`))).toEqual(
          subjects,
        );
        const recorded = outcomes
          .filter(({ status, body }) => status === 200 && !body.duplicate)
          .map(({ body }) => body);
        expect(recorded).toHaveLength(subjects.size);
        const counted = recorded.filter(({ warning }) => warning === null).map(({ reward }) => reward as number);
        expect(counted).toHaveLength(new Set(given.map(({ answer }) => answer)).size);
        const mean = counted.reduce((left, right) => left + right, 0) / counted.length;
        const { reward } = await metricsOf(id);
        if (counted.length === 0) expect(reward).toBeUndefined();
        else expect(reward).toMatchObject({ count: counted.length, mean: expect.closeTo(mean, 9) });
      }),
      { numRuns: 8 },
    );
  });

  test('is for all answers of an episode, which is known for a year', async () => {
    const id = await it.deploy('episodic');
    for (let call = 0; call < 3; call += 1) await answered('episodic', 'chat-1');
    await answered('episodic', 'chat-2');
    const { body } = await report('episodic', { correlation_id: 'chat-1', reward: true });
    expect(body).toMatchObject({ correlation_id: 'chat-1', answer_id: null, answers: 3, deployment_id: id });
    expect(await metricsOf(id)).toMatchObject({ reward: { count: 1, mean: 1 } });
    const reported = async () => (await report('episodic', { correlation_id: 'chat-2', reward: 1 })).status;
    await deleteOldTraffic(it.http.db, 'default', Date.now() + 366 * 86_400_000);
    expect(await reported()).toBe(404);
  });

  test('counts for no deployment where several answered in the episode', async () => {
    const first = await it.deploy('mixed');
    await answered('mixed', 'chat-3');
    const second = await it.deploy('mixed');
    await answered('mixed', 'chat-3');
    const { body } = await report('mixed', { correlation_id: 'chat-3', reward: 1 });
    expect(body).toMatchObject({
      answers: 2,
      deployment_id: second,
      warning: expect.stringContaining('2 deployments'),
    });
    for (const id of [first, second]) expect(await metricsOf(id)).toEqual({});
    // An id stands for its own answers, which others' reports do not touch.
    for (const id of [first, second]) {
      const own = await report(id, { correlation_id: 'chat-3', reward: 1 });
      expect(own.body).toMatchObject({ answers: 1, deployment_id: id, duplicate: false, warning: null });
      expect(await metricsOf(id)).toMatchObject({ reward: { count: 1 } });
    }
  });

  test('counts for none, either, once one of several deployments is deleted', async () => {
    const first = await it.deploy('thinned');
    await answered('thinned', 'chat-6');
    const second = await it.deploy('thinned');
    await answered('thinned', 'chat-6');
    await it.http.call('DELETE', `${base}/${first}`);
    expect((await report('thinned', { correlation_id: 'chat-6', reward: 1 })).body).toMatchObject({ answers: 2 });
    expect(await metricsOf(second)).toEqual({});
  });

  test('is not about calls without an answer', async () => {
    await it.deploy('retried');
    it.model.reply(() => ({ status: 503, raw: 'busy' }));
    await it.ask('retried', question, { 'x-ratchet-correlation-id': 'chat-7' });
    expect((await report('retried', { correlation_id: 'chat-7', reward: 1 })).status).toBe(404);
    it.model.reply(() => ({}));
    await answered('retried', 'chat-7');
    expect((await report('retried', { correlation_id: 'chat-7', reward: 1 })).body).toMatchObject({ answers: 1 });
  });

  test('has room for 100 reports of an answer and 100 metrics of a deployment', async () => {
    const id = await it.deploy('crowded');
    const answer_id = await answered('crowded');
    const pointersOf = (answer: Awaited<ReturnType<typeof report>>) =>
      answer.body.errors?.map(({ pointer }: { pointer: string }) => pointer);
    for (let key = 0; key < 100; key += 1) {
      const names = [0, 1, 2].map((n) => [`m${key * 3 + n}`, 1]);
      const answer = await report(id, { answer_id, key: `k${key}`, reward: 1, metrics: Object.fromEntries(names) });
      const isFull = (key + 1) * 3 > 100;
      expect(pointersOf(answer)).toEqual(isFull ? ['/metrics'] : undefined);
      if (isFull) await report(id, { answer_id, key: `k${key}`, reward: 1 });
    }
    expect(pointersOf(await report(id, { answer_id, key: 'last', reward: 1 }))).toEqual(['/key']);
    expect((await report(id, { answer_id, key: 'k0', reward: 1 })).status).toBe(409);
    expect(Object.keys(await metricsOf(id))).toHaveLength(100);
  });

  test('reaches an answer of a version that was replaced, by the name', async () => {
    const old = await it.deploy('replaced');
    const answer_id = await answered('replaced');
    const current = await it.deploy('replaced');
    expect((await report(current, { answer_id, reward: 1 })).body).toMatchObject({ code: 'answer_not_found' });
    expect((await report('replaced', { answer_id, reward: 1 })).body).toMatchObject({ deployment_id: old });
  });

  test('keeps the spread of large values', async () => {
    const id = await it.deploy('large');
    const given = [1e9, 1e9 - 1, 1e9, 1e9 - 1];
    for (const reward of given) await report(id, { answer_id: await answered('large'), reward });
    const [row] = await it.http.db.org('default', (tx) =>
      tx.query<{ distances: number }>(
        `select distances from deployment_metrics where deployment_id = $1 and width = 'all'`,
        [id],
      ),
    );
    expect(row!.distances).toBeCloseTo(1, 3);
  });

  test('comes in pages, newest first', async () => {
    const id = await it.deploy('paged');
    const answer_id = await answered('paged');
    for (const key of ['a', 'b', 'c']) await report(id, { answer_id, key, comment: key });
    const first = await listed(id, '?limit=2');
    expect(first.data.map(({ key }: { key: string }) => key)).toEqual(['c', 'b']);
    const rest = await listed(id, `?limit=2&cursor=${first.next_cursor}`);
    expect(rest).toMatchObject({ data: [{ key: 'a' }], has_more: false });
  });

  test('is refused where no answer had the id', async () => {
    const id = await it.deploy('strict');
    await it.deploy('other');
    const answer_id = await answered('other');
    const mine = await answered('strict', 'chat-4');
    const refused = async (body: object, headers?: Record<string, string>) =>
      (await report(id, { reward: 1, ...body }, headers)).body.code;
    expect(await refused({ answer_id })).toBe('answer_not_found');
    expect(await refused({ answer_id: 'chatcmpl-123' })).toBe('answer_not_found');
    expect(await refused({ correlation_id: 'chat-5' })).toBe('answer_not_found');
    expect(await refused({ answer_id: mine }, { authorization: `Bearer ${it.http.otherKey}` })).toBe('not_found');
    await it.http.call('DELETE', `${base}/${id}`);
    expect(await refused({ answer_id: mine })).toBe('not_found');
  });

  test('names the fields that are wrong', async () => {
    const id = await it.deploy('checked');
    const answer_id = await answered('checked');
    const pointersOf = async (body: object) =>
      (await report(id, body)).body.errors.map(({ pointer }: { pointer: string }) => pointer);
    expect(await pointersOf({ answer_id })).toEqual(['']);
    expect(await pointersOf({ reward: 1 })).toEqual(['']);
    expect(await pointersOf({ answer_id, correlation_id: 'c', reward: 1 })).toEqual(['']);
    expect(await pointersOf({ answer_id, reward: 'good' })).toEqual(['/reward']);
    expect(await pointersOf({ answer_id, reward: 1e10 })).toEqual(['/reward']);
    expect(await pointersOf({ correlation_id: 'a b', reward: 1 })).toEqual(['/correlation_id']);
    expect(await pointersOf({ answer_id, metrics: { reward: 1 } })).toEqual(['/metrics']);
    expect(await pointersOf({ answer_id, metrics: { 'Not a name': 1 } })).toEqual(['/metrics/Not a name']);
    const answer = await it.ask('checked', question, { 'x-ratchet-correlation-id': 'with space' });
    expect(answer.status).toBe(400);
  });
});
