import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import {
  createContainer,
  type ContainerOptions,
  type RolloutContext,
  type RunningContainer,
} from '../../src/container/index.js';
import { startFakeModel, type FakeModel } from '../support/fakes/model.js';
import { range } from '../support/range.js';
import { until } from '../support/until.js';

interface Body {
  detail?: string;
  success_status?: string;
  status_detail?: string;
  reward_info: { outcome_reward: number; details: { feedback?: string; word?: string } };
}
interface Task {
  word: string;
}
type Options = Partial<ContainerOptions<Task>>;

let model: FakeModel;
let container: RunningContainer | undefined;
let runs: number;

beforeEach(async () => {
  runs = 0;
  model = await startFakeModel(({ body }) => ({ text: body.messages.at(-1)!.content.toUpperCase() }));
});
afterEach(async () => {
  await container?.close();
  await model.close();
});

/** A container that has the model repeat a word in capitals. */
async function start(options: Options = {}): Promise<string> {
  container = await createContainer<Task>({
    name: 'shouting',
    tasks: [{ word: 'a' }, { word: 'b' }, { word: 'c' }],
    initialPrompt: 'Shout.',
    async rollout({ word }, ask, { prompt }) {
      runs += 1;
      const answer = await ask([
        { role: 'system', content: prompt },
        { role: 'user', content: word },
      ]);
      return { reward: answer === word.toUpperCase() ? 1 : 0, feedback: `said ${answer}`, details: { word } };
    },
    ...options,
  }).listen();
  return container.url;
}

const body = (changes: Record<string, unknown> = {}, config: Record<string, unknown> = {}) => ({
  trace_correlation_id: 'rol_1',
  rollout_id: 'rol_1',
  env: { env_name: null, seed: 1, config: {} },
  policy: {
    policy_name: 'm',
    config: {
      model: 'm',
      provider: 'fake',
      temperature: 0.5,
      inference_url: model.url,
      inference_api_key: 'rip_x',
      ...config,
    },
  },
  safety: { max_time_s: 30 },
  ...changes,
});

async function post(url: string, sent: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(`${url}/rollout`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof sent === 'string' ? sent : JSON.stringify(sent),
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as Body };
}

