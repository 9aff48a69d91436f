import { describe, expect, test } from '@jest/globals';
import { adoptCalledPrompt } from '../../../activities/jobs/adopt-baseline.js';
import type { Message } from '../../../src/core/prompts/message.js';
import { requestHash } from '../../../src/rollouts/store/request-hash.js';
import { readPrompts } from '../../../src/candidates/store/candidates.js';
import type { JobRef } from '../../../src/jobs/store/events.js';
import { policy, proxyOfFile, question, system, systemOf } from './support.js';

const proxy = proxyOfFile();
const last = () => proxy.model.requests.at(-1)!;
const lever = (name: string, text: string) => `<lever name="${name}">${text}</lever>`;
const user = (content: unknown) => ({ role: 'user', content });
const named = (name: string, content: string, role: Message['role'] = 'system'): Message => ({ role, content, name });

/** The body that the model receives in a call to a session with this baseline. */
async function sent(baseline: Message[] | null, body: Record<string, unknown>) {
  const job = await proxy.newSession({ baseline });
  expect((await proxy.post(job, '/c', body)).status).toBe(200);
  return last().body as Record<string, unknown>;
}
const messages = async (baseline: Message[] | null, ...given: unknown[]) =>
  (await sent(baseline, { messages: given }))['messages'];

describe('marked spans', () => {
  const both = [named('plan', 'PLAN'), named('act', 'ACT', 'user')];

  test('are filled in every message, in text parts and in descriptions of tools; the rest is unchanged', async () => {
    const image = { type: 'image_url', image_url: { url: 'data:,', detail: lever('plan', 'not text') } };
    const tool = (description: unknown) => ({ type: 'function', function: { name: 'f', description, parameters: {} } });
    const body = await sent(both, {
      messages: [
        system(`You plan. ${lever('plan', 'old')} Carefully.`),
        { role: 'assistant', content: null, tool_calls: [] },
        { role: 'tool', content: lever('act', 'old'), tool_call_id: 'x' },
        user([{ type: 'text', text: `1 ${lever('act', 'old')}` }, image, { type: 'text', text: '2' }]),
        user(lever('plan', 'again')),
      ],
      tools: [tool(`Call ${lever('act', 'old')}.`), tool(undefined), { type: 'custom' }, null],
      metadata: { kept: lever('plan', 'as it is') },
    });
    expect(body).toEqual({
      model: policy.model,
      ...policy.params,
      messages: [
        system('You plan. PLAN Carefully.'),
        { role: 'assistant', content: null, tool_calls: [] },
        { role: 'tool', content: 'ACT', tool_call_id: 'x' },
        user([{ type: 'text', text: '1 ACT' }, image, { type: 'text', text: '2' }]),
        user('PLAN'),
      ],
      tools: [tool('Call ACT.'), JSON.parse(JSON.stringify(tool(undefined))), { type: 'custom' }, null],
      metadata: { kept: lever('plan', 'as it is') },
    });
  });

  test('keep their own text if the candidate does not have their name', async () => {
    expect(await messages(both, user(`${lever('plan', 'p')} ${lever('constructor', 'own')}`))).toEqual([
      user('PLAN own'),
    ]);
  });

  test('are removed without a candidate, too, and recorded: with texts for the baseline, else with names', async () => {
    const given = { messages: [user(`${lever('plan', 'p')} ${lever('act', 'a')}`)] };
    const asIs = await proxy.newEvaluation(null);
    await proxy.post(asIs, `/${await proxy.newRollout(asIs, 0, null)}`, given);
    expect(last().body.messages).toEqual([user('p a')]);
    const unknown = await proxy.newSession({ baseline: null });
    const known = await proxy.newSession({ baseline: both });
    for (const job of [unknown, known]) await proxy.post(job, '/c', given);
    const levers = async (job: JobRef) => (await proxy.calls(job)).map((call) => call.levers);
    expect(await levers(unknown)).toEqual([
      [
        { name: 'plan', text: 'p' },
        { name: 'act', text: 'a' },
      ],
    ]);
    expect([await levers(known), await levers(asIs)]).toEqual([[[{ name: 'plan' }, { name: 'act' }]], [null]]);
    expect((await proxy.calls(known))[0]!.request).toMatchObject({ messages: [user('PLAN ACT')] });
  });

  test('are filled in the policy’s own tools too', async () => {
    const params = { tools: [{ type: 'function', function: { name: 'f', description: lever('act', 'own') } }] };
    const job = await proxy.newSession({ baseline: both, spec: { policy: { ...policy, params } } });
    await proxy.post(job, '/c');
    expect(last().body).toMatchObject({ tools: [{ function: { description: 'ACT' } }] });
  });

  test('a text with marks of its own is not scanned again', async () => {
    const hostile = `${lever('act', 'x')}</lever><lever name="act">`;
    const texts = [named('plan', hostile), named('act', 'ACT')];
    expect(await messages(texts, user(`${lever('plan', '')}|${lever('act', '')}`))).toEqual([user(`${hostile}|ACT`)]);
  });
});

describe('the system message', () => {
  test('is replaced by a single system component without a span', async () => {
    const one = [system('ONE')];
    expect(await messages(one, system('old'), user(lever('other', 'own')))).toEqual([system('ONE'), user('own')]);
    expect(await messages(one, system('old'), user(lever('system', 'own')))).toEqual([system('old'), user('ONE')]);
    expect(await messages([named('plan', 'ONE')], system('old'))).toEqual([system('ONE')]);
    expect(await messages([named('plan', 'ONE'), named('act', 'ACT', 'user')], user('x'))).toEqual([
      system('ONE'),
      user('x'),
    ]);
  });

  test('stays with several system components or none outside spans', async () => {
    const several = [named('plan', 'PLAN'), named('act', 'ACT')];
    expect(await messages(several, system('old'))).toEqual([system('old')]);
    expect(await messages(several, system('old'), user(lever('act', 'own')))).toEqual([system('old'), user('ACT')]);
    expect(await messages([named('act', 'ACT', 'user')], system('old'))).toEqual([system('old')]);
  });

  test('the components of an evaluation’s candidate fill their spans', async () => {
    const job = await proxy.newEvaluation([named('plan', 'PLAN'), named('act', 'ACT')]);
    await proxy.post(job, `/${await proxy.newRollout(job, 0, null)}`, { messages: [user(lever('act', 'a'))] });
    expect(last().body.messages).toEqual([user('ACT')]);
  });
});

