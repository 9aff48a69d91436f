import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { createContainerClient } from '../../../src/clients/container/client.js';
import type { JobRef } from '../../../src/jobs/store/events.js';
import { presenceLock } from '../../../src/platform/db/notifications.js';
import { answers, startFakeContainer } from '../../support/fakes/container.js';
import { until } from '../../support/until.js';
import { policy, proxyOfFile, question, systemOf } from './support.js';

const proxy = proxyOfFile();
let job: JobRef;
let rollout: string;
beforeEach(async () => {
  proxy.model.reply(({ n }) => ({ text: `answer ${n}` }));
  job = await proxy.newSession();
  rollout = await proxy.newRollout(job, 0, 0);
});

async function ask(body: object = question, path = `/${rollout}`, headers = {}): Promise<string> {
  const answer = await proxy.post(job, path, body, headers);
  expect(answer.status).toBe(200);
  const text = await answer.text();
  if (!text.startsWith('data:')) {
    return (JSON.parse(text) as { choices: { message: { content: string } }[] }).choices[0]!.message.content;
  }
  const chunks = text
    .split('\n\n')
    .filter((event) => event !== '' && event !== 'data: [DONE]')
    .map((event) => JSON.parse(event.slice(6)) as { choices: { delta: { content?: string } }[]; usage?: unknown });
  return chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('');
}
const bought = () => proxy.model.requests.length;
const other = { ...question, seed: 1 };

describe('a repeated rollout', () => {
  test('gets its recorded answers in their order, and pays only for the rest', async () => {
    expect([await ask(), await ask(), await ask(other)]).toEqual(['answer 1', 'answer 2', 'answer 3']);
    await proxy.nextAttempt(job, rollout);
    expect([await ask(), await ask(other), await ask(), await ask()]).toEqual([
      'answer 1',
      'answer 3',
      'answer 2',
      'answer 4',
    ]);
    await proxy.nextAttempt(job, rollout);
    expect([await ask(), await ask(), await ask(), await ask()]).toEqual([
      'answer 1',
      'answer 2',
      'answer 4',
      'answer 5',
    ]);
    expect(bought()).toBe(5);
    const occurrences = (await proxy.calls(job)).map((call) => call.occurrence);
    expect(occurrences).toEqual([0, 1, 0, 2, 3]);
  });

  test('gets a new sample for a repeated request within one attempt', async () => {
    expect([await ask(), await ask()]).toEqual(['answer 1', 'answer 2']);
  });

  test('gives concurrent requests different answers, and buys none twice', async () => {
    const first = await Promise.all([ask(), ask(), ask(), ask()]);
    expect(new Set(first).size).toBe(4);
    await proxy.nextAttempt(job, rollout);
    const second = await Promise.all([ask(), ask(), ask(), ask()]);
    expect(second.sort()).toEqual(first.sort());
    expect(bought()).toBe(4);
  });

  test('matches requests regardless of the order of their fields', async () => {
    await ask({ messages: question.messages, top_p: 0.5, x: { a: 1, b: 2 } });
    await proxy.nextAttempt(job, rollout);
    await ask({ x: { b: 2, a: 1 }, top_p: 0.5, messages: question.messages });
    expect(bought()).toBe(1);
    await ask({ messages: question.messages, top_p: 0.6, x: { a: 1, b: 2 } });
    expect(bought()).toBe(2);
  });

  test('streams a recorded stream again, with usage on request', async () => {
    const streamed = { ...question, stream: true };
    const withUsage = { ...streamed, stream_options: { include_usage: true } };
    expect([await ask(streamed), await ask({ ...withUsage, seed: 2 })]).toEqual(['answer 1', 'answer 2']);
    await proxy.nextAttempt(job, rollout);
    expect(await ask(streamed)).toBe('answer 1');
    const answer = await proxy.post(job, `/${rollout}`, { ...withUsage, seed: 2 });
    expect(answer.headers.get('content-type')).toContain('text/event-stream');
    const text = await answer.text();
    expect(text).toContain('"usage":{');
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    expect(bought()).toBe(2);
  });

  test('has the same headers, and the cost of the recorded call', async () => {
    const first = await proxy.post(job, `/${rollout}`);
    await proxy.nextAttempt(job, rollout);
    const again = await proxy.post(job, `/${rollout}`);
    for (const name of ['x-gepa-rollout-idx', 'x-gepa-rollout-id', 'x-gepa-candidate-id', 'x-ratchet-cost-usd']) {
      expect(again.headers.get(name)).toBe(first.headers.get(name));
    }
    expect(await proxy.calls(job)).toHaveLength(1);
  });

  test('does not replay errors', async () => {
    proxy.model.reply(({ n }) => (n === 1 ? { status: 500, raw: 'oops' } : { text: 'well' }));
    expect((await proxy.post(job, `/${rollout}`)).status).toBe(500);
    await proxy.nextAttempt(job, rollout);
    expect(await ask()).toBe('well');
    expect((await proxy.calls(job)).map((call) => call.occurrence)).toEqual([0, 0]);
  });

  test('gives a lost answer to a retry within the same attempt', async () => {
    let go: () => void = () => undefined;
    proxy.model.reply(() => new Promise((resolve) => (go = () => resolve({ text: 'paid for' }))));
    await proxy.postAndLeave(job, `/${rollout}`, question, () => until('the model is asked', () => bought() === 1));
    go();
    await until(
      'it is recorded and counts as not given',
      async () => (await proxy.calls(job))[0]?.served_attempt === 0,
    );
    expect(await ask()).toBe('paid for');
    expect(bought()).toBe(1);
  });

  test('gives an answer of a dead process again, because it may not have arrived', async () => {
    const first = await ask();
    // As after a kill of another replica between the record and the last byte.
    const given = (presence: number) =>
      proxy.http.db.org('default', (tx) =>
        tx.query('update model_calls set served_by = $2 where job_id = $1', [job.jobId, presence]),
      );
    await given(1);
    expect(await ask()).toBe(first);
    expect(bought()).toBe(1);
    expect(await ask()).not.toBe(first);
  });

  test('gives a call that missed its answer the last one given, or one that did not arrive', async () => {
    const again = (retry = 'true') => ask(question, `/${rollout}`, { 'x-ratchet-retry': retry });
    expect([await again(), await again(), await ask(), await again()]).toEqual([
      'answer 1',
      'answer 1',
      'answer 2',
      'answer 2',
    ]);
    await proxy.http.db.org('default', (tx) =>
      tx.query('update model_calls set served_attempt = 0 where job_id = $1 and occurrence = 0', [job.jobId]),
    );
    expect([await again(), await again()]).toEqual(['answer 1', 'answer 2']);
    await proxy.nextAttempt(job, rollout);
    expect([await again(), await ask(), await again(), await again('false')]).toEqual([
      'answer 1',
      'answer 2',
      'answer 2',
      'answer 3',
    ]);
    expect(bought()).toBe(3);
  });

  test('counts an answer of a live process as received, and gives the next one', async () => {
    const first = await ask();
    await proxy.http.db.org('default', async (tx) => {
      await tx.query('select pg_advisory_lock_shared($1, 2)', [presenceLock]);
      await proxy.http.db.org('default', (other) =>
        other.query('update model_calls set served_by = 2 where job_id = $1', [job.jobId]),
      );
      expect(await ask()).not.toBe(first);
      await tx.query('select pg_advisory_unlock_shared($1, 2)', [presenceLock]);
    });
    expect(bought()).toBe(2);
  });

  test('sees the counts of another process: nothing is kept in memory', async () => {
    const [first, second] = [await ask(), await ask()];
    await proxy.nextAttempt(job, rollout);
    // Another replica gives the first one.
    await proxy.http.db.org('default', (tx) =>
      tx.query('update model_calls set served_attempt = 2 where job_id = $1 and occurrence = 0', [job.jobId]),
    );
    expect(await ask()).toBe(second);
    expect(first).not.toBe(second);
  });
});

