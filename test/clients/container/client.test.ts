import { createServer } from 'node:net';
import { afterAll, afterEach, beforeEach, describe, expect, test, jest } from '@jest/globals';
import {
  ContainerError,
  createContainerClient,
  rolloutWindowMs,
  type ContainerClient,
  type RolloutRequest,
} from '../../../src/clients/container/client.js';
import { answers, startFakeContainer, type Behaviour, type FakeContainer } from '../../support/fakes/container.js';
import { until } from '../../support/until.js';

const signal = new AbortController().signal;
const client = createContainerClient({ egress: { mode: 'dev', allowlist: [] }, retryBaseMs: 5 });
let container: FakeContainer;

beforeEach(async () => {
  container = await startFakeContainer();
});
afterEach(() => container.close());
afterAll(() => client.close());

function ask(changes: Partial<RolloutRequest> = {}): RolloutRequest {
  return {
    url: container.url,
    apiKey: 'container-key',
    rolloutId: 'rol_0190_7',
    seed: 7,
    envName: 'train',
    envConfig: { split: 'a' },
    policy: { provider: 'openai', model: 'gpt-4o-mini', params: { temperature: 0, custom: [1] } },
    inferenceUrl: 'http://127.0.0.1:1/api/gepa/v1/ses_1/rol_0190_7',
    inferenceApiKey: 'rip_x.y',
    messages: [{ role: 'system', content: 'Be kind.' }],
    tryTimeoutMs: 5_000,
    deadline: performance.now() + 20_000,
    ...changes,
  };
}
const rollout = (behaviour: Behaviour, changes: Partial<RolloutRequest> = {}, by: ContainerClient = client) => {
  container.behave(() => behaviour);
  return by.rollout(ask(changes), signal);
};
const failed = (code: string, more: Record<string, unknown> = {}) =>
  expect.objectContaining({ kind: 'failed', code, infrastructure: false, connect: false, ...more });

describe('request', () => {
  test('sends the headers and body of the container contract', async () => {
    await rollout(answers.reward(0.5));
    const { headers, body } = container.ledger[0]!;
    expect(headers).toMatchObject({
      'x-api-key': 'container-key',
      'idempotency-key': 'rol_0190_7',
      'content-type': 'application/json',
      'accept-encoding': 'identity',
      traceparent: expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/) as unknown,
    });
    expect(body).toEqual({
      trace_correlation_id: 'rol_0190_7',
      rollout_id: 'rol_0190_7',
      env: { env_name: 'train', seed: 7, config: { split: 'a' } },
      policy: {
        policy_name: 'gpt-4o-mini',
        config: {
          model: 'gpt-4o-mini',
          provider: 'openai',
          temperature: 0,
          custom: [1],
          inference_url: 'http://127.0.0.1:1/api/gepa/v1/ses_1/rol_0190_7',
          inference_api_key: 'rip_x.y',
          prompt_template: { sections: [{ role: 'system', content: 'Be kind.', order: 0 }] },
        },
      },
      safety: { max_time_s: 5 },
    });
  });

  test('names a section whose message has a name', async () => {
    const messages = [
      { role: 'user' as const, content: 'Act.', name: 'act' },
      { role: 'system' as const, content: 'Be kind.' },
    ];
    await rollout(answers.reward(0.5), { messages });
    expect(container.ledger[0]!.body.policy.config.prompt_template?.sections).toEqual([
      { role: 'user', content: 'Act.', order: 0, name: 'act' },
      { role: 'system', content: 'Be kind.', order: 1 },
    ]);
  });

  test('omits absent key and candidate, and repeats the same request in every try', async () => {
    await rollout(answers.status(500), { apiKey: null, messages: null });
    const [first, second, third] = container.ledger;
    expect(first!.headers).not.toHaveProperty('x-api-key');
    expect(first!.body.policy.config).not.toHaveProperty('prompt_template');
    for (const other of [second, third]) {
      expect(other!.body).toEqual(first!.body);
      expect(other!.headers['traceparent']).toBe(first!.headers['traceparent']);
      expect(other!.headers['idempotency-key']).toBe(first!.headers['idempotency-key']);
    }
  });

  test('does not let a policy field replace the service’s fields', async () => {
    const params = { model: 'other', inference_url: 'http://evil', provider: 'other' };
    await rollout(answers.reward(1), { policy: { provider: 'openai', model: 'gpt', params } });
    expect(container.ledger[0]!.body.policy.config).toMatchObject({
      model: 'gpt',
      provider: 'openai',
      inference_url: expect.stringContaining('/api/gepa/v1/') as unknown,
    });
  });

  test('accepts a base URL with a path or a trailing slash', async () => {
    await rollout(answers.reward(1), { url: `${container.url}/` });
    expect(container.ledger).toHaveLength(1);
  });
});