describe('a rollout', () => {
  test('runs the task of the seed with the model of the policy and answers with its score', async () => {
    const { status, body: answer } = await post(await start(), body());
    expect(status).toBe(200);
    expect(answer).toEqual({
      trace_correlation_id: 'rol_1',
      rollout_id: 'rol_1',
      reward_info: { outcome_reward: 1, details: { feedback: 'said B', word: 'b' } },
      success_status: 'success',
      inference_url: model.url,
    });
    expect(model.requests).toHaveLength(1);
    expect(model.requests[0]!.headers.authorization).toBe('Bearer rip_x');
    expect(model.requests[0]!.body).toEqual({
      model: 'm',
      temperature: 0.5,
      messages: [
        { role: 'system', content: 'Shout.' },
        { role: 'user', content: 'b' },
      ],
    });
  });

  test('has the tasks and the prompt of when the container was created', async () => {
    const options: ContainerOptions<Task> = {
      name: 'fixed',
      tasks: [{ word: 'a' }],
      initialPrompt: 'Shout.',
      rollout: ({ word }, _model, { prompt }) => Promise.resolve({ reward: 1, details: { word, prompt } }),
    };
    container = await createContainer(options).listen();
    Object.assign(options, { tasks: [], initialPrompt: 'Whisper.' });
    const { details } = (await post(container.url, body())).body.reward_info;
    expect(details).toEqual({ word: 'a', prompt: 'Shout.' });
  });

  test('seeds select tasks modulo their number, or generate them', async () => {
    const url = await start();
    const wordOf = async (at: string, seed: number) =>
      (await post(at, body({ env: { seed } }))).body.reward_info.details.word;
    expect([await wordOf(url, 3), await wordOf(url, 5), await wordOf(url, -1)]).toEqual(['a', 'c', 'c']);
    await container!.close();
    const made = await start({ tasks: (seed) => Promise.resolve({ word: `w${seed}` }) });
    expect(await wordOf(made, 41)).toBe('w41');
    expect(() =>
      createContainer<Task>({ name: 'x', tasks: [], initialPrompt: '', rollout: () => ({ reward: 1 }) }),
    ).toThrow(/tasks is empty/);
  });

  test('uses the prompt of the request', async () => {
    const sections = [
      { role: 'system', content: 'second', order: 1 },
      { role: 'user', content: 'not this', order: 2 },
      { role: 'system', content: 'first', order: 0 },
    ];
    await post(await start(), body({}, { prompt_template: { sections } }));
    expect(model.requests[0]!.body.messages[0]).toEqual({ role: 'system', content: 'first\n\nsecond' });
    expect(model.requests[0]!.body).not.toHaveProperty('prompt_template');
  });

  test('serves several prompts by name and passes them to each rollout by name', async () => {
    const given: RolloutContext[] = [];
    const url = await start({
      initialPrompt: { plan: 'Plan.', answer: 'Answer.' },
      rollout: (_, _ask, context) => {
        given.push(context);
        return { reward: 1 };
      },
    });
    const info = (await (await fetch(`${url}/task_info`)).json()) as { initial_prompt: unknown };
    expect(info.initial_prompt).toEqual({
      messages: [
        { role: 'system', name: 'plan', content: 'Plan.' },
        { role: 'system', name: 'answer', content: 'Answer.' },
      ],
    });
    await post(url, body());
    const sections = [
      { role: 'user', content: 'An example.', order: 2 },
      { role: 'system', content: 'Better.', order: 1, name: 'answer' },
      { role: 'user', content: '', order: 3 },
    ];
    await post(url, body({}, { prompt_template: { sections } }));
    expect(given).toMatchObject([
      { prompt: 'Plan.\n\nAnswer.', prompts: { plan: 'Plan.', answer: 'Answer.' } },
      { prompt: 'Better.', prompts: { plan: 'Plan.', answer: 'Better.', user: 'An example.', user_2: '' } },
    ]);
    expect(() =>
      createContainer<Task>({ name: 'x', tasks: [{ word: 'a' }], initialPrompt: {}, rollout: () => ({ reward: 1 }) }),
    ).toThrow(/initialPrompt is empty/);
  });

  test('parameters of a call override the policy; fields such as keys are not sent', async () => {
    await post(
      await start({
        rollout: async (_, ask, { env }) => {
          await ask([{ role: 'user', content: env.name ?? 'none' }], { temperature: 0, stop: ['x'] });
          return { reward: 0.25 };
        },
      }),
      body({ env: { seed: 0, env_name: 'test' } }),
    );
    expect(model.requests[0]!.body).toEqual({
      model: 'm',
      temperature: 0,
      stop: ['x'],
      messages: [{ role: 'user', content: 'test' }],
    });
  });
});