test('a container called again with the same rollout pays for nothing and returns the same reward', async () => {
  const client = createContainerClient({ egress: { mode: 'dev', allowlist: [] } });
  const folder = await mkdtemp(join(tmpdir(), 'ratchet-ledger-'));
  const container = await startFakeContainer({ ledgerFile: join(folder, 'ledger') });
  const scored = answers.askModel(
    () => ({ system: 'mine', user: 'hi' }),
    (text) => ({ reward: text.length, feedback: text }),
  );
  container.behave(() => scored);
  const run = () =>
    client.rollout(
      {
        url: container.url,
        apiKey: null,
        rolloutId: rollout,
        seed: 3,
        envName: null,
        envConfig: {},
        policy,
        inferenceUrl: `${proxy.url}/api/gepa/v1/${job.jobId}/${rollout}`,
        inferenceApiKey: proxy.inferenceKey(job, rollout),
        messages: null,
        tryTimeoutMs: 5_000,
        deadline: performance.now() + 10_000,
      },
      new AbortController().signal,
    );
  try {
    const first = await run();
    expect(first).toMatchObject({ kind: 'reward', reward: 'answer 1'.length, feedback: 'answer 1' });
    await proxy.nextAttempt(job, rollout);
    expect(await run()).toEqual(first);
    expect(bought()).toBe(1);
    expect(systemOf(proxy.model.requests[0]!)).toBe('Baseline prompt.');
    const lines = (await readFile(join(folder, 'ledger'), 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    expect(lines).toMatchObject([
      { event: 'in', seed: 3, rolloutId: rollout, attempt: 1, concurrency: 1 },
      { event: 'out', attempt: 1, status: 200, finished: true },
      { event: 'in', attempt: 2 },
      { event: 'out', attempt: 2 },
    ]);
  } finally {
    await container.close();
    await client.close();
    await rm(folder, { recursive: true });
  }
});

test('never replays the caller’s own traffic', async () => {
  expect([await ask(question, '/mine'), await ask(question, '/mine')]).toEqual(['answer 1', 'answer 2']);
});
