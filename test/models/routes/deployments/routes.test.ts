import { beforeAll, describe, expect, test } from '@jest/globals';
import type { SnapshotContent } from '../../../../src/kinds/deployment/contract/snapshot.js';
import type { LlmStep } from '../../../../src/core/graphs/graph.js';
import { graphToJson } from '../../../../src/core/graphs/json.js';
import { setSnapshot } from '../../../../src/kinds/deployment/store/deployments.js';
import { putSnapshot } from '../../../../src/kinds/deployment/store/snapshots.js';
import type { ModelReply } from '../../../support/fakes/model.js';
import { gate } from '../../../support/gate.js';
import { deployments as base } from '../../../support/jobs-over-http.js';
import { until } from '../../../support/until.js';
import { deploymentsOfFile, question } from '../../../kinds/deployment/routes/support.js';

const it = deploymentsOfFile({ lingerMs: 5_000 });
let frozen: string;
beforeAll(async () => {
  frozen = await it.deploy('frozen', 'I am frozen.');
});

const last = () => it.model.requests.at(-1)!.body;
const statsOf = async (id: string) => (await it.http.call('GET', `${base}/${id}/stats`)).body;
const system = (content: string) => ({ role: 'system', content });
const user = (content: string) => ({ role: 'user', content });
/** Deploys given messages; returns the deployment's id. */
const deployed = async (name: string, messages: object[]) =>
  (await it.create({ name, source: { messages, policy: { provider: 'openai', model: 'gpt-4o-mini' } } })).body
    .id as string;
/** Deploys this exact content under a name; returns the deployment's id. */
async function deployedAs(name: string, content: SnapshotContent): Promise<string> {
  const id = await it.deploy(name);
  await it.http.db.org('default', async (tx) => setSnapshot(tx, id, await putSnapshot(tx, 'default', content)));
  return id;
}
const provenance = { source: 'session', job_id: 'ses_x', candidate_id: 'cand_x', reward: 1, verdict: null } as const;

/** Deploys a graph that plans and then writes; returns the deployment's id. */
function deployGraph(name: string): Promise<string> {
  const step = (id: string, input: string): LlmStep => ({
    id,
    type: 'llm',
    inputs: { given: input },
    output: { field: 'text' },
    messages: [{ role: 'user', content: `${id} {{given}}` }],
  });
  const steps = [step('plan', 'input.input'), step('write', 'plan.text')];
  return deployedAs(name, {
    kind: 'graph',
    graph: graphToJson({ inputs: ['input'], steps, output: 'write.text' }),
    graph_txt: '',
    policies: [{ provider: 'openai', model: 'gpt-4o-mini' }],
    lever_versions: {},
    provenance: { ...provenance, source: 'graph_job' },
  });
}
const usage = { prompt_tokens: 1_000, completion_tokens: 500, total_tokens: 1_500 };
/** Sets the answer to its last step. */
const inLastStep = (reply: ModelReply) =>
  it.model.reply(({ body }) => ({ usage, ...(body.messages[0]!.content.startsWith('write') && reply) }));

