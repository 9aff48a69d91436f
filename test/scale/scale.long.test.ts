import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Api } from '../support/api.js';
import { firstFree } from '../../src/platform/embedded/ports.js';
import { startCluster, type Cluster } from '../support/servers/cluster.js';
import { answers, startFakeContainer, type FakeContainer } from '../support/fakes/container.js';
import { startFakeModel, type FakeModel } from '../support/fakes/model.js';
import { createEvaluation, createSession, eventsOf, pathOf } from '../support/jobs-over-http.js';
import { range } from '../support/range.js';
import { follow } from '../support/follow.js';
import { startFront } from '../support/servers/load-balancer.js';
import { startTree, type Tree } from '../support/servers/tree.js';
import { propose } from '../support/worlds/rules.js';
import { until } from '../support/until.js';
import { SeededChoice } from '../harness/seeded-choice.js';

// Two APIs and three workers, each in its own process, act as one service. They start at once on an
// empty database; jobs are created, controlled and followed through different APIs; workers and an
// API end by SIGTERM and by kill -9 at seeded moments of the container's ledger; every job ends as
// without kills.

const seed = 20_261_121;
const evaluations = 6;
const seedsEach = 220;
const sessions = 2;
const policy = { provider: 'fake', model: 'any' };
const rules = 4;

interface Job {
  id: string;
  path: string;
  events: string;
  maxConcurrent: number;
  /** The API that created it. */
  createdAt: number;
}

let cluster: Cluster;
let container: FakeContainer;
let model: FakeModel;
let front: Awaited<ReturnType<typeof startFront>>;
let ports: number[];
const apis: Tree[] = [];
const workers: Tree[] = [];
const peaks = new Map<string, number>();

const env = (): Record<string, string> => ({
  ...cluster.env,
  RATCHET_PUBLIC_URL: front.url,
  RATCHET_PROVIDERS: 'fake',
  FAKE_BASE_URL: model.url,
});
const urls = () => ports.map((port) => `http://127.0.0.1:${port}`);
const api = (index: number) => new Api(urls()[index]!, cluster.apiKey);
const serve = (index: number) => startTree({ ...env(), PORT: String(ports[index]) }, { command: 'serve' });
const work = () => startTree(env(), { command: 'worker' });

beforeAll(async () => {
  cluster = await startCluster();
  model = await startFakeModel((request) => ({
    text: JSON.stringify(request.body.messages).includes('needs rule-') ? propose(request) : 'yes',
  }));
  const inFlight = new Map<string, number>();
  container = await startFakeContainer({
    prompt: [{ role: 'system', content: 'Answer well.' }],
    behave: () => (call, response) => {
      const job = call.rolloutId.split('_')[1]!;
      const now = (inFlight.get(job) ?? 0) + 1;
      inFlight.set(job, now);
      peaks.set(job, Math.max(peaks.get(job) ?? 0, now));
      response.once('close', () => inFlight.set(job, inFlight.get(job)! - 1));
      const prompt = call.body.policy.config.prompt_template?.sections[0]?.content ?? '';
      const reward = prompt.includes(`rule-${call.seed % rules}.`) ? 1 : 0;
      const answer =
        call.body.env.env_name === 'asks'
          ? answers.askModel(
              () => ({ system: 's', user: `${call.rolloutId}` }),
              () => ({ reward: 1 }),
            )
          : answers.reward(reward, `needs rule-${call.seed % rules}.`);
      return answers.after(15, answer)(call, response);
    },
  });
  ports = [await firstFree(), await firstFree()];
  front = await startFront(urls);
  // All five at once, on a database without tables and a namespace without search attributes.
  const started = await Promise.all([serve(0), serve(1), work(), work(), work()]);
  apis.push(...started.slice(0, 2));
  workers.push(...started.slice(2));
}, 120_000);
afterAll(async () => {
  await Promise.all([...workers, ...apis].map((role) => role.terminate()));
  await front.close();
  await container.close();
  await model.close();
  await cluster.close();
}, 60_000);

async function evaluate(at: number, seeds = seedsEach): Promise<Job> {
  const spec = { container_url: container.url, env_name: 'asks', seeds: range(0, seeds), policy, max_concurrent: 3 };
  const id = await createEvaluation({ api: api(at) }, spec);
  return { id, path: pathOf(id), events: `${pathOf(id)}/events/stream`, maxConcurrent: 3, createdAt: at };
}

async function search(at: number): Promise<Job> {
  const evaluation = { seeds: range(0, 24) };
  const id = await createSession(
    { api: api(at) },
    {
      container_url: container.url,
      policy,
      gepa: { population_size: 3, generations: 8, minibatch_size: 4, train_seeds: range(100, 40), evaluation },
      max_concurrent: 4,
    },
  );
  return { id, path: pathOf(id), events: `${pathOf(id)}/events`, maxConcurrent: 4, createdAt: at };
}

const query = <Row extends Record<string, unknown>>(sql: string) =>
  cluster.db.org('default', (tx) => tx.query<Row>(sql));
/** Rollouts with a recorded outcome. */
const recorded = async () =>
  (await query<{ id: string }>(`select id from rollouts where status in ('succeeded', 'failed')`)).map(({ id }) => id);