describe('failures', () => {
  test.each([
    [429, 503, '7'],
    [503, 503, '7'],
    [500, 502, null],
    [502, 502, null],
  ])('a model that answers %i makes the rollout a retryable %i', async (upstream, answered, retryAfter) => {
    model.reply(() => ({ raw: '{"error":{"message":"busy"}}', status: upstream, headers: { 'retry-after': '7' } }));
    const answer = await post(await start(), body());
    expect(answer.status).toBe(answered);
    expect(answer.body.detail).toBe(`the model answered ${upstream}: {"error":{"message":"busy"}}`);
    expect(answer.headers.get('retry-after')).toBe(retryAfter);
  });

  test('answers 502 after a broken connection, a refused connection or an incomplete answer', async () => {
    const url = await start();
    model.reply(() => ({ cutAfter: 0 }));
    expect(await post(url, body())).toMatchObject({
      status: 502,
      body: { detail: expect.stringMatching(/could not be reached/) },
    });
    model.reply(() => ({ raw: '{"choices": [' }));
    expect(await post(url, body())).toMatchObject({ status: 502, body: { detail: expect.stringMatching(/not JSON/) } });
    await model.close();
    expect(await post(url, body())).toMatchObject({
      status: 502,
      body: { detail: expect.stringMatching(/ECONNREFUSED/) },
    });
  });

  test.each([400, 401, 404, 409])(
    'a model that answers %i fails the rollout, because a retry would fail again',
    async (status) => {
      model.reply(() => ({ raw: 'no', status }));
      expect(await post(await start(), body())).toMatchObject({
        status: 200,
        body: {
          success_status: 'error',
          status_detail: `the model answered ${status}: no`,
          reward_info: { details: { feedback: `the model answered ${status}: no` } },
        },
      });
    },
  );

  test.each<[string, Options['rollout'], RegExp]>([
    ['throws', () => Promise.reject(new TypeError('x is not y')), /x is not y/],
    ['returns NaN', () => ({ reward: NaN }), /reward NaN, which is not a finite number/],
    ['returns a text', () => ({ reward: '1' as never }), /reward 1, which is not a finite number/],
    ['returns nothing', () => undefined as never, /undefined/],
    ['returns details outside JSON', () => ({ reward: 1, details: { n: 1n } }), /BigInt/],
  ])('a function that %s fails the rollout with a message', async (_, rollout, message) => {
    const answer = await post(await start({ rollout: rollout! }), body());
    expect(answer.status).toBe(200);
    expect(answer.body.success_status).toBe('error');
    expect(answer.body.reward_info.details.feedback).toMatch(message);
    expect(answer.body.status_detail).toBe(answer.body.reward_info.details.feedback);
  });

  test('a model may take longer than fetch waits in the process', async () => {
    model.reply(async () => {
      await setTimeout(2_500);
      return { text: 'late' };
    });
    const file = (path: string) => pathToFileURL(join(import.meta.dirname, '../..', path)).href;
    const script = `
      import { Agent, setGlobalDispatcher } from 'undici';
      import { callModel } from '${file('src/container/model.ts')}';
      setGlobalDispatcher(new Agent({ headersTimeout: 1, bodyTimeout: 1 }));
      const access = { inferenceUrl: '${model.url}', inferenceApiKey: null, modelParams: {} };
      console.log(await callModel(access, [{ role: 'user', content: 'a' }], {}, AbortSignal.timeout(30_000)));`;
    const args = ['--import', file('scripts/ts-loader.mjs'), '--input-type=module', '-e', script];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    expect(stdout).toBe('late\n');
  }, 30_000);

  test('the time limit stops the function and its model calls', async () => {
    model.reply(() => new Promise(() => undefined));
    const url = await start();
    const answer = await post(url, body({ safety: { max_time_s: 0.05 } }));
    expect(answer.body).toMatchObject({
      success_status: 'timeout',
      status_detail: 'the rollout took longer than 0.05 s',
      reward_info: { details: { feedback: 'the rollout took longer than 0.05 s' } },
    });
    const deaf = await (await restart({ rollout: () => new Promise(() => undefined) }))(0.05);
    expect(deaf.body.success_status).toBe('timeout');
  });

  async function restart(options: Options) {
    await container!.close();
    const url = await start(options);
    return (limit: number) => post(url, body({ safety: { max_time_s: limit } }));
  }
});

describe('invalid requests', () => {
  test.each<[string, unknown, number, RegExp]>([
    ['no JSON', '{"env":', 400, /not JSON/],
    ['a list', [], 422, /the body must be an object/],
    ['no env', { rollout_id: 'r', policy: {} }, 422, /^env must be an object/],
    [
      'no seed',
      { rollout_id: 'r', env: {}, policy: { config: { inference_url: 'http://x' } } },
      422,
      /^env.seed must be an integer/,
    ],
    [
      'a seed of 1.5',
      { rollout_id: 'r', env: { seed: 1.5 }, policy: { config: { inference_url: 'http://x' } } },
      422,
      /^env.seed/,
    ],
    ['no URL', { rollout_id: 'r', env: { seed: 1 }, policy: { config: {} } }, 422, /^policy.config.inference_url/],
    [
      'a file URL',
      { rollout_id: 'r', env: { seed: 1 }, policy: { config: { inference_url: 'file:///x' } } },
      422,
      /http or https/,
    ],
    ['no id', { env: { seed: 1 }, policy: { config: { inference_url: 'http://x' } } }, 422, /^rollout_id/],
  ])('%s', async (_, sent, status, detail) => {
    const answer = await post(await start(), sent);
    expect(answer.status).toBe(status);
    expect(answer.body.detail).toMatch(detail);
    expect(runs).toBe(0);
  });

  test('names the field of an invalid limit or template', async () => {
    const url = await start();
    expect((await post(url, body({ safety: { max_time_s: 0 } }))).body.detail).toMatch(/^safety.max_time_s/);
    expect((await post(url, body({}, { prompt_template: { sections: 1 } }))).body.detail).toMatch(
      /sections must be a list/,
    );
    expect((await post(url, body({}, { prompt_template: { sections: [{ role: 'system' }] } }))).body.detail).toMatch(
      /content/,
    );
  });

  test('answers 413 for a body of more than 10 MiB', async () => {
    expect((await post(await start(), 'x'.repeat(40 * 1024 * 1024))).status).toBe(413);
  });

  test('answers 404 for unknown routes', async () => {
    const url = await start();
    expect((await fetch(`${url}/rollout`)).status).toBe(404);
    expect((await fetch(`${url}/nothing`, { method: 'POST' })).status).toBe(404);
  });

  test('requires its key on every route', async () => {
    const url = await start({ apiKey: 'secret' });
    for (const path of ['/health', '/info', '/task_info']) {
      expect((await fetch(url + path)).status).toBe(401);
      expect((await fetch(url + path, { headers: { 'x-api-key': 'wrong' } })).status).toBe(401);
      expect((await fetch(url + path, { headers: { 'x-api-key': 'secret' } })).status).toBe(200);
    }
    expect(await post(url, body())).toMatchObject({
      status: 401,
      body: { detail: expect.stringMatching(/unauthorised/) },
    });
    expect(runs).toBe(0);
    expect((await post(url, body(), { 'x-api-key': 'secret' })).status).toBe(200);
  });
});