describe('a deployment answers', () => {
  test('with the frozen prompt, model and parameters; every other field passes through', async () => {
    const tools = [{ type: 'function', function: { name: 'look_up', parameters: { type: 'object', properties: {} } } }];
    const content = [
      { type: 'text', text: 'Hello' },
      { type: 'image_url', image_url: { url: 'data:,x' } },
    ];
    const body = {
      model: 'frozen',
      tools,
      tool_choice: 'auto',
      'x-unknown': { deep: [1, null] },
      messages: [system('What the caller says.'), { role: 'user', content }],
    };
    const answer = await it.ask('frozen', body);
    expect(answer.status).toBe(200);
    expect(last()).toEqual({
      model: 'gpt-4o-mini',
      temperature: 0,
      tools,
      tool_choice: 'auto',
      'x-unknown': { deep: [1, null] },
      messages: [system('I am frozen.'), { role: 'user', content }],
    });
    expect(it.model.requests.at(-1)!.headers.authorization).toBe('Bearer sk-secret');
    expect(answer.headers.get('x-ratchet-deployment-id')).toBe(frozen);
    expect(answer.headers.get('x-ratchet-snapshot-id')).toBe((await it.status(frozen)).body.snapshot_id);
    expect(Number(answer.headers.get('x-ratchet-cost-usd'))).toBeGreaterThan(0);
    await it.ask('frozen', { ...question, temperature: 1 });
    expect(last()).toMatchObject({ temperature: 1 });
  });

  test('by id, by name, and below /v1 for OpenAI’s own client', async () => {
    for (const ref of ['frozen', frozen]) {
      const completion = await it
        .openai(ref)
        .chat.completions.create({ model: 'any', ...(question as never as { messages: [] }) });
      expect(completion.choices[0]!.message.content).toContain('Where is my card?');
    }
  });

  test('in a stream, forwarded as it arrives, with usage only on request', async () => {
    const held = gate();
    it.model.reply(() => ({ text: 'one two three', hold: held.opened }));
    const answer = await it.ask('frozen', { ...question, stream: true });
    expect(answer.headers.get('content-type')).toContain('text/event-stream');
    const reader = answer.body!.getReader();
    const first = Buffer.from((await reader.read()).value!).toString();
    expect(first).toContain('"role":"assistant"');
    held.open();
    let rest = '';
    for (let part = await reader.read(); !part.done; part = await reader.read())
      rest += Buffer.from(part.value).toString();
    expect(rest).toContain('three');
    expect(rest).not.toContain('"usage":{');
    expect(rest.trimEnd().endsWith('data: [DONE]')).toBe(true);
    expect(last()).toMatchObject({ stream: true, stream_options: { include_usage: true } });

    const openai = it.openai('frozen');
    const asked = { model: 'm', stream: true as const, stream_options: { include_usage: true } };
    const chunks = [];
    for await (const chunk of await openai.chat.completions.create({
      ...asked,
      messages: [{ role: 'user', content: 'a' }],
    }))
      chunks.push(chunk);
    expect(chunks.at(-1)!.usage!.total_tokens).toBeGreaterThan(0);
  });

  test('with all messages of a multi-message prompt in the place of the first system message', async () => {
    await deployed('several', [system('Rules.'), user('2+2?'), { role: 'assistant', content: '4' }]);
    await it.ask('several', { messages: [system('mine'), user('3+3?')] });
    expect(last()['messages']).toEqual([
      system('Rules.'),
      user('2+2?'),
      { role: 'assistant', content: '4' },
      user('3+3?'),
    ]);
    await deployed('unruled', [user('2+2?'), { role: 'assistant', content: '4' }]);
    await it.ask('unruled', { messages: [system('mine'), user('3+3?')] });
    expect(last()['messages']).toEqual([
      user('2+2?'),
      { role: 'assistant', content: '4' },
      system('mine'),
      user('3+3?'),
    ]);
  });

  test('with its texts in the spans of the same names marked by the caller', async () => {
    await deployed('marked', [
      { ...system('Plan well.'), name: 'plan' },
      { ...system('Act well.'), name: 'act' },
    ]);
    const marked = (name: string) => `Before. <lever name="${name}">mine</lever> After.`;
    await it.ask('marked', { messages: [user(marked('act')), user(marked('other'))] });
    expect(last()['messages']).toEqual([user('Before. Act well. After.'), user('Before. mine After.')]);
  });

  test('with the demonstrations frozen with the prompt', async () => {
    await deployedAs('demos', {
      kind: 'messages',
      messages: [{ role: 'system', content: 'Sort it.' }],
      demos: [{ component: null, seed: 1, ordinal: 3, input: 'an apple', output: 'fruit' }],
      levers_marked: false,
      policy: { provider: 'openai', model: 'gpt-4o-mini' },
      lever_versions: {},
      provenance,
    });
    await it.ask('demos', { messages: [system('mine'), user('a nail')] });
    const shown = [user('an apple'), { role: 'assistant', content: 'fruit' }];
    expect(last()['messages']).toEqual([system('Sort it.'), ...shown, user('a nail')]);
  });
});

describe('a deployment refuses', () => {
  test.each([
    ['{', 400, 'invalid_json'],
    ['[]', 400, 'invalid_request'],
    ['{}', 400, 'invalid_request'],
    ['{"messages": []}', 400, 'invalid_request'],
    ['{"messages": [], "api_key": "sk"}', 400, 'invalid_request'],
    ['{"messages": [], "base_url": "http://x"}', 400, 'invalid_request'],
    ['{"messages": [{"role": "user", "content": "x"}], "model": []}', 400, 'invalid_request'],
    ['{"messages": [{"role": "user", "content": "x"}], "stream": {}}', 400, 'invalid_request'],
  ])('%s, in the form of OpenAI', async (body, status) => {
    const answer = await it.ask('frozen', body);
    expect(answer.status).toBe(status);
    expect(Object.keys((await answer.json()) as object)).toEqual(['error']);
    expect(it.model.requests).toHaveLength(0);
  });

  test('an unknown method and an unknown path, in the same form', async () => {
    for (const path of ['/frozen/chat/completions', '/frozen/v1/chat/completions?x=1']) {
      const { status, body } = await it.http.call('GET', `${base}${path}`);
      expect([status, Object.keys(body as object)]).toEqual([405, ['error']]);
    }
    expect((await it.http.call('GET', `${base}/frozen/v1/nothing`)).body).toHaveProperty('detail');
  });

  test('with its provider’s status and Retry-After, and with a bad gateway for a refused key or no connection', async () => {
    it.model.reply(() => ({ raw: '{"error":{"message":"slow down"}}', status: 429, headers: { 'retry-after': '7' } }));
    const busy = await it.ask('frozen', question);
    expect([busy.status, busy.headers.get('retry-after')]).toEqual([429, '7']);
    expect(busy.headers.get('x-ratchet-deployment-id')).toBe(frozen);
    for (const [status, code] of [
      [401, 'provider_refused_key'],
      [404, 'model_not_found'],
    ] as const) {
      it.model.reply(() => ({ raw: '{"error":{"message":"no","code":"other"}}', status }));
      const refused = await it.ask('frozen', question);
      expect([refused.status, refused.headers.get('x-should-retry')]).toEqual([502, 'false']);
      expect(await refused.json()).toMatchObject({ error: { code } });
    }
    it.model.reply(() => ({ cutAfter: 0 }));
    expect((await it.ask('frozen', question)).status).toBe(502);
    it.model.reply(() => ({ text: 'one two three four', cutAfter: 2 }));
    const broken = await (await it.ask('frozen', { ...question, stream: true })).text();
    expect(broken).toContain('"error"');
    expect(broken).not.toContain('[DONE]');
  });

  test.each<[string, ModelReply, number, string | null]>([
    ['the request', { raw: 'no such model', status: 404 }, 502, 'false'],
    ['our key', { raw: 'no', status: 401 }, 502, 'false'],
    ['requests temporarily', { raw: 'later', status: 503, headers: { 'retry-after': '99' } }, 503, null],
  ])(
    'for a graph whose last step’s provider refuses %s, and keeps OpenAI’s clients from repeating all steps in vain',
    async (_, reply, status, shouldRetry) => {
      const id = await deployGraph('refused');
      inLastStep(reply);
      for (const stream of [false, true]) {
        const answer = await it.ask(id, { ...question, stream });
        expect([answer.status, answer.headers.get('x-should-retry')]).toEqual([status, shouldRetry]);
      }
    },
  );
});

