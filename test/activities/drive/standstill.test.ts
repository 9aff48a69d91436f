import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { pino } from 'pino';
import type { ActivityDeps } from '../../../activities/deps.js';
import { driveActivity } from '../../../activities/lifecycle/drive.js';
import { prepareActivities } from '../../../activities/lifecycle/prepare.js';
import type { ShownSlice } from '../../../activities/drive/rest.js';
import { RolloutRunners } from '../../../activities/rollouts/run.js';
import { createContainerClient, type ContainerClient } from '../../../src/clients/container/client.js';
import { createProviders } from '../../../src/models/client/providers.js';
import { createMetrics } from '../../../src/service/metrics.js';
import { mergeMetrics } from '../../../src/service/metrics/serve.js';
import { createSession, startHttp, type TestHttp } from '../../platform/http/support.js';
import { activityOf } from '../../support/job-activity.js';
import { startRulesWorld, type RulesWorld } from '../../support/worlds/rules.js';

// Invariant: an attempt whose work stands still ends by itself, and the next one goes on from its
// record; nothing but what hung runs again.

let http: TestHttp;
let world: RulesWorld;
let container: ContainerClient;
beforeAll(async () => {
  [http, world] = await Promise.all([startHttp(), startRulesWorld(6)]);
  container = createContainerClient({ egress: { mode: 'dev', allowlist: [] } });
});
afterAll(async () => {
  await container.close();
  await world.close();
  await http.close();
});

/** A hundred times as fast. */
const limits = { everyMs: 20, tickMs: 2_000 };
const never = () => new Promise<never>(() => undefined);

/** A prepared session, and attempts of its search in which something may hang. */
async function startSearch() {
  const id = await createSession(http, {
    container_url: world.container.url,
    gepa: { population_size: 2, generations: 3, minibatch_size: 2, evaluation: { seeds: [0, 1, 2, 3, 4, 5] } },
    max_concurrent: 4,
    rollout_timeout: 1,
    rng_seed: 7,
  });
  const job = { orgId: 'default', jobId: id };
  const metrics = createMetrics();
  const deps = {
    db: http.db,
    container,
    providers: createProviders({ OPENAI_BASE_URL: world.model.url, OPENAI_API_KEY: 'sk-test' }),
    secretKey: http.deps.secretKey,
    notifications: http.deps.notifications,
    publicUrl: 'http://127.0.0.1:9',
    draining: new AbortController().signal,
    metrics,
    log: pino({ level: 'silent' }),
  } as unknown as ActivityDeps;
  await activityOf(id).run(prepareActivities(deps).prepare, job);
  const attempt = (changed: Partial<ActivityDeps> = {}): Promise<ShownSlice> => {
    const all = { ...deps, ...changed };
    return activityOf(id).run(driveActivity(all, new RolloutRunners(all), limits).drive, job);
  };
  const stoodStill = async (work: string) =>
    (await mergeMetrics([metrics.values])).includes(`ratchet_work_stood_still_total{work="${work}"} 1`);
  const sent = () => world.container.callsOf(id).map(({ rolloutId }) => rolloutId);
  return { id, deps, attempt, stoodStill, sent };
}

/** True once, for the call with this number. */
const once = (number: number) => {
  let calls = 0;
  return () => (calls += 1) === number;
};

const isDone = ({ rest }: ShownSlice) => rest.kind === 'ended' && rest.end.kind === 'completed';
const failure = { type: 'work_stood_still', nonRetryable: false };

test('a rollout whose promise never settles ends the attempt; the others are kept', async () => {
  const { attempt, stoodStill, sent } = await startSearch();
  const mustHang = once(3);
  const hanging: ContainerClient = {
    ...container,
    rollout: (...asked) => (mustHang() ? never() : container.rollout(...asked)),
  };
  await expect(attempt({ container: hanging })).rejects.toMatchObject(failure);
  expect(await stoodStill('rollout')).toBe(true);
  expect(isDone(await attempt())).toBe(true);
  expect(new Set(sent()).size).toBe(sent().length);
}, 30_000);

test('a proposer whose call never settles ends the attempt', async () => {
  const { deps, attempt, stoodStill, sent } = await startSearch();
  const mustHang = once(1);
  const forPayer: ActivityDeps['providers']['forPayer'] = (...payer) => {
    const client = deps.providers.forPayer(...payer);
    return { ...client, send: (...call) => (mustHang() ? never() : client.send(...call)) };
  };
  await expect(attempt({ providers: { ...deps.providers, forPayer } })).rejects.toMatchObject(failure);
  expect(await stoodStill('proposals')).toBe(true);
  expect(isDone(await attempt())).toBe(true);
  expect(new Set(sent()).size).toBe(sent().length);
}, 60_000);

test('a transaction that never settles ends the attempt, which then starts nothing', async () => {
  const { id, attempt, stoodStill, sent } = await startSearch();
  const mustHang = once(3);
  const orgHot: ActivityDeps['db']['orgHot'] = (...asked) => (mustHang() ? never() : http.db.orgHot(...asked));
  await expect(attempt({ db: { ...http.db, orgHot } })).rejects.toMatchObject(failure);
  expect(await stoodStill('line')).toBe(true);
  const before = sent().length;
  await http.db.org('default', (tx) =>
    tx.query('update job_controls set lease_expires_at = clock_timestamp() where job_id = $1', [id]),
  );
  expect(isDone(await attempt())).toBe(true);
  expect(sent().length).toBeGreaterThan(before);
}, 60_000);