describe('reward parsing', () => {
  const rows: [string, unknown, unknown][] = [
    ['reward_info first', { reward_info: { outcome_reward: 0.25 }, metrics: { outcome_reward: 1 }, reward: 2 }, 0.25],
    ['then metrics', { metrics: { outcome_reward: 0.5 }, reward: 2 }, 0.5],
    ['then reward', { reward: -1.5 }, -1.5],
    ['counting zero', { reward_info: { outcome_reward: 0 }, reward: 1 }, 0],
  ];
  test.each(rows)('%s', async (_name, body, reward) => {
    expect(await rollout(answers.json(() => body))).toMatchObject({ kind: 'reward', reward });
  });

  const bad: [string, Behaviour, string][] = [
    ['NaN, invalid in JSON', answers.raw('{"reward": NaN}'), 'container_answer_invalid'],
    ['Infinity, invalid in JSON', answers.raw('{"reward": Infinity}'), 'container_answer_invalid'],
    ['1e400', answers.raw('{"reward_info": {"outcome_reward": 1e400}}'), 'reward_invalid'],
    ['-1e400', answers.raw('{"reward": -1e400}'), 'reward_invalid'],
    ['a string', answers.raw('{"reward": "1"}'), 'reward_invalid'],
    ['null', answers.raw('{"reward_info": {"outcome_reward": null}, "reward": 1}'), 'reward_invalid'],
    ['true', answers.raw('{"reward": true}'), 'reward_invalid'],
    ['a list', answers.raw('{"reward": [1]}'), 'reward_invalid'],
    ['missing', answers.raw('{"reward_info": {}}'), 'reward_missing'],
    ['on a prototype', answers.raw('{"__proto__": {"reward": 1}}'), 'reward_missing'],
  ];
  test.each(bad)('%s fails the rollout without a retry', async (_name, behaviour, code) => {
    expect(await rollout(behaviour)).toEqual(failed(code));
    expect(container.ledger).toHaveLength(1);
  });

  test('accepts a pending reward by status code or by field', async () => {
    expect(await rollout(answers.pending202())).toEqual({ kind: 'pending' });
    expect(await rollout(answers.pendingStatus())).toEqual({ kind: 'pending' });
  });

  const feedback: [string, Record<string, unknown>, string | null][] = [
    ['details.feedback', { reward_info: { outcome_reward: 1, details: { feedback: 'a' } }, feedback: 'b' }, 'a'],
    ['feedback', { reward: 1, feedback: 'b', summary: { feedback: 'c' } }, 'b'],
    ['summary.feedback', { reward: 1, summary: { feedback: 'c' } }, 'c'],
    ['the details', { reward_info: { outcome_reward: 1, details: { expected: 'x' } } }, '{"expected":"x"}'],
    ['none', { reward: 1 }, null],
    ['not a text', { reward: 1, feedback: { why: ['x'] } }, '{"why":["x"]}'],
  ];
  test.each(feedback)('reads feedback: %s', async (_name, body, expected) => {
    expect(await rollout(answers.json(() => body))).toMatchObject({ kind: 'reward', feedback: expected });
  });

  test('bounds feedback and details in size and depth', async () => {
    const deep = '['.repeat(5_000) + ']'.repeat(5_000);
    const long = await rollout(answers.raw(`{"reward":1,"feedback":"${'é'.repeat(100_000)}"}`));
    const nested = await rollout(answers.raw(`{"reward_info":{"outcome_reward":1,"details":{"x":${deep}}}}`));
    const large = await rollout(
      answers.raw(`{"reward_info":{"outcome_reward":1,"details":{"x":"${'x'.repeat(300_000)}"}}}`),
    );
    if (long.kind !== 'reward' || nested.kind !== 'reward' || large.kind !== 'reward') throw new Error('no reward');
    expect(Buffer.byteLength(long.feedback!)).toBeLessThanOrEqual(16 * 1024);
    expect(long.feedback).toMatch(/^é+…$/);
    expect(JSON.stringify(nested.details).length).toBeLessThan(1_000);
    expect(JSON.stringify(large.details).length).toBeLessThan(1_000);
  });
});