describe('replay', () => {
  test('hashes a request without marks by provider and body', async () => {
    const job = await proxy.newSession();
    await proxy.post(job, `/${await proxy.newRollout(job, 0, 0)}`);
    const [call] = await proxy.http.db.org('default', (tx) =>
      tx.query<{ hash: Buffer }>('select request_hash as hash from model_calls where job_id = $1', [job.jobId]),
    );
    const body = {
      temperature: 0.5,
      model: 'gpt-4o-mini',
      messages: [system('Baseline prompt.'), ...question.messages.slice(1)],
    };
    expect(call!.hash.equals(requestHash('openai', body))).toBe(true);
  });

  test('returns its recorded answer to a request with marks', async () => {
    const job = await proxy.newSession({ baseline: [named('plan', 'PLAN')] });
    const rollout = await proxy.newRollout(job, 0, 0);
    const body = { messages: [user(lever('plan', 'own'))] };
    await proxy.post(job, `/${rollout}`, body);
    await proxy.nextAttempt(job, rollout);
    expect((await proxy.post(job, `/${rollout}`, body)).status).toBe(200);
    expect(proxy.model.requests).toHaveLength(1);
  });
});

describe('a baseline from calls', () => {
  /** The baseline of rollouts with these calls, each a list of texts. */
  async function adopted(...rollouts: string[][]) {
    const job = await proxy.newSession({ baseline: null });
    for (const [ordinal, calls] of rollouts.entries()) {
      const rollout = await proxy.newRollout(job, ordinal, 0, 'baseline');
      for (const text of calls) await proxy.post(job, `/${rollout}`, { messages: [system('own'), user(text)] });
    }
    const adopt = proxy.http.db.org('default', (tx) => adoptCalledPrompt(tx, job));
    return { job, adopt };
  }
  const baseline = async (job: JobRef) =>
    (await proxy.http.db.org('default', (tx) => readPrompts(tx, job.jobId))).get(0);

  test('has the spans of its calls, in the order of the first rollout', async () => {
    const [plan, act, hint] = [lever('plan', 'Plan.'), lever('act', 'Act.'), lever('hint', '')];
    const { job, adopt } = await adopted([`${plan} ${plan}`, act], [act, hint, 'none'], ['none']);
    await adopt;
    const components = [named('plan', 'Plan.'), named('act', 'Act.'), named('hint', '')];
    expect(await baseline(job)).toEqual(components);
    const { body } = await proxy.http.call('GET', `/api/v1/online/sessions/${job.jobId}/prompt`);
    expect(body.messages).toEqual(components);
  });

  test('keeps unmarked text, in evaluations too', async () => {
    const { job, adopt } = await adopted([lever('plan', 'Plan.')]);
    await adopt;
    await proxy.addCandidate(job, 1, [named('plan', 'Better.')]);
    await proxy.post(job, `/${await proxy.newRollout(job, 5, 1)}`, {
      messages: [system('of another step'), user(lever('plan', 'Plan.'))],
    });
    expect(last().body.messages).toEqual([system('of another step'), user('Better.')]);
    await proxy.post(job, `/${await proxy.newRollout(job, 6, 1)}`, { messages: [system('of another step')] });
    expect(last().body.messages).toEqual([system('of another step')]);

    const candidate = { session_id: job.jobId, candidate_id: `cand_${job.jobId.slice(4)}_1` };
    const { body } = await proxy.http.call('POST', '/api/v1/offline/jobs', {
      app_id: 'a',
      env_name: 'e',
      container_url: 'http://127.0.0.1:18114',
      seeds: [0],
      candidate,
      policy: { model: 'gpt-4o-mini', provider: 'openai' },
    });
    await proxy.post({ orgId: 'default', jobId: body.job_id }, '/c', { messages: [system('of another step')] });
    expect(last().body.messages).toEqual([system('of another step')]);
  });

  test.each<[string, ...string[][]]>([
    ['in one call', [`${lever('plan', 'a')}${lever('plan', 'b')}`]],
    ['from rollout to rollout', [lever('plan', 'a')], [lever('plan', 'b')]],
  ])('is none if the text of a name differs %s', async (_, ...rollouts) => {
    const { job, adopt } = await adopted(...rollouts);
    await expect(adopt).rejects.toMatchObject({
      type: 'initial_prompt_needed',
      details: [{ message: expect.stringMatching(/lever "plan" differs.*initial_prompt/) as unknown }],
    });
    expect(await baseline(job)).toBeNull();
  });

  test('is rejected with more than twenty spans', async () => {
    const many = Array.from({ length: 21 }, (_, n) => lever(`a${n}`, 'x')).join('');
    await expect((await adopted([many])).adopt).rejects.toMatchObject({ type: 'initial_prompt_needed' });
  });

  test('is the system message of calls without marks', async () => {
    const { job, adopt } = await adopted(['hi'], ['hi']);
    await adopt;
    expect(await baseline(job)).toEqual([system('own')]);
    await proxy.post(job, '/c', question);
    expect(systemOf(last())).toBe('own');
  });
});
