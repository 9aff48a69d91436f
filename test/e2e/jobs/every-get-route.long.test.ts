import { afterEach, expect, test } from '@jest/globals';
import { askedOf, checkUp, checkups } from '../../support/checkups-over-http.js';
import { built, deploy, readDeployment, saying } from '../../support/deployments-over-http.js';
import { answers, startFakeContainer, type Behaviour, type FakeContainer } from '../../support/fakes/container.js';
import { startFakeModel } from '../../support/fakes/model.js';
import { echo, startTraffic, type Traffic } from '../../support/fakes/traffic.js';
import { gate } from '../../support/gate.js';
import { ApiReader, walkGetRoutes, type Ids } from '../../support/get-routes.js';
import {
  createEvaluation,
  createGraphJob,
  createSession,
  deployments,
  ended,
  evaluations,
  graphs,
  kindOf,
  pathOf,
  readJob,
  sessions,
  type Evaluation,
} from '../../support/jobs-over-http.js';
import type { JobKind } from '../../../src/core/jobs/kinds.js';
import { migrate, migrations } from '../../support/migrations-over-http.js';
import { range } from '../../support/range.js';
import { serviceOfFile } from '../../support/service-of-file.js';
import { until } from '../../support/until.js';
import { startDemosWorld } from '../../support/worlds/demos.js';
import { isProposal } from '../../support/worlds/asked.js';
import { startGraphWorld } from '../../support/worlds/graph.js';

// Every GET route of the OpenAPI document answers for every kind of job, running and ended.

/** A checkup and a migration. */
const ofServed: string[] = [];
/** Opened when the running jobs may end. */
const release = gate();

/** Holds a job's rollouts from the given one on until `release` opens. */
const holdFrom =
  (from: number, container: () => FakeContainer, next: Behaviour): Behaviour =>
  async (call, response) => {
    const index = container().ledger.filter(({ rolloutId }) => jobPart(rolloutId) === jobPart(call.rolloutId)).length;
    if (index > from) await release.opened;
    await next(call, response);
  };
const jobPart = (rolloutId: string) => rolloutId.split('_')[1];

/** A container for searches, one for evaluations and gates, and the models of each kind of job. */
async function startWorld() {
  const demos = await startDemosWorld();
  demos.container.behave(() => holdFrom(10, () => demos.container, demos.ask));
  const graph = await startGraphWorld();
  graph.model.reply(async (request) => {
    if (isProposal(request.body.messages)) await release.opened;
    return graph.answer(request);
  });
  const live = await startFakeModel(async (request) => {
    if (live.requests.length > 40) await release.opened;
    return echo(request);
  });
  const scored: FakeContainer = await startFakeContainer({
    behave: () => holdFrom(3, () => scored, answers.reward(1)),
  });
  return {
    demos,
    graph,
    scored,
    env: {
      ...graph.env,
      RATCHET_PROVIDERS: 'fake,graph,live',
      FAKE_BASE_URL: demos.model.url,
      GRAPH_BASE_URL: graph.model.url,
      LIVE_BASE_URL: live.url,
    },
    close: async () => {
      await Promise.all([demos.close(), graph.close(), live.close(), scored.close()]);
    },
  };
}

const on = serviceOfFile(startWorld);
let traffic: Traffic | undefined;
// Release before the service stops, also after a failure.
afterEach(async () => {
  release.open();
  await traffic?.stop();
});

const seeds = { evaluation: { seeds: range(0, 6), heldout_seeds: range(50, 4) } };

/** One running job of each kind; each search has an evaluated baseline. */
async function startJobs(): Promise<string[]> {
  const { service, world } = on;
  const train = { minibatch_size: 3, train_seeds: range(100, 8), ...seeds };
  const searches = await Promise.all([
    createSession(service, { ...world.demos.job, gepa: { population_size: 2, generations: 2, ...train } }),
    createSession(service, {
      ...world.demos.job,
      algorithm: 'mipro',
      mipro: { num_candidates: 3, num_trials: 3, ...train },
    }),
    createSession(service, {
      rollouts: 'caller',
      policy: { provider: 'live', model: 'live' },
      proposer: { provider: 'live', model: 'proposer' },
      initial_prompt: { messages: [{ role: 'system', content: 'Answer well.' }] },
      gepa: { population_size: 2, generations: 2, minibatch_size: 2, evaluation: { seeds: range(0, 4) } },
    }),
    createGraphJob(
      service,
      world.graph.job(8, { policy_provider: 'graph', proposer: { model: 'writer', provider: 'graph' } }),
    ),
  ]);
  const [gepa, , live, graph] = searches;
  traffic = startTraffic({
    urls: () => [service.url],
    apiKey: service.apiKey,
    sessionId: live!,
    inFlight: 2,
    seed: (n) => n % 4,
    score: (prompt, n) => ({ reward: prompt.includes(`rule-${n % 4}.`) ? 1 : 0, feedback: `needs rule-${n % 4}.` }),
  });
  const reader = new ApiReader(service);
  for (const id of searches)
    await until(`${id} has an evaluated candidate`, async () => {
      return (await reader.column(`${pathOf(id)}/candidates?status=evaluated`, 'candidate_id')).length > 0;
    });

  const scored = { container_url: world.scored.url, seeds: range(0, 6) };
  const evaluation = await createEvaluation(service, { ...scored, policy: world.demos.job.policy });
  const judged = { gate: { ...scored, min_reward: 0.5 } };
  const deployed = await Promise.all([
    deploy(service, { name: 'prompt', source: { session_id: gepa }, ...judged }),
    deploy(service, { name: 'graph', source: { graph_job_id: graph }, ...judged }),
  ]);
  for (const id of deployed)
    await until(`${id} is judged`, async () => (await readDeployment(service, id)).status === 'building');
  await until('an evaluation has results', async () => {
    const { results } = await readJob<Evaluation>(service, evaluation);
    return results !== null;
  });
  return [...searches, evaluation, ...deployed];
}