describe('a web page', () => {
  /** Sends a request as a browser does, which sets these headers itself. */
  function send(url: string, path: string, headers: Record<string, string>, method = 'POST'): Promise<number> {
    return new Promise((resolve, reject) => {
      const request = httpRequest(url + path, { method, headers }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode!));
      });
      request.on('error', reject).end(method === 'POST' ? JSON.stringify(body()) : undefined);
    });
  }

  test.each(['text/plain', 'text/plain;charset=UTF-8', 'application/x-www-form-urlencoded', 'multipart/form-data'])(
    'that posts a rollout as %s, which needs no permission, gets 415',
    async (type) => {
      const url = await start();
      expect(await send(url, '/rollout', { origin: 'http://evil.example', 'content-type': type })).toBe(415);
      expect(await send(url, '/rollout', {})).toBe(415);
      expect([runs, model.requests]).toEqual([0, []]);
    },
  );

  test('that asks for permission gets none', async () => {
    const headers = { origin: 'http://evil.example', 'access-control-request-method': 'POST' };
    const answer = await fetch(`${await start()}/rollout`, { method: 'OPTIONS', headers });
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([404, null]);
  });

  test.each(['evil.example', 'evil.example:8900', 'localhost.evil.example', '127.0.0.1.nip.io:80', 'evil@localhost'])(
    'that calls this machine "%s" gets 421 from a container without a key',
    async (host) => {
      const url = await start();
      const headers = { host, 'content-type': 'application/json' };
      expect(await send(url, '/rollout', headers)).toBe(421);
      for (const path of ['/health', '/info', '/task_info']) expect(await send(url, path, { host }, 'GET')).toBe(421);
      expect(runs).toBe(0);
    },
  );

  test.each(['localhost', 'LOCALHOST:8900', '127.0.0.1:80', '[::1]:8900'])('may be one of "%s"', async (host) => {
    const headers = { host, 'content-type': 'application/json; charset=utf-8' };
    expect(await send(await start(), '/rollout', headers)).toBe(200);
  });
});

describe('beyond this machine', () => {
  const open = (apiKey?: string) =>
    createContainer<Task>({
      name: 'x',
      tasks: [{ word: 'a' }],
      initialPrompt: 'x',
      rollout: () => ({ reward: 1 }),
      apiKey,
    });

  test.each(['0.0.0.0', '::', '10.1.2.3', 'example.com'])(
    'a container without a key does not listen on %s',
    async (host) => {
      await expect(open().listen(0, host)).rejects.toThrow(/^apiKey is missing/);
      expect(() => open('')).toThrow(/^apiKey is empty/);
    },
  );

  test('one with a key does, by any name', async () => {
    container = await open('secret').listen(0, '0.0.0.0');
    const url = container.url.replace('0.0.0.0', '127.0.0.1');
    const headers = { 'x-api-key': 'secret' };
    expect((await fetch(`${url}/health`, { headers })).status).toBe(200);
    for (const key of ['', 'secre', 'secret2'])
      expect((await fetch(`${url}/health`, { headers: { 'x-api-key': key } })).status).toBe(401);
  });
});

