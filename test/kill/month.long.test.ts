import { expect, test } from '@jest/globals';
import type { z } from 'zod';
import { jobKinds } from '../../src/core/jobs/kinds.js';
import type { checkupSchema } from '../../src/kinds/checkup/contract/checkup.js';
import { treeOfFile } from '../harness/worlds/processes.js';
import { ask, built, deploy, readDeployment, saying } from '../support/deployments-over-http.js';
import { deployments as base, readJob, type Evaluation, type Session } from '../support/jobs-over-http.js';
import { migrate, migrated } from '../support/migrations-over-http.js';
import { range } from '../support/range.js';
import { until } from '../support/until.js';
import { monthModels as models, monthRow, startMonthWorld } from '../support/worlds/month.js';

// A month of a name in minutes. Its model gets worse, callers report a day later, and processes are
// killed in between: a scheduled checkup sees it, a session improves the prompt, a canary promotes
// it, a bad version is rolled back, the model ends after a migration. What callers and the model
// have written down agrees with every count.

const on = treeOfFile(startMonthWorld);

/** An answer as its caller got it. */
interface Answer {
  id: string;
  by: string;
  reward: number;
  corrected: string;
}

const answers: Answer[] = [];
/** Those that are reported on the next day. */
let yesterday: Answer[] = [];

/** Asks until it is answered, as clients do. */
async function askAs(user: string, seed: number): Promise<Answer> {
  const { question, answer: corrected } = monthRow(seed);
  const body = { user, messages: [{ role: 'user', content: question }] };
  const answered = await until(
    `${user} is answered`,
    async () => {
      const response = await ask(on.tree, name, body);
      const { id, choices } = (await response.json()) as { id: string; choices: { message: { content: string } }[] };
      const by = response.headers.get('x-ratchet-deployment-id')!;
      return response.ok && { id, by, text: choices[0]!.message.content };
    },
    120,
    100,
  );
  const { id, by, text } = answered;
  return { id, by, reward: text === corrected ? 1 : 0, corrected };
}

async function report({ id, reward, corrected }: Answer): Promise<void> {
  await until(
    'the reward is reported',
    () => on.tree.api.call('POST', `${base}/${name}/feedback`, { key: id, answer_id: id, reward, corrected }),
    120,
    100,
  );
}

/** Callers report what they got on the day before, and ask. */
async function day(): Promise<void> {
  await Promise.all(yesterday.map(report));
  yesterday = await Promise.all(range(0, 20).map((n) => askAs(`user-${answers.length + n}`, answers.length + n)));
  answers.push(...yesterday);
}

/** Days until something holds. */
function daysUntil<T>(what: string, look: () => Promise<T>, seconds = 240) {
  return until(
    what,
    async () => {
      await day();
      return look();
    },
    seconds,
    200,
  );
}

const name = 'month';
const rollout = { until: 'decided', steps: [50, 100], min_requests: 10 };
const rows = { dataset: { rows: range(0, 40).map(monthRow), input: 'question', expected: 'answer' }, scorer: 'exact' };

type Checkup = z.output<typeof checkupSchema>;
const checkups = async () =>
  (await on.tree.api.call<{ data: Checkup[] }>('GET', `${jobKinds.checkup.path}?name=${name}`)).data;
const readCheckup = (id: string) => on.tree.api.call<Checkup>('GET', `${jobKinds.checkup.path}/${id}`);
const liveId = async () => (await readDeployment(on.tree, name)).id;

/** Kills one process by kill -9; what started it starts it again. */
async function kill(command: RegExp): Promise<void> {
  const killed = on.tree.processOf(command);
  process.kill(killed, 'SIGKILL');
  await until('it is started again', () => on.tree.processOf(command) !== killed, 90);
}
const worker = /worker-child\.js/;
const temporal = /temporal.*server/;
let kills = 0;

