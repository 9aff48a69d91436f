import { expect, test } from '@jest/globals';
import { treeOfFile } from '../harness/worlds/processes.js';
import { ask, built, deploy, readDeployment, saying } from '../support/deployments-over-http.js';
import { startFakeModel } from '../support/fakes/model.js';
import { deployments as base, eventsOf } from '../support/jobs-over-http.js';
import { range } from '../support/range.js';
import { until } from '../support/until.js';

// kill -9 of the whole tree, of the worker and of Temporal, one of them in each step of a rollout:
// the decision is what it is without kills, each answered request is in the counts of exactly one
// version, and a user who has the new version keeps it.

const on = treeOfFile(async () => {
  const model = await startFakeModel();
  return { model, env: { RATCHET_PROVIDERS: 'fake', FAKE_BASE_URL: model.url }, close: () => model.close() };
});

const worker = /worker-child\.js/;
const temporal = /temporal.*server/;
const steps = [20, 40, 60, 100];

/** Answered requests by version, in their order. */
const answered: { user: string; by: string; id: string }[] = [];

/** Asks for a user until it is answered, as clients do; reports a reward if asked to. */
async function askFor(user: string, reward?: (by: string) => number): Promise<void> {
  const one = await until(
    `${user} is answered`,
    async () => {
      const body = { user, messages: [{ role: 'user', content: 'Where is my card?' }] };
      const response = await ask(on.tree, 'killed', body).catch(() => null);
      if (response?.status !== 200) return false;
      const { id } = (await response.json().catch(() => ({}))) as { id?: string };
      return id !== undefined && { id, by: response.headers.get('x-ratchet-deployment-id')! };
    },
    120,
  );
  answered.push({ user, ...one });
  if (!reward) return;
  const report = { answer_id: one.id, reward: reward(one.by) };
  await until(
    'the reward is reported',
    () => on.tree.api.call('POST', `${base}/killed/feedback`, report).catch(() => false),
    120,
  );
}

/** Kills one part by kill -9; what started it starts it again. */
async function killPart(command: RegExp): Promise<void> {
  const killed = on.tree.processOf(command);
  process.kill(killed, 'SIGKILL');
  await until(
    'it is started again',
    () => {
      try {
        return on.tree.processOf(command) !== killed;
      } catch {
        return false;
      }
    },
    90,
  );
}

const kills = [
  async () => {
    await on.tree.kill();
    await on.tree.start();
  },
  () => killPart(worker),
  () => killPart(temporal),
];

test('a rollout decides as without kills, and no answered request is lost or counted twice', async () => {
  const live = await deploy(on.tree, { name: 'killed', source: saying('live') });
  await built(on.tree, live);
  const rollout = { until: 'decided', steps, min_requests: 8, sticky_by: 'user' };
  const next = await deploy(on.tree, { name: 'killed', source: saying('next'), rollout });
  const read = () => readDeployment(on.tree, next).catch(() => null);
  let users = 0;
  for (const [step, kill] of kills.entries()) {
    await until(`step ${step + 1}`, async () => ((await read())?.rollout?.step ?? 0) >= step + 1, 120);
    await Promise.all([kill(), ...range(0, 6).map(() => askFor(`user-${(users += 1)}`))]);
    await until(
      'the step has its requests',
      async () => {
        await Promise.all(range(0, 6).map(() => askFor(`user-${(users += 1)}`)));
        const rollout = (await read())?.rollout;
        return rollout !== undefined && rollout !== null && (rollout.step > step + 1 || step === kills.length - 1);
      },
      120,
    );
  }
  // Who has the new version keeps it.
  const ofNext = answered.filter(({ by }) => by === next).slice(0, 10);
  for (const { user } of ofNext) await askFor(user);
  expect(answered.slice(-ofNext.length).map(({ by }) => by)).toEqual(ofNext.map(() => next));

  await until(
    'it is promoted',
    async () => {
      await Promise.all(range(0, 20).map(() => askFor(`user-${(users += 1)}`, (by) => (by === next ? 1 : 0))));
      return (await read())?.status === 'ready';
    },
    180,
  );
  const deployment = await built(on.tree, next, 120);
  expect(deployment).toMatchObject({ status: 'ready', live: true, previous_id: live, rollout: { status: 'promoted' } });
  const events = await eventsOf(on.tree, next);
  expect(events.filter(({ type }) => type === 'canary_step').map(({ data }) => data)).toMatchObject([
    { percent: 20 },
    { percent: 40 },
    { percent: 60 },
  ]);
  expect(events.filter(({ type }) => type === 'canary_decided')).toHaveLength(1);

  // The model's ledger bounds the counts: a killed API may lose a request that nobody got.
  const sent = on.world.model.requests.length;
  const counted = async (id: string) =>
    (await on.tree.api.call<{ requests: number }>('GET', `${base}/${id}/stats`)).requests;
  const [ofLive, ofNew] = [await counted(live), await counted(next)];
  const by = (id: string) => answered.filter((one) => one.by === id).length;
  expect(ofLive).toBeGreaterThanOrEqual(by(live));
  expect(ofNew).toBeGreaterThanOrEqual(by(next));
  expect(ofLive + ofNew).toBeLessThanOrEqual(sent);
  expect(sent - answered.length).toBeLessThanOrEqual(6 * kills.length);
}, 600_000);
