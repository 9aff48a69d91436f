import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { History } from '../support/chain.js';
import { answers } from '../support/fakes/container.js';
import { startRulesWorld, type RulesWorld } from '../support/worlds/rules.js';
import { startTestService, type TestService } from '../support/service.js';
import { gate } from '../support/gate.js';
import { until } from '../support/until.js';
import { localActivities, replay } from './replay-history.js';
import { workflowIs } from '../support/workflow-is.js';

// Workflow code must replay its own histories: a restarted worker replays every running job.

let service: TestService;
let world: RulesWorld;
beforeAll(async () => {
  world = await startRulesWorld();
  service = await startTestService(world.env);
}, 60_000);
afterAll(async () => {
  await service.stop();
  await world.close();
}, 60_000);

const statusOf = async (id: string) =>
  (
    await service.api.call<{ status: string }>(
      'GET',
      `/api/v1/${id.startsWith('ses') ? 'online/sessions' : 'offline/jobs'}/${id}`,
    )
  ).status;

async function historyOf(workflowId: string): Promise<History> {
  const history = History.fromObject(await service.temporal.workflow.getHandle(workflowId).fetchHistory());
  return history;
}

/** While true, the service cannot reach its database. */
async function withoutDatabase(work: () => Promise<void>): Promise<void> {
  const url = new URL(service.config.databaseUrl!);
  const name = url.pathname.slice(1);
  url.pathname = '/postgres';
  const admin = new pg.Client({ connectionString: url.href });
  await admin.connect();
  try {
    await admin.query(`alter database "${name}" with allow_connections false`);
    await admin.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name]);
    await work();
  } finally {
    await admin.query(`alter database "${name}" with allow_connections true`);
    await admin.end();
  }
}

describe('histories of the current code', () => {
  test('a session with a retried activity, a pause and a resume', async () => {
    const { opened, open } = gate();
    world.container.behave((call) => async (_call, response) => {
      await opened;
      const prompt = call.body.policy.config.prompt_template?.sections[0]?.content ?? '';
      await answers.reward(world.score(prompt, call.seed), `needs rule-${call.seed % world.rules}.`)(call, response);
    });
    const { session_id: id } = await service.api.call<{ session_id: string }>('POST', '/api/v1/online/sessions', {
      policy_optimization: {
        algorithm: 'gepa',
        container_url: world.container.url,
        policy: { provider: 'fake', model: 'any' },
        gepa: { population_size: 2, generations: 2, evaluation: { seeds: [0, 1, 2, 3] } },
      },
    });
    const handle = service.temporal.workflow.getHandle(`session-${id}`);
    await until('a rollout is in flight', () =>
      world.container.ledger.some((entry) => entry.rolloutId.includes(id.slice(4))),
    );
    await withoutDatabase(async () => {
      await handle.signal('pause');
      await until('the task that records the pause is prolonged', async () => {
        const { events } = await historyOf(`session-${id}`);
        const sentAt = events.findIndex((event) => event.workflowExecutionSignaledEventAttributes);
        return events.slice(sentAt + 1).some((event) => event.workflowTaskCompletedEventAttributes);
      });
    });
    await until('it is paused', async () => (await statusOf(id)) === 'paused');
    open();
    await handle.signal('resume');
    await until('it has completed', async () => (await statusOf(id)) === 'completed', 60);
    const history = await historyOf(`session-${id}`);
    const attempts = localActivities(history).map(({ attempt }) => attempt);
    expect(Math.max(...attempts)).toBeGreaterThan(1);
    await replay(history);
  }, 90_000);

  test.each(['session', 'evaluation'] as const)('a cancelled %s', async (kind) => {
    world.container.behave(() => answers.hang());
    const common = { container_url: world.container.url, policy: { provider: 'fake', model: 'any' } };
    const { job_id: id } =
      kind === 'session'
        ? await service.api.call<{ job_id: string }>('POST', '/api/v1/online/sessions', {
            policy_optimization: {
              algorithm: 'gepa',
              ...common,
              gepa: { population_size: 1, generations: 1, evaluation: { seeds: [0, 1] } },
            },
          })
        : await service.api.call<{ job_id: string }>('POST', '/api/v1/offline/jobs', {
            ...common,
            app_id: 'a',
            env_name: 'e',
            seeds: [0, 1, 2],
          });
    await until('a rollout is in flight', () =>
      world.container.ledger.some((entry) => entry.rolloutId.includes(id.slice(4))),
    );
    await service.temporal.workflow.getHandle(`${kind}-${id}`).signal('cancel');
    await until('it is cancelled', async () => (await statusOf(id)) === 'cancelled');
    await workflowIs(service.workflow(id), 'CANCELLED');
    await replay(await historyOf(`${kind}-${id}`));
  });

  test('a completed evaluation', async () => {
    world.container.behave(() => answers.reward(1));
    const { job_id: id } = await service.api.call<{ job_id: string }>('POST', '/api/v1/offline/jobs', {
      container_url: world.container.url,
      policy: { provider: 'fake', model: 'any' },
      app_id: 'a',
      env_name: 'e',
      seeds: [0, 1, 2],
    });
    await service.temporal.workflow.getHandle(`evaluation-${id}`).result();
    await replay(await historyOf(`evaluation-${id}`));
  });
});
