import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { startFakeModel, type FakeModel } from '../support/fakes/model.js';

const missing = spawnSync('python3', ['--version']).error !== undefined;
const suite = missing ? describe.skip : describe;

suite(`the container in plain Python${missing ? ' (skipped: there is no python3 on this machine)' : ''}`, () => {
  let child: ChildProcess;
  let model: FakeModel;
  let url: string;

  beforeAll(async () => {
    model = await startFakeModel(() => ({ text: 'north' }));
    const script = join(import.meta.dirname, '../../examples/python/container.py');
    child = spawn('python3', [script, '--port', '0', '--key', 'secret'], { stdio: ['ignore', 'pipe', 'inherit'] });
    for await (const line of createInterface({ input: child.stdout! })) {
      url = /http:\S+/.exec(line)![0];
      break;
    }
  });
  afterAll(async () => {
    child.kill();
    await model.close();
  });

  const headers = { 'x-api-key': 'secret', 'content-type': 'application/json' };
  const body = (seed: unknown, config: Record<string, unknown> = {}) => ({
    trace_correlation_id: 'rol_1',
    rollout_id: 'rol_1',
    env: { env_name: null, seed, config: {} },
    policy: {
      policy_name: 'm',
      config: { model: 'm', inference_url: model.url, inference_api_key: 'rip_x', ...config },
    },
    safety: { max_time_s: 20 },
  });
  const post = async (sent: unknown) => {
    const response = await fetch(`${url}/rollout`, { method: 'POST', headers, body: JSON.stringify(sent) });
    return { status: response.status, retryAfter: response.headers.get('retry-after'), body: await response.json() };
  };

  test('is healthy, has a prompt, and requires its key', async () => {
    expect(await (await fetch(`${url}/health`, { headers })).json()).toEqual({ status: 'healthy' });
    const task = (await (await fetch(`${url}/task_info?seed=1`, { headers })).json()) as object;
    expect(task).toMatchObject({ initial_prompt: { messages: [{ role: 'system' }] } });
    expect((await fetch(`${url}/nothing`, { headers })).status).toBe(404);
    expect((await fetch(`${url}/health`)).status).toBe(401);
    expect((await fetch(`${url}/rollout`, { method: 'POST', body: '{}' })).status).toBe(401);
    const text = { method: 'POST', headers: { 'x-api-key': 'secret' }, body: JSON.stringify(body(0)) };
    expect((await fetch(`${url}/rollout`, text)).status).toBe(415);
  });

  test('runs a rollout with the given model', async () => {
    const sections = [{ role: 'system', content: 'Candidate.', order: 0 }];
    expect(await post(body(0, { prompt_template: { sections } }))).toMatchObject({
      status: 200,
      body: { rollout_id: 'rol_1', success_status: 'success', reward_info: { outcome_reward: 1 } },
    });
    const request = model.requests.at(-1)!;
    expect(request.headers.authorization).toBe('Bearer rip_x');
    expect(request.body).toMatchObject({
      model: 'm',
      messages: [{ role: 'system', content: 'Candidate.' }, { role: 'user' }],
    });
    const wrong = await post(body(4));
    expect(wrong.body).toMatchObject({
      reward_info: {
        outcome_reward: 0,
        details: { feedback: expect.stringMatching(/Expected `south`, answered `north`/) },
      },
    });
  });

  test('separates retryable from permanent errors', async () => {
    model.reply(() => ({ raw: 'busy', status: 429, headers: { 'retry-after': '3' } }));
    expect(await post(body(0))).toMatchObject({ status: 503, retryAfter: '3' });
    model.reply(() => ({ raw: 'broken', status: 500 }));
    expect(await post(body(0))).toMatchObject({ status: 502 });
    model.reply(() => ({ raw: 'gone', status: 409 }));
    expect(await post(body(0))).toMatchObject({ status: 200, body: { success_status: 'error' } });
    expect(await post(body('x'))).toMatchObject({ status: 422 });
    expect(await post({})).toMatchObject({ status: 422 });
  });
});
