import { describe, expect, test } from '@jest/globals';
import { demoMessages, type Demo } from '../../../src/core/prompts/demos.js';
import type { Message } from '../../../src/core/prompts/message.js';
import { candidateId, rolloutId } from '../../../src/core/jobs/ids.js';
import { addCandidate } from '../../../src/candidates/store/candidates.js';
import type { Tx } from '../../../src/platform/db/db.js';
import { usableDemos } from '../../../src/candidates/store/demos.js';
import type { JobRef } from '../../../src/jobs/store/events.js';
import { readJob } from '../../../src/jobs/store/jobs.js';
import { planRollouts } from '../../../src/rollouts/store/rollouts.js';
import { publishSlots } from '../../../src/rollouts/store/slots.js';
import { proxyOfFile, question, system } from './support.js';

const proxy = proxyOfFile();
const sent = () => proxy.model.requests.at(-1)!.body as unknown as Record<string, unknown>;
const user = (content: unknown) => ({ role: 'user', content });
const asked = question.messages[1]!;
const named = (name: string, content: string): Message => ({ role: 'system', content, name });
const lever = (name: string, text: string) => `<lever name="${name}">${text}</lever>`;
const demo = (seed: number, component: string | null = null): Demo => ({
  component,
  seed,
  ordinal: seed,
  input: `question ${seed}`,
  output: `answer ${seed}`,
});
const demos = [demo(4), demo(5)];
const pairs = (...seeds: number[]) => seeds.flatMap((seed) => demoMessages(demo(seed)));

const org = <T>(work: (tx: Tx) => Promise<T>) => proxy.http.db.org('default', work);

/** A session whose best candidate has demonstrations. */
async function session(
  messages: Message[] = [system('Best.')],
  shown: Demo[] = demos,
  options: Parameters<typeof proxy.newSession>[0] = {},
): Promise<JobRef> {
  const job = await proxy.newSession({ baseline: messages, ...options });
  const best = { leverVersion: 1, generation: 1, parents: [0], messages, demos: shown };
  await org(async (tx) => {
    await addCandidate(tx, job, best);
    await tx.query(
      `update jobs set projection = projection || jsonb_build_object('bestCandidateId', $2::text) where id = $1`,
      [job.jobId, candidateId(job.jobId, 1)],
    );
  });
  return job;
}

/** A rollout of that candidate run by the service. */
async function rollout(job: JobRef, ordinal: number, seed: number): Promise<string> {
  const request = { ordinal, candidate: 1, seed, stage: 'evaluation' as const, generation: 1 };
  await org((tx) => planRollouts(tx, job, [request], true));
  const id = rolloutId(job.jobId, ordinal);
  await proxy.nextAttempt(job, id);
  return id;
}