const resent = async () =>
  (await query<{ n: number }>('select coalesce(sum(resent), 0)::int as n from rollouts'))[0]!.n;
const calls = (n: number) => until(`the container has had ${n} calls`, () => container.ledger.length >= n, 120);
const status = async (job: Job, at = 0) => (await api(at).call<{ status: string }>('GET', job.path)).status;

/** Ledger length when each rollout was first seen recorded: it must not run again after it. */
const onRecordAt = new Map<string, number>();
async function note(): Promise<void> {
  const ids = await recorded();
  for (const id of ids) if (!onRecordAt.has(id)) onRecordAt.set(id, container.ledger.length);
}

/** The processes that ran activities of these jobs, from Temporal's histories. */
async function ranBy(jobs: Job[]): Promise<Set<number>> {
  const pids = new Set<number>();
  for (const { id } of jobs) {
    const kind = id.startsWith('evl_') ? 'evaluation' : 'session';
    const { events } = await cluster.temporal.workflow.getHandle(`${kind}-${id}`).fetchHistory();
    for (const { activityTaskStartedEventAttributes: started } of events ?? []) {
      if (started?.identity) pids.add(Number.parseInt(started.identity, 10));
    }
  }
  return pids;
}

test('two APIs and three workers act as one service when some of them end', async () => {
  const jobs = await Promise.all([
    evaluate(0),
    // To be cancelled, so it must not complete before.
    evaluate(1, 10 * seedsEach),
    ...range(2, evaluations - 2).map((i) => evaluate(i % 2)),
    ...range(0, sessions).map((i) => search(i % 2)),
  ]);
  // Follow it at the API that did not create it.
  const followed = jobs.map((job) => follow(urls, 1 - job.createdAt, job.events, cluster.apiKey));
  const evaluationCalls = evaluations * seedsEach;
  const choice = new SeededChoice(seed);
  const moment = (share: number) => Math.floor(evaluationCalls * share) + choice.between(0, 59);

  // A pause through one API applies to all APIs and workers.
  await calls(moment(0.05));
  const [paused] = jobs;
  await api(1 - paused.createdAt).call('POST', `${paused.path}/pause`);
  expect(await status(paused, paused.createdAt)).toBe('paused');

  // SIGTERM to a worker: rollouts in flight end, and none is sent again.
  await calls(moment(0.15));
  const leaving = workers.shift()!;
  expect(await leaving.terminate()).toBe(0);
  await api(paused.createdAt).call('POST', `${paused.path}/resume`);
  await calls(container.ledger.length + 60);
  expect(await resent()).toBe(0);
  expect(container.ledger.filter((entry) => entry.attempt > 1)).toEqual([]);

  // Kill another worker.
  await calls(moment(0.35));
  await note();
  const killed = workers.shift()!;
  await killed.kill();
  workers.push(await work());

  // Kill an API while containers call their model through it and streams are open.
  await calls(moment(0.55));
  await note();
  await apis[0]!.kill();
  const doomed = jobs[1]!;
  await api(1).call('POST', `${doomed.path}/cancel`);
  await calls(container.ledger.length + 100);
  apis[0] = await serve(0);

  const streams = await Promise.all(followed);
  for (const job of jobs) {
    expect(await status(job, 0)).toBe(job === doomed ? 'cancelled' : 'completed');
    expect(await status(job, 1)).toBe(job === doomed ? 'cancelled' : 'completed');
  }

  // No recorded rollout ran again, and its records are complete.
  expect(onRecordAt.size).toBeGreaterThan(evaluationCalls / 4);
  expect(container.ledger.filter((entry, at) => at >= (onRecordAt.get(entry.rolloutId) ?? Infinity))).toEqual([]);
  const twice = await query(
    `select rollout_id from model_calls where purpose = 'rollout' and http_status = 200
      group by rollout_id, request_hash having count(*) > 1`,
  );
  expect(twice).toEqual([]);
  for (const job of jobs) expect(peaks.get(job.id.slice(4))).toBeLessThanOrEqual(job.maxConcurrent);
  for (const job of jobs.slice(0, evaluations).filter((evaluation) => evaluation !== doomed)) {
    const { results } = await api(0).call<{ results: { seed: number; reward: number | null }[] }>(
      'GET',
      `${job.path}/results`,
    );
    expect(results.map((row) => row.seed)).toEqual(range(0, seedsEach));
    expect(results.filter((row) => row.reward !== 1)).toEqual([]);
  }
  for (const job of jobs.slice(evaluations)) {
    expect(await api(1).call('GET', `${job.path}/results`)).toMatchObject({ best_reward: 1 });
  }

  // Events are 1..N, equal at both APIs and in the streams that changed their API.
  for (const [i, job] of jobs.entries()) {
    const [one, other] = await Promise.all([0, 1].map((at) => eventsOf({ api: api(at) }, job.id)));
    expect(one!.map((event) => event.seq)).toEqual(range(1, one!.length));
    expect(other).toEqual(one);
    expect(streams[i]!.map((event) => event.seq)).toEqual(range(1, one!.length));
  }

  // Surviving and ended processes shared the work.
  const pids = await ranBy(jobs);
  expect(pids.size).toBeGreaterThanOrEqual(3);
  for (const pid of [leaving.process.pid, killed.process.pid]) expect(pids).toContain(pid);
}, 300_000);
