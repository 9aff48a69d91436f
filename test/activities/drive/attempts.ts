import { afterAll, afterEach, beforeAll } from '@jest/globals';
import { pino } from 'pino';
import type { ActivityDeps } from '../../../activities/deps.js';
import type { ShownSlice } from '../../../activities/drive/rest.js';
import { driveActivity } from '../../../activities/lifecycle/drive.js';
import { prepareActivities } from '../../../activities/lifecycle/prepare.js';
import { RolloutRunners } from '../../../activities/rollouts/run.js';
import type { WatchLimits } from '../../../activities/watch/watch.js';
import { createContainerClient, type ContainerClient } from '../../../src/clients/container/client.js';
import { createProviders } from '../../../src/models/client/providers.js';
import { createMetrics } from '../../../src/service/metrics.js';
import { createSession, startHttp, type TestHttp } from '../../platform/http/support.js';
import { activityOf } from '../../support/job-activity.js';
import { startRulesWorld, type RulesWorld } from '../../support/worlds/rules.js';

/** What the attempts of a file's searches run on. */
export interface AttemptWorld {
  http: TestHttp;
  world: RulesWorld;
  container: ContainerClient;
}

/** For all tests of a file; the world is reset after each. */
export function attemptWorldOfFile(): AttemptWorld {
  const on = {} as AttemptWorld;
  beforeAll(async () => {
    [on.http, on.world] = await Promise.all([startHttp(), startRulesWorld(6)]);
    on.container = createContainerClient({ egress: { mode: 'dev', allowlist: [] } });
  });
  afterAll(async () => {
    await on.container.close();
    await on.world.close();
    await on.http.close();
  });
  afterEach(() => on.world.reset());
  return on;
}

/** A prepared session of so many generations, and attempts of its search. */
export async function startSearch(
  { http, world, container }: AttemptWorld,
  { generations, ...spec }: { generations: number; rollout_timeout?: number },
  limits?: Partial<WatchLimits>,
) {
  const id = await createSession(http, {
    container_url: world.container.url,
    gepa: {
      population_size: 2,
      generations,
      minibatch_size: 2,
      demonstrations: 0,
      evaluation: { seeds: [0, 1, 2, 3, 4, 5] },
    },
    max_concurrent: 4,
    rng_seed: 7,
    ...spec,
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
  const prepare = () => activityOf(id).run(prepareActivities(deps).prepare, job);
  await prepare();
  const attempt = (changed: Partial<ActivityDeps> = {}): Promise<ShownSlice> => {
    const all = { ...deps, ...changed };
    return activityOf(id).run(driveActivity(all, new RolloutRunners(all), limits).drive, job);
  };
  return { id, job, deps, metrics, prepare, attempt, calls: () => world.container.callsOf(id) };
}

export const isDone = ({ rest }: ShownSlice) => rest.kind === 'ended' && rest.end.kind === 'completed';