describe('demonstrations', () => {
  test('follow the instruction in a rollout’s calls, without those of its own seed; the rest is unchanged', async () => {
    const job = await session();
    const more = { tools: [], stop: ['x'], metadata: { kept: 1 } };
    const cases = [
      { seed: 4, shown: [5] },
      { seed: 5, shown: [4] },
      { seed: 6, shown: [4, 5] },
    ];
    for (const [ordinal, { seed, shown }] of cases.entries()) {
      const response = await proxy.post(job, `/${await rollout(job, ordinal, seed)}`, { ...question, ...more });
      expect(response.status).toBe(200);
      expect(sent()).toEqual({
        temperature: 0.5,
        model: 'gpt-4o-mini',
        ...more,
        messages: [system('Best.'), ...pairs(...shown), asked],
      });
    }
    const calls = await proxy.calls(job);
    expect(calls.map(({ request }) => (request['messages'] as unknown[]).length)).toEqual([4, 4, 6]);
    // Inserted messages are not part of the question.
    const wanted = { components: ['system'], marked: false, ordinals: [0, 1, 2], open: [] };
    expect(await org((tx) => usableDemos(tx, job.jobId, wanted))).toEqual([
      { component: null, bootstrapped: [0, 1, 2], labeled: [], sameAnswer: [], room: 100 },
    ]);
  });

  test('are in the caller’s own traffic, after an inserted system message', async () => {
    const job = await session();
    await proxy.post(job, '/mine', { messages: [user('x')] });
    expect(sent()['messages']).toEqual([system('Best.'), ...pairs(4, 5), user('x')]);
    await proxy.post(job, '', { messages: [{ role: 'developer', content: 'd' }, system('second'), user('x')] });
    expect(sent()['messages']).toEqual([
      { role: 'developer', content: 'Best.' },
      system('second'),
      ...pairs(4, 5),
      user('x'),
    ]);
  });

  test('are not inserted again if the container has inserted them', async () => {
    const job = await session();
    const own = { messages: [system('Best.'), ...pairs(5), asked] };
    await proxy.post(job, `/${await rollout(job, 0, 4)}`, own);
    expect(sent()['messages']).toEqual(own.messages);
    await proxy.post(job, '/c', own);
    expect(sent()['messages']).toEqual([system('Best.'), ...pairs(4, 5), ...pairs(5), asked]);
  });

  test('are in streamed calls, and a repeated rollout finds its answer', async () => {
    const job = await session();
    const id = await rollout(job, 0, 4);
    const body = { ...question, stream: true };
    const first = await (await proxy.post(job, `/${id}`, body)).text();
    expect(first).toContain('data: [DONE]');
    expect(sent()['messages']).toEqual([system('Best.'), ...pairs(5), asked]);
    await proxy.nextAttempt(job, id);
    expect(await (await proxy.post(job, `/${id}`, body)).text()).toContain('data: [DONE]');
    expect(proxy.model.requests).toHaveLength(1);
  });

  test('of a component are in the calls with it as the first marked component, in the prompt’s order', async () => {
    const prompt = [named('plan', 'PLAN'), named('act', 'ACT')];
    const job = await session(prompt, [demo(1, 'plan'), demo(2, 'act'), demo(3, 'plan')]);
    const messagesOf = async (...messages: unknown[]) => {
      await proxy.post(job, '/c', { messages });
      return sent()['messages'];
    };
    const x = user('x');
    expect(await messagesOf(system(`${lever('act', '')} ${lever('plan', '')}`), x)).toEqual([
      system('ACT PLAN'),
      ...pairs(1, 3),
      x,
    ]);
    expect(await messagesOf(system(lever('act', 'own')), x)).toEqual([system('ACT'), ...pairs(2), x]);
    expect(await messagesOf(system(lever('other', 'own')), x)).toEqual([system('own'), x]);
    expect(await messagesOf(system('unmarked'), x)).toEqual([system('unmarked'), x]);
    expect((await proxy.calls(job)).map(({ levers }) => levers)).toEqual([
      [{ name: 'plan' }, { name: 'act' }],
      [{ name: 'act' }],
      null,
      null,
    ]);
  });

  test('in live traffic omit those of the named instance, with a slot or with the best candidate', async () => {
    const job = await session(undefined, undefined, {
      spec: { rollouts: 'caller', container: null, rolloutTimeoutS: 60 },
    });
    const slot = { ordinal: 0, candidate: 1, seed: 4, stage: 'gate' as const, generation: 1 };
    await org((tx) => publishSlots(tx, job, [slot]));
    const call = async (id: string, seed?: number) => {
      await proxy.post(job, `/${id}`, question, seed === undefined ? {} : { 'x-ratchet-seed': String(seed) });
      return sent()['messages'];
    };
    const shown = (...seeds: number[]) => [system('Best.'), ...pairs(...seeds), asked];
    expect(await call('a', 4)).toEqual(shown(5));
    expect(await call('b', 5)).toEqual(shown(4));
    // A later turn need not name the instance again.
    expect(await call('a')).toEqual(shown(5));
    expect(await call('b')).toEqual(shown(4));
    expect(await call('c', 9)).toEqual(shown(4, 5));
    expect(await call('d')).toEqual(shown(4, 5));
    const claimed = await org((tx) =>
      tx.query('select seed, slot from rollouts where job_id = $1 and slot is not null', [job.jobId]),
    );
    expect(claimed).toEqual([{ seed: 4, slot: 0 }]);
  });
});

describe('a candidate with demonstrations', () => {
  const api = '/api/v1/online/sessions';
  const get = async (path: string) => (await proxy.http.call('GET', `${api}/${path}`)).body;

  test('is shown with them as prompt, as the best prompt and in its detail, whose segments cover only its texts', async () => {
    const job = await session();
    const rendered = [system('Best.'), ...pairs(4, 5)];
    expect((await get(`${job.jobId}/prompt`)).messages).toEqual(rendered);
    const id = await rollout(job, 0, 4);
    expect((await get(`${job.jobId}/prompt?correlation_id=${id}`)).messages).toEqual([system('Best.'), ...pairs(5)]);
    expect((await get(`${job.jobId}/results`)).best_prompt.messages).toEqual(rendered);
    const detail = await get(`${job.jobId}/candidates/${candidateId(job.jobId, 1)}`);
    expect(detail.messages).toEqual(rendered);
    expect(detail.segments.map(({ text }: { text: string }) => text)).toEqual(['Best.']);
    expect(detail.diff).toEqual([]);
    expect((await get(`${job.jobId}/prompt?correlation_id=x`)).messages).toEqual(rendered);
  });

  test('is evaluated with them', async () => {
    const job = await session();
    const { status, body } = await proxy.http.call('POST', '/api/v1/offline/jobs', {
      app_id: 'a',
      env_name: 'e',
      container_url: 'http://127.0.0.1:18114',
      seeds: [4],
      candidate: { session_id: job.jobId },
      policy: { model: 'gpt-4o-mini', provider: 'openai' },
    });
    expect(status).toBe(201);
    const evaluation = { orgId: 'default', jobId: body.job_id as string };
    await proxy.post(evaluation, '/c', question);
    expect(sent()['messages']).toEqual([system('Best.'), ...pairs(4, 5), asked]);
    await org((tx) =>
      planRollouts(tx, evaluation, [{ ordinal: 0, candidate: 0, seed: 4, stage: 'evaluation', generation: 0 }], false),
    );
    await proxy.post(evaluation, `/${rolloutId(evaluation.jobId, 0)}`, question);
    expect(sent()['messages']).toEqual([system('Best.'), ...pairs(5), asked]);
    // Readers of jobs by row do not get them.
    expect(JSON.stringify(await org((tx) => readJob(tx, evaluation.jobId)))).not.toContain('question 4');
  });
});