test('a month without anybody who looks', async () => {
  const first = await built(
    on.tree,
    await deploy(on.tree, {
      name,
      source: saying('Answer well.', models.old),
      gate: { ...rows, min_reward: 0.9 },
      log: { sample_rate: 1 },
    }),
  );
  expect(first).toMatchObject({ status: 'ready', gate: { passed: true, candidate: { reward: 1 } } });
  const schedule = await on.tree.api.call<{ schedule_id: string }>('POST', `${base}/${name}/schedules`, {
    every: '1m',
    checkup: {
      max_change: 0.1,
      improve: { proposer: models.proposer, budget: { max_rollouts: 120 }, deploy: { rollout } },
    },
    max_cost_usd_per_month: 1,
  });

  // The first week: all is well.
  const steady = await daysUntil('a checkup has ended', async () =>
    (await checkups()).find(({ status }) => status === 'completed'),
  );
  expect(steady).toMatchObject({ verdict: 'same', checkup_number: 1, deployment: first.id, deployment_id: null });
  expect(await liveId()).toBe(first.id);

  // The second week: the model gets worse, and a worker dies while the session improves the prompt.
  on.world.getWorse();
  const { job_id: seenBy } = await daysUntil('a checkup sees it', async () =>
    (await checkups()).find(({ verdict }) => verdict === 'worse'),
  );
  await on.tree.api.call('PATCH', `/api/harbor/schedules/${schedule.schedule_id}`, { paused: true });
  await until('its session runs', async () => (await readCheckup(seenBy)).steps.some(({ step }) => step === 'session'));
  await kill(worker);
  kills += 1;
  const seen = await daysUntil('the session has improved it', async () => {
    const checkup = await readCheckup(seenBy);
    return checkup.status !== 'running' && checkup;
  });
  expect(seen).toMatchObject({
    status: 'completed',
    rows: { verdict: 'worse', reward: 0, baseline: { reward: 1 } },
    improvement: { verdict: 'better', reward: 1, today: { reward: 0 } },
  });

  // A canary promotes it, beside kills of everything and of Temporal.
  const improved = seen.deployment_id!;
  await daysUntil('it is rolled out', async () => (await readDeployment(on.tree, improved)).status === 'rolling_out');
  await Promise.all([on.tree.kill().then(() => on.tree.start()), day()]);
  await Promise.all([kill(temporal), day()]);
  kills += 2;
  await daysUntil('it is promoted', async () => (await readDeployment(on.tree, improved)).status === 'ready');
  expect(await readDeployment(on.tree, improved)).toMatchObject({
    live: true,
    previous_id: first.id,
    rollout: { status: 'promoted', evidence: { metric: { verdict: 'better' } } },
  });

  // The third week: somebody deploys a bad version.
  const bad = await deploy(on.tree, { name, source: saying('Be brief.', models.old), rollout });
  await daysUntil('it is rolled back', async () => (await readDeployment(on.tree, bad)).status === 'failed');
  expect(await readDeployment(on.tree, bad)).toMatchObject({ error_details: { code: 'canary_rolled_back' } });
  expect(await liveId()).toBe(improved);

  // The fourth week: the model ends; a worker dies while the name moves to the next one.
  const migration = await migrate(on.tree, name, {
    to: models.next,
    max_loss: 0.2,
    optimize: 'never',
    deploy: { rollout: { hold: '2s', steps: [50, 100], min_requests: 5 } },
  });
  await kill(worker);
  kills += 1;
  const moved = await migrated(on.tree, migration, 180);
  expect(moved).toMatchObject({ status: 'completed', verdict: 'no_worse', side: 'same_prompt' });
  const last = moved.deployment_id!;
  await daysUntil('it is promoted', async () => (await readDeployment(on.tree, last)).status === 'ready');
  on.world.retire();
  const before = answers.length;
  await day();
  await day();
  expect(new Set(answers.slice(before).map(({ by, reward }) => `${by} ${reward}`))).toEqual(new Set([`${last} 1`]));

  await Promise.all(yesterday.map(report));
  await agrees([first.id, improved, bad, last]);
}, 1_800_000);

interface Counted {
  requests: number;
  errors: number;
  metrics: { reward?: { count: number; mean: number } };
}

/** What callers and the model have written down, beside what the service says. */
async function agrees(versions: string[]): Promise<void> {
  const { api } = on.tree;
  const rewardOf = (all: Answer[]) => all.reduce((sum, { reward }) => sum + reward, 0) / all.length;
  let served = 0;
  for (const id of versions) {
    const own = answers.filter(({ by }) => by === id);
    const { requests, errors, metrics } = await api.call<Counted>('GET', `${base}/${id}/stats`);
    // A killed process may have counted an answer that its caller did not get.
    expect(requests).toBeGreaterThanOrEqual(own.length);
    expect(errors).toBe(0);
    expect(metrics.reward).toMatchObject({ count: own.length, mean: expect.closeTo(rewardOf(own), 9) });
    served += requests;
  }
  expect(served - answers.length).toBeLessThanOrEqual(20 * kills);

  const jobs: (Session | Evaluation)[] = [];
  for (const kind of ['session', 'evaluation'] as const)
    for await (const { job_id } of pagesOf<{ job_id: string }>(jobKinds[kind].path))
      jobs.push(await readJob<Session | Evaluation>(on.tree, job_id));
  expect(new Set(jobs.map(({ status }) => status))).toEqual(new Set(['completed']));
  const { used } = await api.call<{ used: { spend_usd_per_day: number } }>('GET', '/api/v1/admin/limits');
  const { calls, usd } = on.world.answered();
  const counted = served + jobs.reduce((sum, { usage }) => sum + usage.calls, 0);
  // An answer in flight at a kill is bought again, and counted once.
  expect(calls).toBeGreaterThanOrEqual(counted);
  expect(calls - counted).toBeLessThanOrEqual(25 * kills);
  expect(Math.abs(usd - used.spend_usd_per_day)).toBeLessThanOrEqual(0.02 * usd);
}

/** All jobs of a list. */
async function* pagesOf<Job>(path: string): AsyncGenerator<Job> {
  for (let cursor = ''; ;) {
    const page = await on.tree.api.call<{ data: Job[]; next_cursor: string | null }>(
      'GET',
      `${path}?limit=100${cursor && `&cursor=${cursor}`}`,
    );
    yield* page.data;
    if (page.next_cursor === null) return;
    cursor = page.next_cursor;
  }
}