describe('failures', () => {
  const threeTries: [string, Behaviour, unknown][] = [
    [
      '500',
      answers.status(500, 'boom'),
      failed('container_error', { message: expect.stringContaining('500 with: boom') as unknown }),
    ],
    ['502', answers.status(502), failed('container_error', { infrastructure: true })],
    ['504', answers.status(504), failed('container_error', { infrastructure: true })],
    ['a reset', answers.reset(), failed('container_connection_lost', { infrastructure: true })],
    ['a connection cut in the body', answers.cut(), failed('container_connection_lost', { infrastructure: true })],
  ];
  test.each(threeTries)('%s: fails after three tries of the same rollout', async (_name, behaviour, outcome) => {
    expect(await rollout(behaviour)).toEqual(outcome);
    expect(container.ledger.map((entry) => [entry.rolloutId, entry.attempt])).toEqual([
      ['rol_0190_7', 1],
      ['rol_0190_7', 2],
      ['rol_0190_7', 3],
    ]);
  });

  test.each([500, 502, 504])('%d twice, then a reward: counts the reward', async (status) => {
    const outcome = await rollout(answers.inTurn(answers.status(status), answers.status(status), answers.reward(0.75)));
    expect(outcome).toMatchObject({ kind: 'reward', reward: 0.75 });
    expect(container.ledger).toHaveLength(3);
  });

  test.each([
    ['a hang', answers.hang()],
    ['one byte at a time', answers.drip(20)],
  ])('%s: limits each of three tries as a whole', async (_name, behaviour) => {
    expect(await rollout(behaviour, { tryTimeoutMs: 150 })).toEqual(failed('container_timeout'));
    expect(container.ledger).toHaveLength(3);
  });

  test('ends a hanging try at a near deadline', async () => {
    const deadline = performance.now() + 200;
    expect(await rollout(answers.hang(), { tryTimeoutMs: 60_000, deadline })).toEqual(failed('container_timeout'));
    expect(container.ledger).toHaveLength(1);
  });

  test('fails after three refused connections and reports the refusal', async () => {
    const probe = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => probe.once('listening', resolve));
    const { port } = probe.address() as { port: number };
    await new Promise((resolve) => probe.close(resolve));
    const outcome = await client.rollout(ask({ url: `http://127.0.0.1:${port}` }), signal);
    expect(outcome).toEqual(failed('container_unreachable', { infrastructure: true, connect: true }));
  });

  test('reports a name that does not resolve', async () => {
    const outcome = await client.rollout(ask({ url: 'http://no-such-host.invalid' }), signal);
    expect(outcome).toEqual(failed('container_unreachable', { infrastructure: true, connect: true }));
  });

  test('reports a forbidden address', async () => {
    const strict = createContainerClient({ egress: { mode: 'public', allowlist: [] }, retryBaseMs: 5 });
    const outcome = await strict.rollout(ask(), signal);
    expect(outcome).toEqual(failed('egress_refused', { connect: true }));
    expect(container.ledger).toEqual([]);
    await strict.close();
  });

  test.each([429, 503])(
    '%d: waits for Retry-After in seconds, more than three times, and reports the wait to the runner',
    async (status) => {
      let pushbacks = 0;
      const busy = answers.busySeconds('0.05', status);
      const outcome = await rollout(answers.inTurn(busy, busy, busy, busy, answers.reward(1)), {
        onPushback: () => pushbacks++,
      });
      expect(outcome).toMatchObject({ kind: 'reward', reward: 1 });
      expect({ pushbacks, calls: container.ledger.length }).toEqual({ pushbacks: 4, calls: 5 });
      for (const [i, entry] of container.ledger.slice(1).entries()) {
        expect(entry.in - container.ledger[i]!.in).toBeGreaterThanOrEqual(50);
      }
    },
  );

  test('429 with a date: waits until the date', async () => {
    let until = new Date();
    const busy = answers.busyUntil(() => (until = new Date(Date.now() + 2_000)));
    await rollout(answers.inTurn(busy, answers.reward(1)));
    // An HTTP date has whole seconds.
    expect(container.ledger[1]!.in).toBeGreaterThanOrEqual(Math.floor(until.getTime() / 1000) * 1000);
  });

  test('429 without a valid Retry-After: doubles the wait', async () => {
    const outcome = await rollout(answers.inTurn(answers.status(429), answers.busySeconds('soon'), answers.reward(1)));
    expect(outcome).toMatchObject({ kind: 'reward' });
  });

  test('repeated 429: fails at the deadline', async () => {
    const endsAt = Date.now() + 400;
    const outcome = await rollout(answers.busySeconds('0.1'), { deadline: performance.now() + 400 });
    expect(outcome).toEqual(failed('container_busy', { infrastructure: true }));
    expect(container.ledger.length).toBeGreaterThan(1);
    expect(container.ledger.at(-1)!.in).toBeLessThanOrEqual(endsAt);
  });

  test('a clock that is set forward or back does not move the deadline', async () => {
    const clock = Date.now;
    const set = (ms: number) => jest.spyOn(Date, 'now').mockImplementation(() => clock() + ms);
    try {
      const later: Behaviour = (...args) => (set(3_600_000), answers.status(500)(...args));
      expect(await rollout(answers.inTurn(later, answers.reward(1)))).toMatchObject({ kind: 'reward' });
      const earlier: Behaviour = (...args) => (set(-3_600_000), answers.busySeconds('0.1')(...args));
      const outcome = await rollout(earlier, { deadline: performance.now() + 150 });
      expect(outcome).toEqual(failed('container_busy', { infrastructure: true }));
    } finally {
      jest.restoreAllMocks();
    }
  });

  test('does not wait for a Retry-After beyond the deadline', async () => {
    expect(await rollout(answers.busySeconds(3_600))).toEqual(failed('container_busy', { infrastructure: true }));
    expect(container.ledger).toHaveLength(1);
  });

  test('Retry-After: 0 does not cause a busy loop', async () => {
    const slow = createContainerClient({ egress: { mode: 'dev', allowlist: [] }, retryBaseMs: 100 });
    await rollout(answers.busySeconds(0), { deadline: performance.now() + 350 }, slow);
    expect(container.ledger.length).toBeLessThanOrEqual(4);
    await slow.close();
  });

  const once: [string, Behaviour, unknown][] = [
    ['404', answers.status(404, 'no'), failed('container_rejected')],
    ['422', answers.status(422, 'no'), failed('container_rejected')],
    ['another 400', answers.status(400, 'bad seed'), failed('container_rejected')],
    ['501', answers.status(501), failed('container_rejected')],
    ['a redirect', answers.redirect('http://127.0.0.1:1/rollout'), failed('container_redirected')],
    ['incomplete JSON', answers.halfJson(), failed('container_answer_invalid')],
    ['an empty body', answers.status(200), failed('container_answer_invalid')],
    ['204', answers.noContent(), failed('container_answer_invalid')],
    ['a list', answers.raw('[1]'), failed('container_answer_invalid')],
    ['unrequested gzip', answers.gzip(), failed('container_answer_invalid')],
    ['an endless body', answers.huge(1024 ** 3), failed('container_answer_too_large')],
    ['an answer other than HTTP', answers.garbage(), failed('container_answer_invalid')],
    ["another seed's answer", answers.wrongSeed(), failed('container_answer_invalid')],
    ["another rollout's answer", answers.wrongRollout(), failed('container_answer_invalid')],
    [
      'success_status error',
      answers.failedStatus('model broke'),
      failed('rollout_failed', { message: expect.stringContaining('model broke') as unknown }),
    ],
  ];
  test.each(['success', 'succeeded', 'completed', 'ok', 'OK', ' Succeeded '])('success_status %j', async (status) => {
    expect(await rollout(answers.json(() => ({ success_status: status, reward: 0.5 })))).toMatchObject({
      kind: 'reward',
      reward: 0.5,
    });
  });

  test.each(['', 'partial', 'not ok', 'incomplete', true, 1, {}])('success_status %j fails', async (status) => {
    expect(await rollout(answers.json(() => ({ success_status: status, reward: 1 })))).toEqual(
      failed('rollout_failed'),
    );
  });

  test.each(once)('%s: fails without a retry', async (_name, behaviour, outcome) => {
    expect(await rollout(behaviour)).toEqual(outcome);
    expect(container.ledger).toHaveLength(1);
  });

  test('does not follow a redirect', async () => {
    const elsewhere = await startFakeContainer();
    await rollout(answers.redirect(`${elsewhere.url}/rollout`));
    expect(elsewhere.ledger).toEqual([]);
    await elsewhere.close();
  });

  test.each([401, 403, 400] as const)('%d: reports the refused key without a retry', async (status) => {
    expect(await rollout(answers.refuseKey(status))).toMatchObject({ kind: 'refused_key' });
    expect(container.ledger).toHaveLength(1);
  });

  test('truncates the container’s text in errors', async () => {
    const outcome = await rollout(answers.status(422, 'x'.repeat(100_000)));
    if (outcome.kind !== 'failed') throw new Error('not failed');
    expect(Buffer.byteLength(outcome.message)).toBeLessThan(2_200);
  });

  test('rejects with the abort reason during a try and during a wait', async () => {
    for (const behaviour of [answers.hang(), answers.busySeconds(10)]) {
      container.behave(() => behaviour);
      const abort = new AbortController();
      const before = container.ledger.length;
      const work = client.rollout(ask(), abort.signal);
      await until('the try has come', () => container.ledger.length > before);
      abort.abort(new Error('cancelled by the user'));
      await expect(work).rejects.toThrow('cancelled by the user');
    }
  });

  test('gives a rollout a time window of three full tries', () => {
    expect(rolloutWindowMs(120_000)).toBe(361_500);
  });
});