test('serves health, info and task info', async () => {
  const url = await start();
  const get = async (path: string) => (await fetch(url + path)).json();
  const initial_prompt = { messages: [{ role: 'system', content: 'Shout.' }] };
  expect(await get('/health')).toEqual({ status: 'healthy' });
  expect(await get('/info')).toEqual({ service: { name: 'shouting' }, initial_prompt });
  expect(await get('/task_info?seed=4')).toEqual({
    task: { name: 'shouting', seed: '4' },
    dataset: { num_tasks: 3 },
    initial_prompt,
  });
});

describe('the same idempotency key', () => {
  const key = { 'idempotency-key': 'rol_1' };

  test('gets the same answer, in flight and afterwards, and runs once', async () => {
    let let_go: () => void = () => undefined;
    const hold = new Promise<void>((resolve) => (let_go = resolve));
    model.reply(async () => (await hold, { text: 'B' }));
    const url = await start();
    const both = [post(url, body(), key), post(url, body(), key)];
    await until('the model is asked', () => model.requests.length === 1);
    let_go();
    const [first, second] = await Promise.all(both);
    const third = await post(url, body(), key);
    expect(second!.body).toEqual(first!.body);
    expect(third.body).toEqual(first!.body);
    expect(runs).toBe(1);
    await post(url, body(), { 'idempotency-key': 'rol_2' });
    await post(url, body());
    expect(runs).toBe(3);
  });

  test('runs again after a 5xx but not after a failed rollout', async () => {
    const url = await start();
    model.reply(({ n }) => (n === 1 ? { raw: '', status: 500 } : { raw: '', status: 400 }));
    expect((await post(url, body(), key)).status).toBe(502);
    expect((await post(url, body(), key)).body.success_status).toBe('error');
    expect((await post(url, body(), key)).body.success_status).toBe('error');
    expect(runs).toBe(2);
  });

  test('keeps only the last 1,000 answers', async () => {
    const url = await start({ rollout: () => ({ reward: (runs += 1) }) });
    const answered = (n: number) => post(url, body(), { 'idempotency-key': `k${n}` });
    await answered(0);
    for (let n = 1; n <= 1_000; n += 50) await Promise.all(range(n, 50).map(answered));
    await answered(1_001);
    expect(runs).toBe(1_002);
    await post(url, body(), { 'idempotency-key': 'k1001' });
    expect(runs).toBe(1_002);
    await post(url, body(), { 'idempotency-key': 'k0' });
    expect(runs).toBe(1_003);
  });
});

describe('a disconnecting caller', () => {
  /** Posts a rollout; the result can break the connection. */
  function postAndLeave(url: string, key?: string) {
    const headers = { 'content-type': 'application/json', ...(key && { 'idempotency-key': key }) };
    const sent = httpRequest(`${url}/rollout`, { method: 'POST', headers });
    sent.on('error', () => undefined);
    sent.end(JSON.stringify(body()));
    return async () => {
      const closed = new Promise((resolve) => sent.once('close', resolve));
      sent.destroy();
      await closed;
    };
  }

  test('stops the rollout, and the next request with its key starts over', async () => {
    const signals: AbortSignal[] = [];
    const url = await start({
      rollout: (_, __, { signal }) => {
        signals.push(signal);
        return signals.length === 1 ? new Promise(() => undefined) : { reward: 1 };
      },
    });
    const leave = postAndLeave(url, 'rol_1');
    await until('it runs', () => signals.length === 1);
    await leave();
    await until('it is stopped', () => signals[0]!.aborted);
    expect((await post(url, body(), { 'idempotency-key': 'rol_1' })).body.success_status).toBe('success');
    expect(signals).toHaveLength(2);
  });

  test('keeps the rollout for other requests with the same key', async () => {
    const signals: AbortSignal[] = [];
    let finish: (score: { reward: number }) => void = () => undefined;
    const url = await start({
      rollout: (_, __, { signal }) => {
        signals.push(signal);
        return new Promise((resolve) => (finish = resolve));
      },
    });
    const leave = postAndLeave(url, 'rol_1');
    await until('it runs', () => signals.length === 1);
    const waiting = post(url, body(), { 'idempotency-key': 'rol_1' });
    // The answer to a later request proves that the second one arrived; the next proves the
    // disconnect.
    await fetch(`${url}/health`);
    await leave();
    await fetch(`${url}/health`);
    expect(signals[0]!.aborted).toBe(false);
    finish({ reward: 1 });
    expect((await waiting).body.success_status).toBe('success');
    expect(signals).toHaveLength(1);
  });
});
