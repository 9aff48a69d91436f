import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { documentOf } from '../../support/api.js';
import { mkdirSync, readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { Api } from '../../support/api.js';
import { firstFree } from '../../../src/platform/embedded/ports.js';
import { freshFolder } from '../../platform/embedded/folders.js';
import { ask, built, deploy, saying } from '../../support/deployments-over-http.js';
import { answers, startFakeContainer, type Behaviour, type FakeContainer } from '../../support/fakes/container.js';
import { startFakeModel, type FakeModel, type ModelReply, type ModelRequest } from '../../support/fakes/model.js';
import { startReceiver, type Receiver } from '../../support/fakes/receiver.js';
import {
  command,
  createEvaluation,
  ended,
  eventsOf,
  pathOf,
  sessions,
  type Evaluation,
  type Session,
} from '../../support/jobs-over-http.js';
import { range } from '../../support/range.js';
import { startTree, type Tree } from '../../support/servers/tree.js';
import { unzip } from '../../support/unzip.js';
import { until } from '../../support/until.js';
import { propose } from '../../support/worlds/rules.js';

// A container and models that echo every key they are sent. No key may be in any text or file.

const apiKey = 'echo-test-key-0123456789-0123456789';
/** Keys: of the container, of the provider `fake`, and the organization's own one of `own`. */
const canaries = {
  container: 'box.canary/7f+3"a\\kept',
  provider: 'svc.canary/9+x-of-the-service',
  organization: 'org.canary_4-of-an-organization',
};
const dataDir = join(freshFolder(), 'data');
const logFile = join(freshFolder(), 'log');
/** What the API answered, and what container, model and receiver got. */
const seen: { where: string; text: string }[] = [];
const inferenceKeys = new Set<string>();
let tree: Tree;
let api: Api;
let container: FakeContainer;
let model: FakeModel;
let receiver: Receiver;

/** Keys in the forms in which frameworks quote them. */
function echoOf(keys: string[]): string {
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  return keys
    .flatMap((key) => [
      key,
      base64(key),
      base64(`user:${key}`),
      JSON.stringify({ 'x-api-key': key }),
      JSON.stringify(JSON.stringify(key)),
      encodeURIComponent(key),
      [...key].map((char) => `\\u00${char.charCodeAt(0).toString(16)}`).join(''),
    ])
    .join(' ; ');
}

/** By its seed, a container echoes its keys in each kind of answer. */
const behaviours: Behaviour[] = [
  echoing((echo) => answers.reward(0.5, `needs rule-0. ${echo}`, { [echo]: [echo], header: echo })),
  echoing((echo) => answers.status(500, `<h1>${echo}</h1>`)),
  echoing((echo) => answers.status(422, JSON.stringify({ detail: [{ msg: echo }] }))),
  echoing((echo) => answers.failedStatus(echo)),
  echoing((echo) => answers.raw('{"reward":1}', 200, { 'content-encoding': Buffer.from(echo).toString('base64') })),
  echoing((echo) => answers.json(() => ({ reward: echo }))),
  () => undefined,
  echoing(() => answers.pending202()),
  askingModel(false),
  askingModel(true),
];

function keysOf(call: Parameters<Behaviour>[0]): string[] {
  const key = call.body.policy.config.inference_api_key;
  inferenceKeys.add(key);
  return [String(call.headers['x-api-key']), key];
}

function echoing(behave: (echo: string) => Behaviour): Behaviour {
  return (call, response) => behave(echoOf(keysOf(call)))(call, response);
}

/** Puts the keys into its model call, and the model's answer into its feedback. */
function askingModel(stream: boolean): Behaviour {
  return async (call, response) => {
    const { inference_url: base, inference_api_key: key, model: name } = call.body.policy.config;
    const echo = echoOf(keysOf(call));
    const answer = await fetch(`${base}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ model: name, stream, messages: [{ role: 'user', content: echo }], user: echo }),
    });
    const text = await answer.text();
    seen.push({ where: 'an answer of the proxy', text });
    await answers.reward(answer.ok ? 1 : 0, `${answer.status} ${echo} ${text.slice(0, 4_000)}`)(call, response);
  };
}

/** Echoes its key and the request, in errors, whole answers and streams of small pieces. */
function echoingModel(request: ModelRequest): ModelReply {
  const { authorization = '' } = request.headers;
  const echo = `${echoOf([authorization.replace('Bearer ', '')])} ${JSON.stringify(request.body.messages.at(-1))}`;
  const status = [200, 200, 401, 200, 403, 200, 500, 200][request.n % 8]!;
  seen.push({ where: 'a request to the model', text: JSON.stringify(request.body) });
  if (status !== 200)
    return { status, raw: JSON.stringify({ error: { message: echo } }), headers: { 'retry-after': authorization } };
  if (!request.body.stream)
    return { text: `${propose(request)}\n${echo}`, fields: { system_fingerprint: authorization } };
  const pieces = echo.match(/[^]{1,5}/g)!;
  const chunks = pieces.map((content) => ({ choices: [{ index: 0, delta: { content }, finish_reason: null }] }));
  const last = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], id: echo };
  const raw = [...chunks, last].map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('');
  return { raw: `${raw}data: [DONE]\n\n`, headers: { 'content-type': 'text/event-stream' } };
}

beforeAll(async () => {
  mkdirSync(dataDir, { mode: 0o755 });
  const prompt = [{ role: 'system', content: `Answer well. ${canaries.container}` }];
  container = await startFakeContainer({ prompt, behave: ({ seed }) => behaviours[seed % 10]! });
  model = await startFakeModel(echoingModel);
  receiver = await startReceiver();
  behaviours[6] = echoing((echo) => answers.status(200, echo));
  tree = await startTree(
    {
      PORT: String(await firstFree()),
      RATCHET_TEMPORAL_PORT: '0',
      RATCHET_DATA_DIR: dataDir,
      RATCHET_API_KEY: apiKey,
      RATCHET_LOG_LEVEL: 'debug',
      RATCHET_PROVIDERS: 'fake,own',
      FAKE_BASE_URL: model.url,
      FAKE_API_KEY: canaries.provider,
      OWN_BASE_URL: model.url,
    },
    { logFile },
  );
  api = new Api(tree.url, apiKey);
  await api.call('PUT', '/api/v1/admin/provider-keys/own', { api_key: canaries.organization });
}, 120_000);
afterAll(async () => {
  if (tree?.process.exitCode === null && tree.process.signalCode === null) await tree.stop();
  await Promise.all([container.close(), model.close(), receiver.close()]);
}, 180_000);

/** Whether a text has a secret, or a form of it that the fakes send. */
function secretsIn(text: string): string[] {
  const secrets = [...Object.values(canaries), ...inferenceKeys];
  return secrets.filter((secret) => {
    const encoded = [0, 1, 2].map((shift) =>
      Buffer.from(`${' '.repeat(shift)}${secret}`)
        .toString('base64')
        .slice(shift + 1, -4),
    );
    const json = JSON.stringify(secret).slice(1, -1);
    const escaped = [...secret].map((char) => `u00${char.charCodeAt(0).toString(16)}`);
    const escapes = [1, 2, 3, 4].map((slashes) => escaped.join('\\'.repeat(slashes)));
    const nested = JSON.stringify(json).slice(1, -1);
    return [secret, json, nested, encodeURIComponent(secret), ...encoded, ...escapes].some((form) =>
      text.includes(form),
    );
  });
}

const leaks = (texts: { where: string; text: string }[]) =>
  texts.flatMap(({ where, text }) => (secretsIn(text).length > 0 ? [`${where}: ${secretsIn(text).join()}`] : []));

async function filesBelow(folder: string): Promise<{ where: string; text: string }[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Promise.all(files.map(async (where) => ({ where, text: (await readFile(where)).toString('latin1') })));
}

/** Every row of every table, uncompressed. */
async function rows(): Promise<{ where: string; text: string }[]> {
  const { settings } = JSON.parse(readFileSync(join(dataDir, 'postgres', 'server.json'), 'utf8')) as {
    settings: { port: number; password: string };
  };
  const client = new pg.Client(`postgres://postgres:${settings.password}@127.0.0.1:${settings.port}/postgres`);
  await client.connect();
  const tables = await client.query<{ name: string }>(
    `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
      where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`,
  );
  const found: { where: string; text: string }[] = [];
  for (const { name } of tables.rows) {
    const { rows } = await client.query<{ text: string }>(`select t::text as text from ${name} t`);
    found.push(...rows.map(({ text }) => ({ where: name, text })));
  }
  await client.query('checkpoint');
  await client.end();
  return found;
}

/** The answers of a job's GET routes, archives unpacked. */
async function read(id: string): Promise<void> {
  const { paths } = await documentOf<{ paths: Record<string, { get?: unknown }> }>(tree.url);
  const below = Object.entries(paths).flatMap(([path, { get }]) => {
    const named = path.replace(/\{[^}]+\}/, id);
    return get && path !== named && !named.includes('{') && named.startsWith(pathOf(id)) ? [named] : [];
  });
  expect(below.length).toBeGreaterThan(2);
  for (const path of below) {
    const response = await fetch(tree.url + path, { headers: { authorization: `Bearer ${apiKey}` } });
    const bytes = Buffer.from(await response.arrayBuffer());
    const isZip = response.headers.get('content-type')?.includes('zip') === true;
    const files = isZip ? await unzip(bytes) : [{ name: '', text: bytes.toString() }];
    seen.push(...files.map(({ name, text }) => ({ where: `${path} ${name}`, text })));
  }
}

test('no key that comes back is kept or shown anywhere', async () => {
  const job = {
    container_url: container.url,
    container_api_key: canaries.container,
    max_failure_rate: 1,
    preflight: false,
    rollout_timeout: 30,
    policy: { provider: 'fake', model: 'any' },
  };
  const webhook = { webhook_url: receiver.url };
  const evaluation = await createEvaluation({ api }, { ...job, ...webhook, seeds: range(0, 30) });
  await until('a rollout awaits its reward', async () => {
    const pending = container.callsOf(evaluation).find(({ seed }) => seed % 10 === 7);
    if (!pending) return false;
    const echo = echoOf([canaries.container, pending.body.policy.config.inference_api_key]);
    const details = { feedback: echo, [echo]: echo };
    const reward = { rollout_id: pending.rolloutId, reward_info: { outcome_reward: 1, details } };
    return command({ api }, evaluation, 'reward', reward).then(
      () => true,
      () => false,
    );
  });
  const own = await createEvaluation(
    { api },
    { ...job, seeds: [8, 9, 18, 19, 28, 29], policy: { provider: 'own', model: 'any' } },
  );
  const { session_id: session } = await api.call<{ session_id: string }>('POST', sessions, {
    ...webhook,
    policy_optimization: {
      algorithm: 'gepa',
      ...job,
      proposer: { provider: 'own', model: 'any' },
      gepa: {
        population_size: 2,
        generations: 2,
        minibatch_size: 3,
        train_seeds: [0, 8, 9, 10, 18, 19],
        evaluation: { seeds: [20, 28, 29] },
      },
    },
  });
  const refusing = await startFakeContainer({ health: answers.status(401, echoOf([canaries.container])) });
  const refused = await createEvaluation({ api }, { ...job, ...webhook, seeds: [0], container_url: refusing.url });
  container.behave(({ seed }) =>
    seed === 1_001 ? echoing((echo) => answers.status(401, echo)) : behaviours[seed % 10]!,
  );
  const refusedLater = await createEvaluation({ api }, { ...job, ...webhook, seeds: [1_001] });

  const served = { api, url: tree.url, apiKey };
  const deployment = await deploy(served, { name: 'echo', source: saying('Answer.', { provider: 'own', model: 'm' }) });
  await built(served, deployment);
  for (const n of range(0, 24)) {
    const body = { stream: n % 3 === 0, messages: [{ role: 'user', content: 'Hello' }] };
    const answer = await ask(served, deployment, body);
    expect([200, 500, 502]).toContain(answer.status);
    seen.push({ where: 'a deployment', text: `${JSON.stringify([...answer.headers])} ${await answer.text()}` });
  }
  const jobs = [evaluation, own, session, refused, refusedLater];
  for (const id of jobs) await ended<Evaluation | Session>({ api }, id, 120);
  const { secret } = await api.call<{ secret: string }>('GET', '/api/v1/webhooks/secret');
  await until('the webhooks are sent', () => receiver.requests.length >= 4);

  for (const id of jobs) {
    await read(id);
    seen.push({ where: `events of ${id}`, text: JSON.stringify(await eventsOf({ api }, id)) });
  }
  await read(deployment);
  seen.push(...receiver.requests.map((request) => ({ where: 'a webhook', text: JSON.stringify(request) })));
  expect(inferenceKeys.size).toBeGreaterThan(20);
  expect(seen.filter(({ text }) => text.includes('***')).length).toBeGreaterThan(20);
  expect(leaks(seen)).toEqual([]);

  const stored = await rows();
  expect(stored.length).toBeGreaterThan(100);
  expect(leaks(stored)).toEqual([]);
  await tree.stop();
  await refusing.close();
  const files = [...(await filesBelow(dataDir)), { where: 'log', text: readFileSync(logFile, 'utf8') }];
  expect(files.map(({ where }) => where).join()).toMatch(/temporal.*\.db/);
  expect(leaks(files)).toEqual([]);
  expect([...seen, ...stored, ...files].filter(({ text }) => text.includes(secret))).toEqual([]);
}, 300_000);
