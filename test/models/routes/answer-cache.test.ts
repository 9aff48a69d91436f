import { beforeEach, describe, expect, test } from '@jest/globals';
import type { AnswerCache } from '../../../src/core/jobs/answer-cache.js';
import { openCostBudget, readCostBudget } from '../../../src/jobs/store/cost-budget.js';
import type { Tx } from '../../../src/platform/db/db.js';
import type { JobRef } from '../../../src/jobs/store/events.js';
import { candidateId } from '../../../src/core/jobs/ids.js';
import { readEvaluationCosts } from '../../../src/candidates/store/pareto-front.js';
import { readRunMeans } from '../../../src/kinds/graph/store/download.js';
import { readSeedMeans } from '../../../src/rollouts/store/by-seed.js';
import { readAnswers as readOutcomes } from '../../../src/rollouts/store/rollouts.js';
import { readUsage } from '../../../src/jobs/store/usage.js';
import { answerId, readAnswers, recordAnswer, takeCachedAnswer } from '../../../src/rollouts/store/answers.js';
import { unlimited } from '../../support/job.js';
import { policy, proxyOfFile, question } from './support.js';

const proxy = proxyOfFile();
const asked = () => proxy.model.requests.length;
/** A session with a rollout. Each test asks about something of its own. */
async function session(answerCache: AnswerCache | null, params: object = { temperature: 0 }, more: object = {}) {
  const spec = { policy: { ...policy, params: { ...params } }, ...(answerCache && { answerCache }), ...more };
  const job = await proxy.newSession({ spec });
  return { job, rollout: await proxy.newRollout(job, 0, 0) };
}
let topic = 0;
let body: { messages: { role: string; content: string }[] };
beforeEach(() => {
  topic += 1;
  body = { messages: [question.messages[0]!, { role: 'user', content: `Question ${topic}` }] };
  proxy.model.reply(({ n }) => ({ text: `answer ${n}`, usage: { prompt_tokens: 1_000, completion_tokens: 100 } }));
});

interface Completion {
  id: string;
  object: string;
  choices: { message: { content: string } }[];
  usage: object;
}

async function ask({ job, rollout }: { job: JobRef; rollout: string }, more: object = {}) {
  const answer = await proxy.post(job, `/${rollout}`, { ...body, ...more });
  expect(answer.status).toBe(200);
  const text = await answer.text();
  return { headers: answer.headers, text, hit: answer.headers.get('x-ratchet-cache') === 'hit' };
}
const textOf = ({ text }: { text: string }) => (JSON.parse(text) as Completion).choices[0]!.message.content;
const usage = ({ job }: { job: JobRef }) => proxy.http.db.org(job.orgId, (tx) => readUsage(tx, job.jobId));