/** Path parameters with a fixed set of values in the API. */
function idsOf(jobs: readonly string[]): Record<string, Ids> {
  const reader = new ApiReader(on.service);
  const column =
    (field: string): Ids =>
    (path) =>
      reader.column(path, field);
  const kinds: Record<string, JobKind> = {
    [sessions]: 'session',
    [evaluations]: 'evaluation',
    [graphs]: 'graph',
    [deployments]: 'deployment',
    [checkups]: 'checkup',
    [migrations]: 'migration',
  };
  const ofPath: Ids = (path) => [...jobs, ...ofServed].filter((id) => kindOf(id) === kinds[path]);
  const snapshots: Ids = () =>
    Promise.all(
      jobs
        .filter((id) => kindOf(id) === 'deployment')
        .map(async (id) => String((await readDeployment(on.service, id)).snapshot_id)),
    );
  return {
    session_id: ofPath,
    job_id: ofPath,
    deployment_id: async (path) => [...(await ofPath(path)), 'served'],
    snapshot_id: snapshots,
    other: snapshots,
    dataset_id: column('dataset_id'),
    key_id: column('key_id'),
    schedule_id: column('schedule_id'),
    answer_id: column('answer_id'),
    candidate_id: column('candidate_id'),
    prompt_lever_id: column('lever_id'),
    version: column('version'),
    model: () => ['served'],
    trace_id: async (path) => (await reader.traceIds(path)).slice(0, 5),
  };
}

async function walk(jobs: readonly string[]) {
  const [candidateId] = await new ApiReader(on.service).column(`${sessions}/${jobs[0]!}/candidates`, 'candidate_id');
  return walkGetRoutes(on.service, idsOf(jobs), {
    kind: 'optimization',
    system_id: 'any',
    system_name: 'any',
    name: 'prompt',
    exclude: 'worker',
    metadata: '{}',
    tag: 'any',
    correlation_id: traffic!.calls[0]!.correlationId,
    a: jobs[0]!,
    b: jobs[0]!,
    ids: jobs.slice(0, 2).join(','),
    baseline: jobs[0]!,
    column: jobs[1]!,
    job_id: jobs[0]!,
    candidate_id: candidateId!,
    against: 'parent',
    by: 'any',
    dataset: 'any',
    model: 'any',
    org_id: 'default',
    created_by: 'any',
    label: 'production',
    code: 'any',
    q: 'any',
    expected: 'any',
    answered: 'any',
    feedback: 'any',
    min_reward: '0',
    max_reward: '1',
  });
}

/** Compares every job with itself; returns the statuses with the number of seeds without a tie. */
const compareAll = (jobs: readonly string[]) =>
  Promise.all(
    jobs.map(async (id) => {
      const { status, body } = await new ApiReader(on.service).get(`/api/v1/compare?a=${id}&b=${id}`);
      const { tied, seeds_compared } = JSON.parse(body.toString()) as { tied: number; seeds_compared: number };
      return { id, status, notTied: seeds_compared - tied };
    }),
  );

test('every GET route answers for every kind of job', async () => {
  const { url, apiKey } = on.service;
  const uploaded = await fetch(`${url}/api/v1/datasets`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/jsonl' },
    body: '{"text":"one"}\n{"text":"two"}',
  });
  expect(uploaded.status).toBe(201);
  const source = saying('Answer well.', { provider: 'graph', model: 'graph' });
  await built(on.service, await deploy(on.service, { name: 'served', source, log: {} }));
  await askedOf(on.service, 'served', 1);
  const dataset = { rows: [{ input: 'one', expected: 'One.' }] };
  const judged = { rows: { dataset, scorer: 'exact' } };
  const schedule = { every: '1d', checkup: judged, paused: true };
  await on.service.api.call('POST', `${deployments}/served/schedules`, schedule);
  const moved = { to: { provider: 'graph', model: 'other' }, dataset, scorer: 'exact', optimize: 'never' };
  ofServed.push((await checkUp(on.service, 'served', judged)).job_id, await migrate(on.service, 'served', moved));
  const jobs = await startJobs();
  const running = await walk(jobs);
  expect(running.wrong).toEqual([]);
  const same = jobs.map((id) => ({ id, status: 200, notTied: 0 }));
  // A gate that has just begun has no rollout to compare.
  await until('every job has a rollout', async () => (await compareAll(jobs)).every(({ status }) => status === 200));
  expect(await compareAll(jobs)).toEqual(same);
  for (const id of jobs) {
    const { status } =
      kindOf(id) === 'deployment' ? await readDeployment(on.service, id) : await readJob(on.service, id);
    expect([id, status]).toEqual([id, kindOf(id) === 'deployment' ? 'building' : 'running']);
  }

  release.open();
  for (const id of jobs) {
    const { status } = kindOf(id) === 'deployment' ? await built(on.service, id) : await ended(on.service, id);
    expect([id, status]).toEqual([id, kindOf(id) === 'deployment' ? 'ready' : 'completed']);
  }
  await traffic!.stop();
  const finished = await walk(jobs);
  expect(finished.wrong).toEqual([]);
  expect(await compareAll(jobs)).toEqual(same);
  expect(finished.requests).toBeGreaterThan(finished.routes.length * 5);
}, 300_000);
