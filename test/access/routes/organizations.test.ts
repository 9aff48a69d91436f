import { beforeAll, describe, expect, test } from '@jest/globals';
import { candidateId, leverId, rolloutId } from '../../../src/core/jobs/ids.js';
import { addCandidate } from '../../../src/candidates/store/candidates.js';
import { putSnapshot } from '../../../src/kinds/deployment/store/snapshots.js';
import type { ScheduleSpec } from '../../../src/schedules/contract/schedule.js';
import { insertSchedule } from '../../../src/schedules/store/schedules.js';
import { planRollouts } from '../../../src/rollouts/store/rollouts.js';
import { inferenceRoutes } from '../../platform/http/inference-routes.js';
import {
  evaluationRequest,
  httpOfFile,
  sessionRequest,
  type Answer,
  type TestHttp,
} from '../../platform/http/support.js';

// To a key of one organization the ids of another one are unknown, on every route and method of the
// OpenAPI document and in every field that takes an id.

const http: TestHttp = httpOfFile({ registerInference: (app) => inferenceRoutes(http).registerInference(app) });

interface Resources {
  session: string;
  evaluation: string;
  graph: string;
  deployment: string;
  deploymentName: string;
  schedule: string;
  dataset: string;
  snapshot: string;
  candidate: string;
  graphCandidate: string;
  trace: string;
  key: string;
}
let foreign: Resources;
let own: Resources;

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
const as = (apiKey: string, method: Method, url: string, body?: unknown, type = 'application/json') =>
  http.call(method, url, body, {
    authorization: `Bearer ${apiKey}`,
    ...(body !== undefined && { 'content-type': type }),
  });
const asOther = (method: Method, url: string, body?: unknown) => as(http.otherKey, method, url, body);

/** One resource of each kind, with rows of its own organization. */
async function createResources(apiKey: string, orgId: string): Promise<Resources> {
  const post = async (url: string, body: unknown, type?: string) => {
    const answer = await as(apiKey, 'POST', url, body, type);
    if (answer.status !== 201) throw new Error(`${url}: ${answer.raw.toString()}`);
    return answer.body;
  };
  const tasks = [...'abcdefghijkl'].map((id) => ({ id, input: { question: id } }));
  const deploymentName = `name-${orgId}`;
  const messages = [{ role: 'system', content: orgId }];
  const policy = { provider: 'local', model: 'local' };
  const { session_id: session } = await post('/api/v1/online/sessions', { policy_optimization: sessionRequest });
  const { job_id: evaluation } = await post('/api/v1/offline/jobs', evaluationRequest);
  const { job_id: graph } = await post('/api/graphgen/jobs', {
    dataset: {
      initial_prompt: 'Answer.',
      tasks,
      gold_outputs: tasks.map(({ id }) => ({ task_id: id, output: 'x' })),
      verifier_config: { mode: 'exact' },
    },
    policy_model: 'gpt-4o-mini',
    rollout_budget: 60,
    auto_start: false,
  });
  const { id: deployment } = await post('/api/harbor/deployments', {
    name: deploymentName,
    source: { messages, policy },
  });
  const { dataset_id: dataset } = await post('/api/v1/datasets', `{"input":"${orgId}"}`, 'application/jsonl');
  const { key_id: key } = await post('/api/v1/admin/keys', { name: 'a', scopes: ['read'] });
  const snapshot = await http.db.org(orgId, async (tx) => {
    for (const jobId of [session, graph]) {
      const content = {
        generation: 0,
        parents: [],
        detail: {},
        messages: [{ role: 'system' as const, content: orgId }],
      };
      await addCandidate(tx, { orgId, jobId }, { leverVersion: 0, ...content });
    }
    const rollout = { ordinal: 0, candidate: 0, seed: 0, stage: 'evaluation' as const, generation: 0 };
    for (const jobId of [session, evaluation, graph]) await planRollouts(tx, { orgId, jobId }, [rollout], false);
    return putSnapshot(tx, orgId, {
      kind: 'messages',
      messages: [],
      demos: [],
      levers_marked: false,
      lever_versions: {},
      policy: { provider: orgId, model: 'm' },
      provenance: { source: 'messages', job_id: null, candidate_id: null, reward: null, verdict: null },
    });
  });
  const [candidate, graphCandidate] = [candidateId(session, 0), candidateId(graph, 0)];
  const spec = { every: '1d', checkup: {} } as ScheduleSpec;
  const schedule = await http.db.org(orgId, (tx) =>
    insertSchedule(tx, { name: deploymentName, spec, paused: true, keyId: null }),
  );
  const jobs = { session, evaluation, graph, deployment, deploymentName, schedule };
  return { ...jobs, dataset, snapshot, candidate, graphCandidate, trace: rolloutId(session, 0), key };
}

