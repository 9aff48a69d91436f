import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { deleteOldTraffic } from '../../../../src/retention/store/orgs.js';
import { readStoredBytes } from '../../../../src/access/store/stored-bytes.js';
import { deployments as base } from '../../../support/jobs-over-http.js';
import { deploymentsOfFile, question, saying } from './support.js';

const it = deploymentsOfFile();

const get = (path: string) => it.http.call('GET', `${base}/${path}`);
const listed = async (ref: string, query = '') => (await get(`${ref}/requests${query}`)).body;
const ids = async (ref: string, query = '') =>
  ((await listed(ref, query)).data as { answer_id: string }[]).map(({ answer_id: id }) => id);
const report = (ref: string, body: object) => it.http.call('POST', `${base}/${ref}/feedback`, body);
const datasetOf = (ref: string, body?: object) => it.http.call('POST', `${base}/${ref}/requests/dataset`, body);
const rowsOf = async (id: string) =>
  (await it.http.call('GET', `/api/v1/datasets/${id}/rows`)).body.data.map(({ data }: { data: object }) => data);

/** Deploys with a log; returns the deployment's id. */
async function logging(name: string, log: object | null = {}): Promise<string> {
  const { status, body } = await it.create({ name, source: saying(`I am ${name}.`), log });
  expect(status).toBe(201);
  return body.id as string;
}
/** Asks with a text; returns the answer's id. */
async function asked(ref: string, text: string, more: { reply?: string; episode?: string; body?: object } = {}) {
  const { reply = `About: ${text}`, episode, body } = more;
  it.model.reply(() => ({ text: reply }));
  const headers = episode === undefined ? {} : { 'x-ratchet-correlation-id': episode };
  const answer = await it.ask(ref, { messages: [{ role: 'user', content: text }], ...body }, headers);
  await answer.text();
  return answer.headers.get('x-ratchet-answer-id')!;
}

