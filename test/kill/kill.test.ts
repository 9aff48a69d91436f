import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startIntents } from '../../examples/intents/container.js';
import { seedRng, uniformInt } from '../../src/core/math/random.js';
import { judgeFrames } from '../support/frames.js';
import { startLedger } from '../support/fakes/ledger.js';
import { until } from '../support/until.js';
import { RestartableTree } from '../harness/worlds/processes.js';

// kill -9 of the whole `npm start` tree, three times, at seeded moments of an evaluation and of a
// session. By the container's own ledger, a file outside the product: no rollout with a recorded
// outcome runs again, and each runs again at most once per kill. Events are 1..N, the winner equals
// that of a session without a kill, and each rollout is in one sensor frame.

const seed = 20_261_121;
const kills = 3;
const seeds = (from: number, n: number) => Array.from({ length: n }, (_, i) => from + i);
const policy = { provider: 'local', model: 'local' };
const sessionRollouts = 320;
const evaluationSeeds = 280;

let container: Awaited<ReturnType<typeof startIntents>>;
let ledger: Awaited<ReturnType<typeof startLedger>>;
let tree: RestartableTree;

interface Event {
  seq: number;
  type: string;
  data: { rollout_id?: string };
}

beforeAll(async () => {
  tree = new RestartableTree();
  const ledgerFile = join(tree.folder, 'ledger');
  writeFileSync(ledgerFile, '');
  container = await startIntents({ port: 0 });
  ledger = await startLedger(container.url, ledgerFile);
  await tree.start();
}, 120_000);
afterAll(async () => {
  await tree.close();
  await ledger.close();
  await container.close();
}, 60_000);

const createSession = async () =>
  (
    await tree.api.call<{ session_id: string }>('POST', '/api/v1/online/sessions', {
      policy_optimization: {
        algorithm: 'gepa',
        container_url: ledger.url,
        policy,
        gepa: {
          population_size: 3,
          generations: 6,
          minibatch_size: 5,
          train_seeds: seeds(0, 80),
          evaluation: { seeds: seeds(100, 30) },
        },
        budget: { max_rollouts: sessionRollouts },
        rng_seed: 7,
        max_concurrent: 4,
      },
    })
  ).session_id;
const createEvaluation = async () =>
  (
    await tree.api.call<{ job_id: string }>('POST', '/api/v1/offline/jobs', {
      container_url: ledger.url,
      app_id: 'kill',
      env_name: 'test',
      seeds: seeds(0, evaluationSeeds),
      policy,
      max_concurrent: 3,
    })
  ).job_id;

async function allEvents(path: string): Promise<Event[]> {
  const events: Event[] = [];
  for (;;) {
    const page = await tree.api.call<{ events: Event[]; has_more: boolean }>(
      'GET',
      `${path}?since_seq=${events.length}&limit=500`,
    );
    events.push(...page.events);
    if (!page.has_more) return events;
  }
}
const recordedIn = (events: Event[]) => events.flatMap((event) => event.data.rollout_id ?? []);
const sessionPath = (id: string) => `/api/v1/online/sessions/${id}`;
const evaluationPath = (id: string) => `/api/v1/offline/jobs/${id}`;
const status = async (path: string) => (await tree.api.call<{ status: string }>('GET', path)).status;

/** A session's results without its own ids. */
async function found(id: string) {
  const { best_prompt, history } = await tree.api.call<{ best_prompt: unknown; history: unknown }>(
    'GET',
    `${sessionPath(id)}/results`,
  );
  const { candidates } = await tree.api.call<{
    candidates: { lever_version: number; status: string; reward: number | null }[];
  }>('GET', sessionPath(id));
  return {
    best_prompt,
    history,
    candidates: candidates.map(({ lever_version, status, reward }) => ({ lever_version, status, reward })),
  };
}

test('loses nothing and repeats no recorded rollout', async () => {
  const undisturbed = await createSession();
  await until(
    'the session without a kill has completed',
    async () => (await status(sessionPath(undisturbed))) === 'completed',
    120,
  );
  const expected = await found(undisturbed);

  const session = await createSession();
  const evaluation = await createEvaluation();
  let rng = seedRng(seed);
  const recordedBefore = new Map<string, number>();
  for (let kill = 0; kill < kills; kill += 1) {
    let offset: number;
    [offset, rng] = uniformInt(rng, 60);
    const threshold = 40 + kill * 80 + offset;
    await until(
      `${threshold} rollouts are recorded`,
      async () => {
        const lists = await Promise.all([
          allEvents(`${sessionPath(session)}/events`),
          allEvents(`${evaluationPath(evaluation)}/events/stream`),
        ]);
        return lists.some((events) => recordedIn(events).length >= threshold);
      },
      120,
    );
    const events = [
      ...(await allEvents(`${sessionPath(session)}/events`)),
      ...(await allEvents(`${evaluationPath(evaluation)}/events/stream`)),
    ];
    await tree.kill();
    // Later ledger entries follow the kill.
    const mark = ledger.lines().length;
    for (const id of recordedIn(events)) if (!recordedBefore.has(id)) recordedBefore.set(id, mark);
    await tree.start();
  }
  const sessionEnd = await until(
    'the session is terminal',
    async () => terminal(await status(sessionPath(session))),
    180,
  );
  const evaluationEnd = await until(
    'the evaluation is terminal',
    async () => terminal(await status(evaluationPath(evaluation))),
    180,
  );
  expect([sessionEnd, evaluationEnd]).toEqual(['completed', 'completed']);

  const lines = ledger.lines();
  const again = lines.filter((line) => line.what === 'in' && line.at >= (recordedBefore.get(line.rollout) ?? Infinity));
  expect(again).toEqual([]);
  expect(recordedBefore.size).toBeGreaterThan(100);

  const calls = new Map<string, number>();
  for (const line of lines) if (line.what === 'in') calls.set(line.rollout, (calls.get(line.rollout) ?? 0) + 1);
  expect(Math.max(...calls.values())).toBeLessThanOrEqual(1 + kills);
  // At each kill at most the calls in flight, max_concurrent, and as many whose answers were on
  // their way to Postgres.
  const resent = [...calls.values()].reduce((sum, n) => sum + n - 1, 0);
  expect(resent).toBeLessThanOrEqual(kills * 2 * (4 + 3));

  for (const path of [`${sessionPath(session)}/events`, `${evaluationPath(evaluation)}/events/stream`]) {
    const events = await allEvents(path);
    expect(events.map((event) => event.seq)).toEqual(events.map((_, i) => i + 1));
    const ids = recordedIn(
      events.filter((event) => event.type === 'rollout_completed' || event.type === 'eval.policy.seed.completed'),
    );
    expect(new Set(ids).size).toBe(ids.length);
  }
  const { results } = await tree.api.call<{ results: { seed: number; reward: number | null }[] }>(
    'GET',
    `${evaluationPath(evaluation)}/results`,
  );
  expect(results.map((row) => row.seed)).toEqual(seeds(0, evaluationSeeds));
  expect(results.filter((row) => row.reward === null)).toEqual([]);
  expect(await found(session)).toEqual(expected);
  await judgeFrames(tree.api, session);
}, 600_000);

function terminal(status: string): string | null {
  return ['completed', 'failed', 'cancelled'].includes(status) ? status : null;
}