/** An id in the form of another one, which nobody has. */
function unknownLike(id: string): string {
  return id.startsWith('name-')
    ? 'name-nobody'
    : id.replace(/[0-9A-Za-z]{8}/, (part) => (part === '00000000' ? '1' : '0').repeat(8));
}

/** The ids of a path parameter, given the path in front of it; null: it is no id. */
function idsOf(name: string, prefix: string, of: Resources): string[] | null {
  if (prefix === '/api/v1/offline/jobs') return [of.evaluation, of.session];
  if (prefix === '/api/graphgen/jobs') return [of.graph];
  // Those of other kinds are not found either; kinds/migration/routes.
  if (prefix === '/api/harbor/migrations' || prefix === '/api/harbor/checkups') return [of.session];
  if (prefix === '/api/v1/reviews') return [of.session, of.deployment];
  const isGraph = prefix.startsWith('/api/graphgen/');
  const known: Record<string, string[] | null> = {
    session_id: [of.session],
    deployment_id: [of.deployment, of.deploymentName],
    model: [of.deployment, of.deploymentName],
    snapshot_id: [of.snapshot],
    other: [of.snapshot],
    dataset_id: [of.dataset],
    schedule_id: [of.schedule],
    candidate_id: [isGraph ? of.graphCandidate : of.candidate],
    trace_id: [of.trace],
    subject_id: [of.trace],
    key_id: [of.key],
    prompt_lever_id: [leverId(of.session, null)],
    // For operators alone; e2e/jobs/retention.long.test.ts.
    org_id: null,
    version: null,
    // A name of its own, too.
    label: null,
    correlation_id: null,
    // Signed; kinds/deployment/routes/logged-requests.test.ts.
    answer_id: null,
    // A name; provider-keys.test.ts.
    provider: null,
  };
  const ids = known[name];
  if (ids === undefined) throw new Error(`${prefix}/{${name}}: the test has no id of this parameter`);
  return ids;
}

const chat = { model: 'm', messages: [{ role: 'user', content: 'hello' }] };
const bodies: Record<string, unknown> = {
  patch: { notes: 'theirs' },
  'patch {dataset_id}': { name: 'theirs' },
  'post reward': { reward: 1 },
  'post candidates': { messages: [{ role: 'system', content: 'theirs' }] },
  'post ablations': { component: 'system', sentence: 0 },
  'post hint': { hint: 'theirs' },
  'put {label}': { version: 1 },
  'put {subject_id}': { verdict: 'right' },
  'post rollout': { action: 'pause' },
  'post approval': { approve: true },
  'post schedules': { every: '1d' },
  'post migrations': { to: { provider: 'local', model: 'local' } },
  'post feedback': { answer_id: 'theirs', reward: 1 },
  'post completions': chat,
  'post messages': chat,
  'post responses': { model: 'm', input: 'hello' },
};

interface Attempt {
  name: string;
  method: Method;
  /** The URL with another id in place of the foreign one. */
  url: (id: string) => string;
  body: unknown;
  id: string;
}

let operations: { method: string; path: string; hasBody: boolean }[];
beforeAll(async () => {
  foreign = await createResources(http.key, 'default');
  own = await createResources(http.otherKey, 'other');
  const { paths } = (await http.call('GET', '/openapi.json')).body as {
    paths: Record<string, Record<string, { requestBody?: object }>>;
  };
  operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { requestBody }]) => ({ method, path, hasBody: requestBody !== undefined })),
  );
}, 60_000);

/** Each operation with a foreign id in each place of one: own ids in front, foreign ones behind. */
function attempts(): Attempt[] {
  return operations.flatMap(({ method, path, hasBody }) => {
    const parts = path.split('/');
    return parts.flatMap((part, at) => {
      const name = /^\{(\w+)\}$/.exec(part)?.[1];
      const ids = name === undefined ? null : idsOf(name, parts.slice(0, at).join('/'), foreign);
      return (ids ?? []).map((id) => ({
        name: `${method} ${path} ${name}=${id}`,
        method: method.toUpperCase() as Method,
        url: (tried: string) =>
          parts.map((each, index) => (index === at ? tried : valueOf(each, parts, index, at))).join('/'),
        body: hasBody ? (bodies[`${method} ${parts.at(-1)}`] ?? bodies[method] ?? {}) : undefined,
        id,
      }));
    });
  });
}