describe('kept texts', () => {
  test('are those of the caller and of the answer, whole or streamed', async () => {
    const id = await logging('kept');
    const whole = await asked('kept', 'Where is it?', { episode: 'e-1' });
    const streamed = await asked('kept', 'And now?', { body: { stream: true, temperature: 0.5 } });
    const { data } = await listed('kept');
    expect(data).toMatchObject([
      {
        answer_id: streamed,
        request: { messages: [{ role: 'user', content: 'And now?' }], stream: true, temperature: 0.5 },
        answer: { choices: [{ message: { content: 'About: And now?' } }] },
        correlation_id: null,
      },
      {
        answer_id: whole,
        deployment_id: id,
        outcome: 'ok',
        code: null,
        provider: 'openai',
        model: 'gpt-4o-mini',
        correlation_id: 'e-1',
        reward: null,
        corrected: null,
        reports: 0,
        request: { messages: [{ role: 'user', content: 'Where is it?' }] },
        answer: { choices: [{ message: { content: 'About: Where is it?' } }] },
      },
    ]);
    expect((await get(`kept/requests/${whole}`)).body).toEqual(data[1]);
    expect((await get(`${id}/requests/${whole}`)).status).toBe(200);
  });

  test('are none without a log, and the error of a failed request', async () => {
    await logging('unlogged', null);
    await asked('unlogged', 'a');
    expect(await listed('unlogged')).toEqual({ data: [], next_cursor: null, has_more: false });
    await logging('failing');
    it.model.reply(() => ({ status: 429, text: '' }));
    await it.ask('failing', question);
    expect((await listed('failing')).data).toMatchObject([
      { outcome: 'error', answer: { error: { message: expect.any(String) } }, code: expect.any(String) },
    ]);
  });

  test('leave out files and what is too long, and keep any character', async () => {
    await logging('bounded');
    const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(5_000)}` } };
    const odd = 'NUL \u0000, half \ud800, “quotes”';
    const messages = [{ role: 'user', content: [{ type: 'text', text: 'What is it?' }, image] }];
    await asked('bounded', '', { body: { messages }, reply: odd });
    await asked('bounded', 'x '.repeat(150_000), { reply: 'short' });
    const [long, file] = (await listed('bounded')).data;
    expect(file.request.messages[0].content[1].image_url.url).toHaveLength(
      'data:image/png;base64,[5000 characters left out]'.length,
    );
    expect(file.answer.choices[0].message.content).toBe(odd);
    expect(long).toMatchObject({ request: null, answer: { choices: [{ message: { content: 'short' } }] } });
  });

  test('are a sample of the requests, and whole episodes', async () => {
    const id = await logging('sampled', { sample_rate: 0.5 });
    const episodes = Array.from({ length: 24 }, (_, at) => `chat-${at}`);
    for (const episode of episodes) await Promise.all(['a', 'b'].map((text) => asked(id, text, { episode })));
    const kept = ((await listed(id, '?limit=100')).data as { correlation_id: string }[]).map(
      (row) => row.correlation_id,
    );
    const known = new Set(kept);
    expect(kept).toHaveLength(2 * known.size);
    expect(known.size).toBeGreaterThan(2);
    expect(known.size).toBeLessThan(22);
  });

  test('follow the log of their name, whichever version answers, and what a change does not give stays', async () => {
    const first = await logging('changed', { redact: ['email'], keep_days: 90 });
    const patch = async (body: object) =>
      expect((await it.http.call('PATCH', `${base}/changed`, body)).status).toBe(200);
    await asked('changed', 'Mail me@example.org');
    await patch({ log: { sample_rate: 0 } });
    await asked('changed', 'not kept');
    expect((await get('changed')).body).toMatchObject({ log: { sample_rate: 0, keep_days: 90, redact: ['email'] } });
    await patch({ log: { sample_rate: 1 } });
    const second = await it.deploy('changed');
    await asked('changed', 'Again me@example.org');
    const texts = async (ref: string) =>
      ((await listed(ref)).data as { request: { messages: { content: string }[] } }[]).map(
        ({ request }) => request.messages[0]!.content,
      );
    expect(await texts('changed')).toEqual(['Again [email]', 'Mail [email]']);
    // A name stands for all its deployments; an id, a version and a label for their own.
    expect(await texts(first)).toEqual(['Mail [email]']);
    expect(await texts('changed@1')).toEqual(['Mail [email]']);
    expect(await texts('changed@production')).toEqual(['Again [email]']);
    await patch({ log: null });
    expect((await it.http.call('POST', `${base}/${second}/rollback`, {})).status).toBe(200);
    await asked('changed', 'after the rollback');
    expect((await get(first)).body.log).toBeNull();
    await deleteOldTraffic(it.http.db, 'default');
    expect(await texts('changed')).toEqual([]);
  });

  test('have nothing of what is redacted: not in arguments, names, numbers, probabilities or failures', async () => {
    const id = await logging('private', { redact: ['email', 'phone', 'us_ssn', 'credit_card', 'secret'] });
    const secret = {
      note: 'Call\n+49 30 901820\n078-05-1120',
      key: `sk-proj-${'a1B2'.repeat(8)}`,
      card: 4242424242424242,
    };
    const call = { id: 'c', type: 'function', function: { name: 'f', arguments: JSON.stringify(secret) } };
    it.model.reply(() => ({
      fields: {
        choices: [
          {
            index: 0,
            finish_reason: 'tool_calls',
            message: { role: 'assistant', content: null, tool_calls: [call] },
            logprobs: { content: [{ token: 'me@example.org', logprob: 0, bytes: [109, 101], top_logprobs: [] }] },
          },
        ],
      },
    }));
    const body = { ...question, metadata: { 'me@example.org': '078-05-1120' } };
    expect((await it.ask('private', body)).status).toBe(200);
    const text = JSON.stringify((await listed('private')).data);
    for (const kept of ['me@example.org', '901820', '078-05-1120', 'sk-proj', '42424242'])
      expect(text).not.toContain(kept);
    const { function: kept } = (await listed('private')).data[0].answer.choices[0].message.tool_calls[0];
    expect(JSON.parse(kept.arguments)).toEqual({
      note: 'Call\n[phone]\n[us_ssn]',
      key: '[secret]',
      card: '[credit_card]',
    });
    it.model.reply(() => ({
      behave: (_rollout, response) =>
        void response.writeHead(400).end('{"error":{"message":"Bad name me@example.org"}}'),
    }));
    await it.ask('private', question);
    expect(JSON.stringify((await get(`${id}/failures`)).body)).not.toContain('me@example.org');
  });

  test('are deleted after their days, with the log, and one by one, and count as stored bytes', async () => {
    const stored = () => it.http.db.org('default', (tx) => readStoredBytes(tx, 'default'));
    const id = await logging('expiring', { keep_days: 2 });
    const before = await stored();
    const one = await asked(id, 'one');
    await asked(id, 'two');
    const bytes = (await stored()) - before;
    expect(bytes).toBeGreaterThan(100);
    expect((await it.http.call('DELETE', `${base}/expiring/requests/${one}`)).status).toBe(204);
    expect((await it.http.call('DELETE', `${base}/expiring/requests/${one}`)).status).toBe(404);
    expect((await get(`expiring/requests/${one}`)).status).toBe(404);
    expect((await stored()) - before).toBeLessThan(bytes);
    const day = 86_400_000;
    await deleteOldTraffic(it.http.db, 'default', Date.now() + 1.9 * day);
    expect(await ids(id)).toHaveLength(1);
    await deleteOldTraffic(it.http.db, 'default', Date.now() + 2.1 * day);
    expect(await ids(id)).toEqual([]);
    expect(await stored()).toBe(before);
    await asked(id, 'three');
    await it.http.call('PATCH', `${base}/${id}`, { log: null });
    await deleteOldTraffic(it.http.db, 'default');
    expect(await ids(id)).toEqual([]);
    expect(await stored()).toBe(before);
  });
});

test('an organization without room for bytes keeps no further texts, and is answered', async () => {
  const admin = '/api/v1/admin';
  const { org_id: org } = (await it.http.call('POST', `${admin}/orgs`, { name: 'Full' })).body;
  const { key } = (
    await it.http.call('POST', `${admin}/keys?org_id=${org}`, {
      name: 'k',
      scopes: ['admin', 'read', 'write', 'infer'],
    })
  ).body;
  const headers = { authorization: `Bearer ${key}` };
  const call = (method: 'GET' | 'POST', path: string, body?: object) => it.http.call(method, path, body, headers);
  const created = await call('POST', base, { name: 'full', source: saying('x'), log: {} });
  expect(created.status).toBe(201);
  expect((await it.http.call('PUT', `${admin}/limits?org_id=${org}`, { stored_bytes: 1 })).status).toBe(200);
  expect((await it.ask('full', question, headers)).status).toBe(200);
  expect((await call('GET', `${base}/full/requests`)).body.data).toEqual([]);
  expect((await call('GET', `${base}/full/stats`)).body.requests).toBe(1);
});

describe('a search', () => {
  test('finds by text, outcome, code, episode, time and feedback', async () => {
    await logging('searched');
    const blue = await asked('searched', 'Is the sky BLUE "today"?', { episode: 'e-9' });
    const red = await asked('searched', 'Is it red?', { reply: 'Blueish.' });
    it.model.reply(() => ({ status: 500 }));
    const failed = (await it.ask('searched', question)).headers.get('x-ratchet-answer-id')!;
    await report('searched', { answer_id: red, reward: 0.25, corrected: 'Red.' });
    await report('searched', { correlation_id: 'e-9', reward: true });
    const found = (query: string) => ids('searched', query);
    expect(await found('?q=blue')).toEqual([red, blue]);
    expect(await found(`?q=${encodeURIComponent('blue "today"')}`)).toEqual([blue]);
    // Names of fields are no texts.
    expect(await found('?q=messages')).toEqual([]);
    expect(await found('?outcome=error')).toEqual([failed]);
    const { code } = (await get(`searched/requests/${failed}`)).body;
    expect(await found(`?code=${code}`)).toEqual([failed]);
    expect(await found('?code=other')).toEqual([]);
    expect(await found('?correlation_id=e-9')).toEqual([blue]);
    expect(await found('?feedback=any')).toEqual([red, blue]);
    expect(await found('?feedback=none')).toEqual([failed]);
    expect(await found('?feedback=corrected')).toEqual([red]);
    expect(await found('?min_reward=0.5')).toEqual([blue]);
    expect(await found('?max_reward=0.25')).toEqual([red]);
    const { at } = (await get(`searched/requests/${red}`)).body;
    expect(await found(`?from=${at}`)).toEqual([failed, red]);
    expect(await found(`?to=${at}`)).toEqual([blue]);
    expect((await get('searched/requests?min_reward=high')).body).toMatchObject({
      status: 422,
      errors: [{ pointer: '/min_reward' }],
    });
  });

  test('has every request once, in pages of any size, and in the export', async () => {
    await logging('paged');
    const all: string[] = [];
    for (let at = 0; at < 7; at += 1) all.unshift(await asked('paged', `text ${at % 2}`));
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 8 }), fc.constantFrom('', '&q=text+1'), async (limit, more) => {
        const seen: string[] = [];
        for (let cursor: string | null = ''; cursor !== null;) {
          const page = await listed('paged', `?limit=${limit}${more}${cursor === '' ? '' : `&cursor=${cursor}`}`);
          seen.push(...page.data.map((row: { answer_id: string }) => row.answer_id));
          cursor = page.next_cursor;
        }
        expect(seen).toEqual(more === '' ? all : all.filter((_, index) => index % 2 === 1));
      }),
      { numRuns: 12 },
    );
    const exported = await fetch(`${it.url}${base}/paged/requests/export`, {
      headers: { authorization: `Bearer ${it.http.key}` },
    });
    const lines = (await exported.text()).trim().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { answer_id: string }).answer_id)).toEqual(all);
  });

  test('does not show an answer of another name', async () => {
    await logging('mine');
    await logging('other');
    const id = await asked('mine', 'a');
    expect((await get(`other/requests/${id}`)).status).toBe(404);
    expect((await it.http.call('DELETE', `${base}/other/requests/${id}`)).status).toBe(404);
    expect((await get('mine/requests/chatcmpl-unknown')).status).toBe(404);
  });
});

describe('a data set of requests', () => {
  test('has inputs, and corrected answers as what is expected', async () => {
    await logging('rows');
    const first = await asked('rows', 'one plus one', { reply: '3' });
    const second = await asked('rows', 'two plus two', { reply: '4' });
    await report('rows', { answer_id: first, reward: 0, corrected: '2' });
    await report('rows', { answer_id: second, reward: 1 });
    const turns = [
      { role: 'system', content: 'Replaced.' },
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hello' },
      { role: 'user', content: 'Bye' },
    ];
    const chat = await asked('rows', '', { body: { messages: turns }, reply: 'Goodbye' });
    await asked('rows', '', { body: { messages: [{ role: 'tool', tool_call_id: 'c', content: '1' }] } });
    await asked('rows', 'with tools', { body: { tools: [{ type: 'function', function: { name: 'f' } }] } });
    const made = await datasetOf('rows', { expected: 'corrected_or_answer' });
    expect(made.body.name).toBe('Requests of rows');
    expect(made).toMatchObject({ status: 201, body: { num_rows: 3, left_out: 2 } });
    expect(await rowsOf(made.body.dataset_id)).toEqual([
      { input: turns.slice(1), expected: 'Goodbye', answer: 'Goodbye', answer_id: chat },
      { input: 'two plus two', expected: '4', answer: '4', reward: 1, answer_id: second },
      { input: 'one plus one', expected: '2', answer: '3', reward: 0, answer_id: first },
    ]);
    const again = await datasetOf('rows', { expected: 'corrected_or_answer' });
    expect(again).toMatchObject({ status: 200, body: { dataset_id: made.body.dataset_id } });
    const corrected = await datasetOf('rows', { feedback: 'corrected' });
    expect(await rowsOf(corrected.body.dataset_id)).toEqual([
      { input: 'one plus one', expected: '2', answer: '3', reward: 0, answer_id: first },
    ]);
    const latest = await datasetOf('rows', { limit: 1, q: 'plus' });
    expect(await rowsOf(latest.body.dataset_id)).toMatchObject([{ input: 'two plus two' }]);
  });

  test('does not expect an answer that broke off', async () => {
    await logging('broken');
    it.model.reply(() => ({ text: 'one two', cutAfter: 2 }));
    await (await it.ask('broken', { ...question, stream: true })).text();
    const { body } = await datasetOf('broken', { expected: 'corrected_or_answer' });
    expect(await rowsOf(body.dataset_id)).toEqual([
      { input: question.messages[0]!.content, answer: expect.any(String), answer_id: expect.any(String) },
    ]);
  });

  test('is refused without rows', async () => {
    await logging('empty');
    expect((await datasetOf('empty')).body).toMatchObject({ status: 404, code: 'no_requests' });
  });
});

test.each([
  [{ sample_rate: 2 }, '/log/sample_rate'],
  [{ keep_days: 0 }, '/log/keep_days'],
  [{ redact: ['names'] }, '/log/redact/0'],
  [{ redact: [{ name: 'order', pattern: '(' }] }, '/log/redact/0/pattern'],
  [{ redact: [{ name: 'order', pattern: 'x*' }] }, '/log/redact/0/pattern'],
  [true, '/log'],
])('a log %j is refused at %s', async (log, pointer) => {
  const { status, body } = await it.create({ name: 'refused', source: saying('x'), log });
  expect(status).toBe(422);
  expect(body.errors.map((error: { pointer: string }) => error.pointer)).toContain(pointer);
});
