import { beforeEach, expect, test } from '@jest/globals';
import type { JobRef } from '../../../src/jobs/store/events.js';
import { openCostBudget, readCostBudget, readRefused } from '../../../src/jobs/store/cost-budget.js';
import { unlimited } from '../../support/job.js';
import { policy, proxyOfFile, question } from './support.js';

// A rollout's call under max_cost_usd: bounded, reserved, settled at its cost, refused if too
// large.

const proxy = proxyOfFile();
beforeEach(() => {
  proxy.model.reply(() => ({ text: 'ok', usage: { prompt_tokens: 1_000, completion_tokens: 1_000 } }));
});

/** Cost of an answer of the fake model. */
const answerUsd = 1_000 * 0.15e-6 + 1_000 * 0.6e-6;

async function session(maxCostUsd: number): Promise<{ job: JobRef; rollout: string }> {
  const params = { temperature: 0.5, max_tokens: 1_000 };
  const job = await proxy.newSession({
    spec: { policy: { ...policy, params }, budget: { ...unlimited, maxCostUsd } },
  });
  await proxy.http.db.org(job.orgId, (tx) => openCostBudget(tx, job, maxCostUsd));
  return { job, rollout: await proxy.newRollout(job, 0, 0) };
}
const read = ({ orgId, jobId }: JobRef) => proxy.http.db.org(orgId, (tx) => readCostBudget(tx, jobId));
const sent = () => proxy.model.requests.at(-1)!.body;

test('is sent with the reserved limit and settled at its cost', async () => {
  const { job, rollout } = await session(0.1);
  proxy.model.reply(async () => {
    expect((await read(job))!.reservedUsd).toBeGreaterThan(1_000 * 0.6e-6);
    return { text: 'ok', usage: { prompt_tokens: 1_000, completion_tokens: 1_000 } };
  });
  expect((await proxy.post(job, `/${rollout}`)).status).toBe(200);
  expect(sent()).toMatchObject({ max_tokens: 1_000 });
  expect((await proxy.post(job, `/${rollout}`, { ...question, max_tokens: 1e6 })).status).toBe(200);
  expect(sent()).toMatchObject({ max_tokens: 16_384 });
  const budget = await read(job);
  expect(budget).toEqual({ maxUsd: 0.1, spentUsd: expect.closeTo(2 * answerUsd, 12) as unknown, reservedUsd: 0 });
});

test.each([false, true])(
  'answers 402 to a call that does not fit, which no client retries (streamed: %s)',
  async (stream) => {
    const { job, rollout } = await session(answerUsd);
    const refused = await proxy.post(job, `/${rollout}`, { ...question, stream, max_tokens: 2_000 });
    expect([refused.status, refused.headers.get('x-should-retry')]).toEqual([402, 'false']);
    expect(await refused.json()).toEqual({
      error: {
        type: 'insufficient_quota',
        code: 'budget_exhausted',
        param: null,
        message: expect.any(String) as unknown,
      },
    });
    expect(proxy.model.requests).toEqual([]);
    expect(await proxy.http.db.org(job.orgId, (tx) => readRefused(tx, [job.jobId]))).toEqual(
      new Map([[job.jobId, new Set([rollout])]]),
    );
    // From then on all calls are refused.
    expect((await proxy.post(job, `/${rollout}`, { ...question, max_tokens: 1 })).status).toBe(402);
    await expect(
      proxy.openai(job, `/${rollout}`).chat.completions.create({ model: '', messages: [] }),
    ).rejects.toMatchObject({ status: 402, code: 'budget_exhausted' });
  },
);

test('settles a stream, too', async () => {
  const { job, rollout } = await session(0.01);
  await (await proxy.post(job, `/${rollout}`, { ...question, stream: true })).text();
  expect(await read(job)).toMatchObject({ spentUsd: expect.closeTo(answerUsd, 12) as unknown, reservedUsd: 0 });
});

test.each([
  ['a refused call costs nothing', { status: 429, raw: '{}' }, 0],
  ['a broken call counts in full', { cutAfter: 0 }, 1_000 * 0.6e-6],
  ['a call without usage counts in full', { usage: null }, 1_000 * 0.6e-6],
])('%s', async (_name, reply, least) => {
  const { job, rollout } = await session(0.01);
  proxy.model.reply(() => reply);
  await (await proxy.post(job, `/${rollout}`)).text();
  const { spentUsd, reservedUsd } = (await read(job))!;
  expect(reservedUsd).toBe(0);
  if (least === 0) expect(spentUsd).toBe(0);
  else expect(spentUsd).toBeGreaterThan(least);
});

test('a repeated answer costs nothing', async () => {
  const { job, rollout } = await session(0.01);
  await proxy.post(job, `/${rollout}`);
  await proxy.nextAttempt(job, rollout);
  expect((await proxy.post(job, `/${rollout}`)).status).toBe(200);
  expect(proxy.model.requests).toHaveLength(1);
  expect(await read(job)).toMatchObject({ spentUsd: expect.closeTo(answerUsd, 12) as unknown });
});

test('a call without an upper bound of its cost is 400 and names the field', async () => {
  const { job, rollout } = await session(1);
  const answer = await proxy.post(job, `/${rollout}`, { ...question, model: 'no-such-model' });
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ error: { code: 'cost_not_bounded', param: 'model' } });
});

test('the caller’s own traffic is not limited', async () => {
  const { job } = await session(1e-9);
  expect((await proxy.post(job, '/my-own-id')).status).toBe(200);
  expect((await proxy.post(job, '')).status).toBe(200);
  expect(await read(job)).toMatchObject({ spentUsd: 0, reservedUsd: 0 });
});