function valueOf(part: string, parts: string[], index: number, at: number): string {
  const name = /^\{(\w+)\}$/.exec(part)?.[1];
  if (name === undefined) return part;
  return (
    idsOf(name, parts.slice(0, index).join('/'), index < at || name === 'other' ? own : foreign)?.[0] ??
    (name === 'label' ? 'staging' : '0')
  );
}

/** What a caller can tell apart, without the id and what differs between any two requests. */
function visible({ status, headers, raw }: Answer, id: string) {
  const { date: _date, 'x-request-id': _request, ...kept } = headers;
  return {
    status,
    headers: { ...kept, 'content-length': undefined },
    body: raw
      .toString()
      .replaceAll(id, 'ID')
      .replace(/"request_id":"[^"]*"/, ''),
  };
}

test('a foreign id in a path answers as an unknown one does: 404, on every route and method', async () => {
  const tried = attempts();
  expect(new Set(tried.map(({ method }) => method))).toEqual(new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']));
  const withId = operations.filter(
    ({ path }) => path.includes('{') && !/\/(\{provider\}|orgs\/\{org_id\})$/.test(path),
  );
  expect(new Set(tried.map(({ name }) => name.split(' ', 2).join(' '))).size).toBe(withId.length);
  const wrong: unknown[] = [];
  for (const { name, method, url, body, id } of tried) {
    const unknown = unknownLike(id);
    const answers = [
      visible(await asOther(method, url(id), body), id),
      visible(await asOther(method, url(unknown), body), unknown),
    ];
    if (answers[0]!.status !== 404 || JSON.stringify(answers[0]) !== JSON.stringify(answers[1]))
      wrong.push({ name, answers });
  }
  expect(wrong).toEqual([]);
});

test('what was tried changed nothing', async () => {
  expect(http.commander.sent).toEqual([]);
  for (const path of [
    `/api/v1/online/sessions/${foreign.session}`,
    `/api/v1/offline/jobs/${foreign.evaluation}`,
    `/api/graphgen/jobs/${foreign.graph}`,
    `/api/harbor/deployments/${foreign.deploymentName}`,
    `/api/v1/datasets/${foreign.dataset}`,
  ]) {
    const { status, body } = await http.call('GET', path);
    expect([path, status, body.notes ?? null]).toEqual([path, 200, null]);
  }
  const keys = (await http.call('GET', '/api/v1/admin/keys')).body.data as { key_id: string; revoked_at: unknown }[];
  expect(keys.find(({ key_id: id }) => id === foreign.key)).toMatchObject({ revoked_at: null, replaced_by: null });
});

test('no list shows a foreign id', async () => {
  const lists = operations.filter(
    ({ method, path }) => method === 'get' && path.startsWith('/api/') && !path.includes('{'),
  );
  expect(lists.length).toBeGreaterThan(5);
  for (const { path } of lists) {
    const text = (await asOther('GET', path)).raw.toString();
    for (const id of Object.values(foreign) as string[]) expect([path, text.includes(id)]).toEqual([path, false]);
  }
});

test('a command for many runs answers for a foreign one as for an unknown one, and filters find none', async () => {
  const url = '/api/v1/runs/commands';
  for (const id of [foreign.session, foreign.evaluation, foreign.graph]) {
    const answered = async (tried: string) =>
      visible(await asOther('POST', url, { action: 'archive', job_ids: [tried] }), tried);
    const unknown = await answered(unknownLike(id));
    expect(await answered(id)).toEqual(unknown);
    expect(unknown.body).toContain('refused');
  }
  const { body: found } = await asOther('POST', url, { action: 'cancel', filter: { kind: 'graph' }, dry_run: true });
  expect(found.runs.map(({ job_id }: { job_id: string }) => job_id)).not.toContain(foreign.graph);
  const { body: listed } = await asOther('GET', `/api/v1/runs?dataset=${foreign.dataset}&parts=true&archived=true`);
  expect([listed.data, listed.totals.runs]).toEqual([[], 0]);
});

describe('a field with a foreign id answers as with an unknown one', () => {
  const evaluation = (more: object) => ['/api/v1/offline/jobs', { ...evaluationRequest, ...more }] as const;
  const rows = { scorer: 'exact', policy: evaluationRequest.policy, seeds: [0] };
  const messages = [{ role: 'system', content: '{{input}}' }];
  const deployment = (source: object, more = {}) =>
    ['/api/harbor/deployments', { name: 'theirs', source, ...more }] as const;
  const bare = { messages: [{ role: 'system', content: 'Answer.' }], policy: { provider: 'local', model: 'local' } };
  const graphOn = (id: string) => ({
    dataset: { dataset_id: id, verifier_config: { mode: 'exact' } },
    policy_model: 'local',
    policy_provider: 'local',
  });
  type Request = readonly [url: string, body?: unknown];
  /** What it names, the pointer of the error (null: a 404), and the request. */
  const fields: Record<string, [keyof Resources, string | null, (id: string) => Request]> = {
    'a of a comparison': ['session', null, (id) => [`/api/v1/compare?a=${id}&b=${own.evaluation}`]],
    'b of a comparison': ['candidate', null, (id) => [`/api/v1/compare?a=${own.evaluation}&b=${id}`]],
    'a column of a comparison': ['session', null, (id) => [`/api/v1/compare/many?ids=${own.evaluation},${id}`]],
    'a column of compared rows': ['candidate', null, (id) => [`/api/v1/compare/many/rows?ids=${own.evaluation},${id}`]],
    'the session of an evaluation': [
      'session',
      '/candidate/session_id',
      (id) => evaluation({ candidate: { session_id: id } }),
    ],
    'the candidate of an evaluation': [
      'candidate',
      '/candidate/candidate_id',
      (id) => evaluation({ candidate: { session_id: own.session, candidate_id: id } }),
    ],
    'the data set of an evaluation': [
      'dataset',
      '/dataset/dataset_id',
      (id) => ['/api/v1/offline/jobs', { ...rows, dataset: { dataset_id: id }, candidate: { messages } }],
    ],
    'the data set of a try': [
      'dataset',
      '/dataset/dataset_id',
      (id) => ['/api/v1/try', { ...rows, dataset: { dataset_id: id }, candidate: { messages } }],
    ],
    'the data set of a graph job': [
      'dataset',
      '/dataset/dataset_id',
      (id) => ['/api/graphgen/jobs', { ...graphOn(id), rollout_budget: 60 }],
    ],
    'the data set of a try of a graph': ['dataset', '/dataset/dataset_id', (id) => ['/api/v1/try', graphOn(id)]],
    'the data set of a session': [
      'dataset',
      '/policy_optimization/dataset/dataset_id',
      (id) => [
        '/api/v1/online/sessions',
        {
          policy_optimization: {
            algorithm: 'gepa',
            gepa: sessionRequest.gepa,
            policy: sessionRequest.policy,
            dataset: { dataset_id: id },
            scorer: 'exact',
            initial_prompt: { messages },
          },
        },
      ],
    ],
    'the session of a deployment': ['session', '/source/session_id', (id) => deployment({ session_id: id })],
    'the candidate of a deployment': [
      'candidate',
      '/source/candidate_id',
      (id) => deployment({ session_id: own.session, candidate_id: id }),
    ],
    'the graph job of a deployment': ['graph', '/source/graph_job_id', (id) => deployment({ graph_job_id: id })],
    'the data set of a gate': [
      'dataset',
      '/gate/dataset/dataset_id',
      (id) => deployment(bare, { gate: { dataset: { dataset_id: id }, scorer: 'exact', seeds: [0], min_reward: 0 } }),
    ],
  };

  test.each(Object.entries(fields))('%s', async (_name, [kind, pointer, request]) => {
    const id = foreign[kind];
    const unknown = unknownLike(id);
    const ask = async (tried: string) => {
      const [url, body] = request(tried);
      return visible(await asOther(body === undefined ? 'GET' : 'POST', url, body), tried);
    };
    const answers = [await ask(id), await ask(unknown)];
    expect(answers[0]).toEqual(answers[1]);
    expect(answers[0]!.status).toBe(pointer === null ? 404 : 422);
    if (pointer !== null) expect(answers[0]!.body).toContain(`"errors":[{"pointer":"${pointer}"`);
  });
});