describe('health and task_info', () => {
  const of = async (options: Parameters<typeof startFakeContainer>[0]) => {
    await container.close();
    container = await startFakeContainer(options);
    return container.url;
  };
  const code = async (work: Promise<unknown>) => {
    const error = await work.then(
      () => null,
      (e: unknown) => e,
    );
    expect(error).toBeInstanceOf(ContainerError);
    return (error as ContainerError).code;
  };

  test('reports a healthy container', async () => {
    const url = await of({ apiKey: 'k' });
    await client.health(url, 'k', signal);
    expect(container.probes[0]).toMatchObject({ path: '/health', headers: { 'x-api-key': 'k' } });
  });

  test('distinguishes faults', async () => {
    expect(await code(client.health(await of({ apiKey: 'k' }), 'wrong', signal))).toBe('container_refused_key');
    expect(await code(client.health(await of({ health: answers.refuseKey(400) }), null, signal))).toBe(
      'container_refused_key',
    );
    expect(await code(client.health(await of({ health: answers.status(404) }), null, signal))).toBe(
      'container_rejected',
    );
    const base = await of({});
    const misplaced = client.health(`${base}/rollout`, null, signal);
    await expect(misplaced).rejects.toMatchObject({
      code: 'container_rejected',
      message: expect.stringContaining(`container_url to ${base}.`),
    });
    expect(await code(client.health(await of({ health: answers.redirect('/') }), null, signal))).toBe(
      'container_redirected',
    );
    expect(await code(client.health(await of({ health: answers.status(500) }), null, signal))).toBe('container_error');
    expect(container.probes).toHaveLength(3);
    expect(await code(client.health('http://127.0.0.1:1', null, signal))).toBe('container_unreachable');
  });

  test('limits a hanging request', async () => {
    const quick = createContainerClient({
      egress: { mode: 'dev', allowlist: [] },
      retryBaseMs: 5,
      probeTimeoutMs: 100,
    });
    expect(await code(quick.health(await of({ health: answers.hang() }), null, signal))).toBe('container_timeout');
    await quick.close();
  });

  test('reads the prompt of task_info', async () => {
    const prompt = [{ role: 'system', content: 'Classify.' }];
    expect(await client.taskInfo(await of({ prompt }), null, signal)).toEqual({ initialPrompt: prompt });
    const named = [{ role: 'user', content: 'Act.', name: 'act' }, ...prompt];
    expect(await client.taskInfo(await of({ prompt: named }), null, signal)).toEqual({ initialPrompt: named });
    expect(await client.taskInfo(await of({}), null, signal)).toEqual({ initialPrompt: null });
    const without = answers.json(() => ({ task: { name: 'x' } }));
    expect(await client.taskInfo(await of({ taskInfo: without }), null, signal)).toEqual({ initialPrompt: null });
  });

  test.each([
    ['incomplete JSON', answers.halfJson()],
    [
      'a prompt of the wrong shape',
      answers.json(() => ({ initial_prompt: { messages: [{ role: 'system', content: 1 }] } })),
    ],
    ['a prompt without messages', answers.json(() => ({ initial_prompt: { messages: [] } }))],
    ['a text as prompt', answers.json(() => ({ initial_prompt: 'Classify.' }))],
  ])('refuses %s', async (_name, taskInfo) => {
    expect(await code(client.taskInfo(await of({ taskInfo }), null, signal))).toBe('container_answer_invalid');
  });

  const named = (...names: unknown[]) => names.map((name) => ({ role: 'system', content: 'x', name }));
  test.each([
    [named('a', '1st'), /named "1st"; a name must be/],
    [named({ deep: 'a' }), /named \{"deep":"a"\}; a name must be/],
    [named('a', 'b', 'a'), /two messages named "a"/],
    [named(...Array.from({ length: 21 }, (_, n) => `a${n}`)), /21 messages with a name; at most 20/],
  ])('refuses the names %j', async (messages, reason) => {
    const taskInfo = answers.json(() => ({ initial_prompt: { messages } }));
    await expect(client.taskInfo(await of({ taskInfo }), null, signal)).rejects.toMatchObject({
      code: 'container_answer_invalid',
      message: expect.stringMatching(reason) as unknown,
    });
  });
});