describe('a call with temperature 0', () => {
  test('gets the recorded answer of another job, as a call of its own at cost 0', async () => {
    const first = await session(null);
    const paid = await ask(first);
    const second = await session('deterministic');
    const got = await ask(second, { user: 'someone-else' });
    expect([got.hit, got.headers.get('x-ratchet-cost-usd'), asked()]).toEqual([true, '0', 1]);
    expect(JSON.parse(got.text)).toEqual(JSON.parse(paid.text));
    const [original] = await proxy.calls(first.job);
    expect(await proxy.calls(second.job)).toMatchObject([
      {
        purpose: 'rollout',
        rollout_id: second.rollout,
        http_status: 200,
        response: original!.response,
        prompt_tokens: 1_000,
        completion_tokens: 100,
        cost_usd: 0,
        cost_source: 'table',
        cached_from: (original as unknown as { id: string }).id,
        cached_cost_usd: original!.cost_usd,
      },
    ]);
    expect(await usage(second)).toMatchObject({
      calls: 1,
      answered: 1,
      cached: 1,
      totalCostUsd: 0,
      promptTokens: 1_000,
    });
    // A copy is no original.
    expect((await ask(await session('deterministic'))).hit).toBe(true);
    expect((await ask(first)).hit).toBe(false);
  });

  test('gets it streamed, and streams are answers for others', async () => {
    const streamed = { stream: true, stream_options: { include_usage: true } };
    await ask(await session(null), streamed);
    const got = await ask(await session('deterministic'), streamed);
    expect(got.headers.get('content-type')).toContain('text/event-stream');
    expect([got.hit, got.text.includes('"usage":{'), got.text.endsWith('data: [DONE]\n\n')]).toEqual([
      true,
      true,
      true,
    ]);
    expect(textOf(await ask(await session('deterministic')))).toBe('answer 1');
    expect(asked()).toBe(1);
  });

  test('shares an answer among rollouts of a job, and takes it once in a rollout', async () => {
    const first = await session('deterministic');
    expect((await ask(first)).hit).toBe(false);
    const other = { job: first.job, rollout: await proxy.newRollout(first.job, 1, 0) };
    const answers = await Promise.all([ask(other), ask(other), ask(other)]);
    expect(answers.map(({ hit }) => hit).sort()).toEqual([false, false, true]);
    expect(asked()).toBe(3);
  });

  test('is replayed when its rollout is sent again, and counts once', async () => {
    await ask(await session(null));
    const second = await session('deterministic');
    const got = await ask(second);
    await proxy.nextAttempt(second.job, second.rollout);
    expect(textOf(await ask(second))).toBe(textOf(got));
    expect(await proxy.calls(second.job)).toHaveLength(1);
    expect(await usage(second)).toMatchObject({ calls: 1, cached: 1 });
    expect(asked()).toBe(1);
  });

  test.each([
    ['without the cache', null, {}],
    ['with other parameters', 'deterministic', { max_tokens: 7 }],
    ['with another model', 'deterministic', { model: 'gpt-4.1-nano' }],
    ['with a temperature of its own', 'deterministic', { temperature: 1 }],
  ] as const)('asks the model %s', async (_name, cache, more) => {
    await ask(await session(null));
    expect((await ask(await session(cache), more)).hit).toBe(false);
    expect(asked()).toBe(2);
  });

  test('asks the model after a failure, and for traffic of the caller', async () => {
    proxy.model.reply(({ n }) => (n === 1 ? { status: 400, raw: '{"error":{"message":"no"}}' } : {}));
    const first = await session(null);
    expect((await proxy.post(first.job, `/${first.rollout}`, body)).status).toBe(400);
    const second = await session('deterministic');
    expect((await ask(second)).hit).toBe(false);
    expect((await ask({ job: second.job, rollout: 'my-own-call' })).hit).toBe(false);
    expect(asked()).toBe(3);
  });

  test('is never answered by another organization', async () => {
    await ask(await session(null));
    await proxy.http.db.org('other', (tx) =>
      tx.query(`insert into orgs (id, name) values ('other', 'other') on conflict do nothing`),
    );
    const job = await proxy.newSession({ orgId: 'other' });
    const rollout = await proxy.newRollout(job, 0, 0);
    const ref = { ...job, rolloutId: rollout, candidateId: null, attempt: 1, presence: 1, key: '@answer', tries: 0 };
    const request = proxy.model.requests[0]!.body;
    const call = { ref, purpose: 'rollout' as const, policy, request };
    expect(await proxy.http.db.org('other', (tx) => takeCachedAnswer(tx, 'rollout', call))).toBeNull();
    // The same call is found in the organization that made it.
    const own = await session('deterministic');
    const there = { ...call, ref: { ...ref, ...own.job, rolloutId: own.rollout } };
    expect(await proxy.http.db.org('default', (tx) => takeCachedAnswer(tx, 'rollout', there))).not.toBeNull();
  });

  test('reserves no money: it is answered when the budget is spent', async () => {
    const bounded = { budget: { ...unlimited, maxCostUsd: 1e-9 } };
    const params = { temperature: 0, max_tokens: 100 };
    await ask(await session(null, params));
    const second = await session('deterministic', params, bounded);
    await proxy.http.db.org('default', (tx) => openCostBudget(tx, second.job, 1e-9));
    expect((await ask(second)).hit).toBe(true);
    const budget = await proxy.http.db.org('default', (tx) => readCostBudget(tx, second.job.jobId));
    expect(budget).toEqual({ maxUsd: 1e-9, spentUsd: 0, reservedUsd: 0 });
    expect((await proxy.post(second.job, `/${second.rollout}`, { ...body, top_p: 0.5 })).status).toBe(402);
  });
});