describe('the statistics of a deployment', () => {
  test('count its requests, errors, tokens and cost since it went live', async () => {
    const id = await it.deploy('counted');
    const { ready_at } = (await it.status(id)).body;
    expect(await statsOf(id)).toMatchObject({ requests: 0, errors: 0, since: ready_at });
    it.model.reply(() => ({ usage: { prompt_tokens: 1_000, completion_tokens: 500, total_tokens: 1_500 } }));
    for (const stream of [false, true, false]) await (await it.ask('counted', { ...question, stream })).text();
    it.model.reply(() => ({ raw: 'no', status: 500 }));
    await it.ask(id, question);
    const stats = await statsOf(id);
    expect(stats).toMatchObject({ deployment_id: id, requests: 4, errors: 1, aborted: 0 });
    expect(stats.usage).toMatchObject({ prompt_tokens: 3_000, completion_tokens: 1_500, total_tokens: 4_500 });
    // gpt-4o-mini: 0.15 and 0.60 dollars a million.
    expect(stats.usage.total_cost_usd).toBeCloseTo((3_000 * 0.15 + 1_500 * 0.6) / 1e6, 9);
    expect(stats.latency_ms.p50).toBeGreaterThan(0);
    expect(stats.latency_ms.p99).toBeGreaterThanOrEqual(stats.latency_ms.p50);
  });

  test('of a graph include all its steps even if the last stream breaks, as far as usage is known', async () => {
    const id = await deployGraph('broken');
    const breaks = async (reply: ModelReply) => {
      inLastStep(reply);
      const said = await (await it.ask(id, { ...question, stream: true })).text();
      expect(said).toContain('one');
      expect(said).toContain('"error"');
      expect(said).not.toMatch(/\[DONE\]|"usage"/);
      const { requests, errors, usage } = await statsOf(id);
      return { requests, errors, ...usage };
    };
    const counted = { prompt_tokens: 2_000, completion_tokens: 1_000, total_tokens: 3_000 };
    const tooLong = await breaks({ text: `one ${'x'.repeat(500_000)}` });
    expect(tooLong).toMatchObject({ requests: 1, errors: 1, ...counted, requests_without_cost: 0 });
    expect(tooLong.total_cost_usd).toBeCloseTo((2_000 * 0.15 + 1_000 * 0.6) / 1e6, 9);
    // The usage of a call with a broken connection is unknown.
    const cut = await breaks({ text: 'one two', cutAfter: 2 });
    expect(cut).toMatchObject({ requests: 2, errors: 2, ...counted, requests_without_cost: 1 });
    expect(cut.total_cost_usd).toBe(tooLong.total_cost_usd);
  });

  test('count disconnected callers and the cost of their answers', async () => {
    const id = await it.deploy('left');
    const held = gate();
    it.model.reply(() => ({ text: 'one two', hold: held.opened, usage: { prompt_tokens: 10, completion_tokens: 2 } }));
    const leaving = new AbortController();
    const asked = await fetch(`${it.url}${base}/${id}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${it.http.key}` },
      body: JSON.stringify({ ...question, stream: true }),
      signal: leaving.signal,
    });
    await asked.body!.getReader().read();
    leaving.abort();
    const before = it.model.finished();
    held.open();
    await until('the answer is read on', () => it.model.finished() > before);
    const stats = await until('it is counted', async () => {
      const seen = await statsOf(id);
      return seen.requests === 1 && seen;
    });
    expect(stats).toMatchObject({ aborted: 1, errors: 0, usage: { prompt_tokens: 10, completion_tokens: 2 } });
  });
});
