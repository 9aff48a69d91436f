import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { join } from 'node:path';
import { firstFree } from '../../src/platform/embedded/ports.js';
import { built, deploy, saying } from '../support/deployments-over-http.js';
import { answers, startFakeContainer, type FakeContainer, type ReceivedRollout } from '../support/fakes/container.js';
import { startFakeModel, type FakeModel } from '../support/fakes/model.js';
import { gate } from '../support/gate.js';
import { createEvaluation, deployments, evaluations } from '../support/jobs-over-http.js';
import { send, startOpenLoad, type LoadCall } from '../support/open-load.js';
import { startCluster, type Cluster } from '../support/servers/cluster.js';
import { Api } from '../support/api.js';
import { until } from '../support/until.js';
import { treeOfFile } from '../harness/worlds/processes.js';
import { rolesOf, type Roles } from '../harness/worlds/roles.js';

// SIGTERM under an open load of model calls and creates: the service answers what it has begun.

const perSecond = 40;
const modelMs = 300;
const policy = { provider: 'fake', model: 'any' };
const cli = join(process.cwd(), 'dist', 'src', 'cli', 'ratchet.js');

let model: FakeModel;
let container: FakeContainer;
let released: ReturnType<typeof gate>;
let held: ReceivedRollout[];

beforeAll(async () => {
  model = await startFakeModel(async ({ body }) => {
    await delay(modelMs);
    return { text: `answer to ${body.messages.at(-1)!.content}` };
  });
  container = await startFakeContainer({
    behave: () => async (call, response) => {
      if (call.body.env.seed === 1) {
        held.push(call);
        await released.opened;
      }
      await answers.reward(1)(call, response);
    },
  });
});
afterAll(async () => {
  released.open();
  await container.close();
  await model.close();
});

const settings = () => ({ RATCHET_PROVIDERS: 'fake', FAKE_BASE_URL: model.url, RATCHET_EGRESS: 'dev' });

/** Model calls of a deployment and of a running rollout, whole and streamed, and creates. */
async function callsOf(service: { url: string; apiKey: string; api: Api }): Promise<LoadCall[]> {
  held = [];
  released = gate();
  const { id } = await built(service, await deploy(service, { name: 'served', source: saying('Answer.', policy) }));
  const evaluation = { container_url: container.url, policy, preflight: false };
  await createEvaluation(service, { ...evaluation, seeds: [1] });
  const rollout = await until('a rollout runs', () => held[0]);
  const { inference_url: url, inference_api_key: key } = rollout.body.policy.config;
  const ask = (stream: boolean) => (mark: string) => ({
    model: 'any',
    stream,
    messages: [{ role: 'user', content: mark }],
  });
  return [
    { url: `${service.url}${deployments}/${id}/chat/completions`, key: service.apiKey, body: ask(false) },
    { url: `${url}/chat/completions`, key, body: ask(false) },
    {
      url: service.url + evaluations,
      key: service.apiKey,
      body: (mark) => ({ ...evaluation, app_id: 'a', env_name: 'e', seeds: [0], name: mark }),
    },
    { url: `${service.url}${deployments}/${id}/chat/completions`, key: service.apiKey, body: ask(true) },
    { url: `${url}/chat/completions`, key, body: ask(true) },
  ];
}

interface Signalled {
  url: string;
  apiKey: string;
  api: Api;
  /** SIGTERM to the API; resolves at its end. */
  terminate(): Promise<unknown>;
  /** Starts it again at the same address. */
  start(): Promise<void>;
}

/** Answers that are neither whole nor a refusal, and begun work without an answer. */
async function failedAt(service: Signalled): Promise<string[]> {
  model.requests.length = 0;
  const load = startOpenLoad(await callsOf(service), perSecond);
  await until('the load is answered', () => load.answers.length > 3 * perSecond, 60);
  released.open();
  await service.terminate();
  await load.stop();
  const asked = new Set(model.requests.map(({ body }) => body.messages.at(-1)!.content));
  await service.start();
  const failed: string[] = [];
  for (const { call, mark, status, retryAfter, text } of load.answers) {
    const isWhole = text !== null && (!text.startsWith('data:') || text.endsWith('data: [DONE]\n\n'));
    // The key of an ended job is refused.
    if (((status === 200 || status === 201) && isWhole) || status === 401) continue;
    const isRefusal = status === 503 && retryAfter !== null && text !== null;
    if (status !== 0 && !isRefusal) failed.push(`${call.url}: ${status} ${text?.slice(0, 200) ?? 'broke off'}`);
    else if (call.url.endsWith('/chat/completions')) {
      if (asked.has(mark)) failed.push(`${call.url}: ${status}, though the model was asked`);
    } else {
      const again = await until('the create is answered', async () => {
        const answer = await send(call, mark);
        return answer.status === 201 && answer;
      });
      if (again.headers.get('idempotency-replayed')) failed.push(`${call.url}: ${status}, though the job exists`);
    }
  }
  return failed;
}

describe('npm start', () => {
  const on = treeOfFile(async () => ({
    env: { ...settings(), PORT: String(await firstFree()) },
    close: () => Promise.resolve(),
  }));

  test('fails no request that it has begun', async () => {
    const { tree } = on;
    const { url, apiKey, api } = tree;
    expect(await failedAt({ url, apiKey, api, terminate: () => tree.terminate(), start: () => tree.start() })).toEqual(
      [],
    );
  }, 180_000);
});

describe('ratchet serve --processes 2, with a worker beside it', () => {
  let cluster: Cluster;
  let roles: Roles;
  const service = () => ({ url: roles.url, apiKey: cluster.apiKey, api: new Api(roles.url, cluster.apiKey) });
  beforeAll(async () => {
    cluster = await startCluster();
    const serve = [process.execPath, cli, 'serve', '--processes', '2'] as const;
    roles = await rolesOf({ ...cluster.env, ...settings() }, { serve });
    await roles.api.start();
    await roles.worker.start();
  }, 120_000);
  afterAll(async () => {
    await roles.worker.kill();
    await roles.api.kill();
    await cluster.close();
  }, 60_000);

  test('SIGTERM of the API fails no request that it has begun', async () => {
    const { api } = roles;
    expect(await failedAt({ ...service(), terminate: () => api.terminate(), start: () => api.start() })).toEqual([]);
  }, 180_000);

  test('SIGTERM of the worker fails no request at all', async () => {
    const load = startOpenLoad(await callsOf(service()), perSecond);
    await until('the load is answered', () => load.answers.length > 2 * perSecond, 60);
    released.open();
    await roles.worker.terminate();
    await load.stop();
    // The key of an ended job is refused.
    const failed = load.answers.filter(({ status }) => status !== 200 && status !== 201 && status !== 401);
    expect(failed).toEqual([]);
  }, 120_000);
});