describe('a call that samples', () => {
  test.each([{ temperature: 1 }, {}])('asks the model unless sampled answers are asked for: %j', async (params) => {
    await ask(await session(null, params));
    expect((await ask(await session('deterministic', params))).hit).toBe(false);
    expect((await ask(await session('sampled', params))).hit).toBe(true);
    expect(asked()).toBe(2);
  });

  test('takes each answer of other jobs once in a job, so that repetitions still vary', async () => {
    const params = { temperature: 1 };
    const first = await session(null, params);
    await ask(first);
    await ask(first);
    const second = await session('sampled', params);
    const rollouts = [second.rollout];
    for (const ordinal of [1, 2, 3]) rollouts.push(await proxy.newRollout(second.job, ordinal, 0));
    const got = await Promise.all(rollouts.map((rollout) => ask({ job: second.job, rollout })));
    expect(got.filter(({ hit }) => hit)).toHaveLength(2);
    expect(new Set(got.map(textOf)).size).toBe(4);
    expect(asked()).toBe(4);
  });
});

test('comparisons of cost use the price of the recorded call', async () => {
  await ask(await session(null));
  const { job, rollout } = await session('deterministic');
  expect((await ask({ job, rollout })).hit).toBe(true);
  const usd = 1_000 * 0.15e-6 + 100 * 0.6e-6;
  await proxy.http.db.org('default', async (tx) => {
    await tx.query(`update rollouts set status = 'succeeded', reward = 1 where id = $1`, [rollout]);
    const [answer] = (await readOutcomes(tx, job.jobId, 0, 1, 'usd'))!;
    expect(answer!.cost).toBeCloseTo(usd, 12);
    const candidate = candidateId(job.jobId, 0);
    const { means } = await readSeedMeans(tx, job.jobId, candidate);
    expect(means.get(0)).toMatchObject({ reward: 1, costUsd: expect.closeTo(usd, 12) as unknown, calls: 1 });
    const costs = await readEvaluationCosts(tx, job.jobId, [candidate], { seeds: [0], repeats: 1 });
    expect(costs.get(candidate)!.costUsd).toBeCloseTo(usd, 12);
    const [runs] = await readRunMeans(tx, job.jobId, [candidate]);
    expect(runs!.usd).toBeCloseTo(usd, 12);
  });
  expect((await usage({ job })).totalCostUsd).toBe(0);
});

test('a call of the service is taken twice under one id, and is whole for a container', async () => {
  const request = { model: 'gpt-4o-mini', temperature: 0, ...body };
  const ref = (of: { job: JobRef; rollout: string }) => ({
    ...of.job,
    rolloutId: of.rollout,
    candidateId: null,
    attempt: 1,
    presence: 1,
    key: '@answer',
    tries: 0,
  });
  const call = { purpose: 'rollout' as const, policy, request };
  const spent = { promptTokens: 9, completionTokens: 1, costUsd: 0.5, costSource: 'table', latencyMs: 1 };
  const org = <T>(work: (tx: Tx) => Promise<T>) => proxy.http.db.org('default', work);
  const [first, second] = [await session(null), await session('deterministic')];
  const text = { text: 'for the service', thoughts: null, refusal: null, finishReason: 'stop' };
  await org((tx) => recordAnswer(tx, { ref: ref(first), ...call }, { ...text, ...spent }));
  const again = { ref: ref(second), ...call };
  for (let times = 0; times < 2; times += 1)
    expect(await org((tx) => takeCachedAnswer(tx, 'rollout', again))).toEqual(text);
  expect(await usage(second)).toMatchObject({ calls: 1, cached: 1, totalCostUsd: 0 });
  const recorded = await org((tx) => readAnswers(tx, second.job.jobId, second.rollout));
  expect(recorded.get(answerId({ rolloutId: second.rollout, key: '@answer', tries: 0 }))).toEqual(text);

  // The proxy sends the session's prompt in place of the system message.
  const sent = [{ role: 'system', content: 'Baseline prompt.' }, body.messages[1]!];
  const third = await session(null);
  const asked = { ref: ref(third), ...call, request: { ...request, messages: sent } };
  await org((tx) => recordAnswer(tx, asked, { ...text, ...spent }));
  const got = await ask(await session('deterministic'));
  expect(got.hit).toBe(true);
  expect(JSON.parse(got.text)).toMatchObject({
    object: 'chat.completion',
    model: 'gpt-4o-mini',
    choices: [{ message: { content: 'for the service' } }],
    usage: { prompt_tokens: 9, completion_tokens: 1, total_tokens: 10 },
  });
});
