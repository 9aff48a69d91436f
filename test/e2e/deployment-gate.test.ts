import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { deploymentActivities } from '../../activities/deployment.js';
import type { ActivityDeps } from '../../activities/deps.js';
import { deleteDeployment } from '../../src/storage/deployments.js';
import { workflowId } from '../../workflows/messages.js';
import { containersOfEachTest } from '../support/containers-of-each-test.js';
import {
  ask,
  built,
  deploy,
  deploymentsBase,
  readDeployment,
  saying,
  type Deployment,
} from '../support/deployments-over-http.js';
import { answers, type FakeContainer } from '../support/fake-container.js';
import { gate, type Gate } from '../support/gate.js';
import { eventsOf, evaluations, readJob, type Evaluation } from '../support/jobs-over-http.js';
import { range } from '../support/range.js';
import { promptOf, startRulesWorld, type RulesWorld } from '../support/rules-world.js';
import { startTestService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';

// The promise: a gate lets through what is better than what the name serves when it takes the name, not when it was asked for; and
// however the making of a deployment ends, it is ready or has failed with the reason, and what was live stays live.

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

const containers = containersOfEachTest();
const held = new Map<string, Gate>();
let container: FakeContainer;
let name = '';
let tests = 0;
beforeEach(async () => {
  world.reset();
  held.clear();
  name = `name-${(tests += 1)}`;
  container = await containers({
    behave: (call) => {
      const worth = /worth (-?[\d.]+)/.exec(promptOf(call))?.[1] ?? '0';
      const reward = answers.reward(Number(worth) + call.seed / 100);
      const { opened } = held.get(worth) ?? {};
      return opened ? answers.held(opened, reward) : reward;
    },
  });
});

/** Has every rollout of this worth wait; answers what lets them go on. */
const hold = (worth: number): (() => void) => {
  const one = gate();
  held.set(`${worth}`, one);
  return () => {
    held.delete(`${worth}`);
    one.open();
  };
};
const create = (worth: number, more?: object) =>
  deploy(service, {
    ...{ name, source: saying(`worth ${worth}`) },
    ...(more && { gate: { container_url: container.url, seeds: range(0, 6), ...more } }),
  });
const live = async (worth: number): Promise<Deployment> => {
  const deployment = await built(service, await create(worth));
  expect(deployment).toMatchObject({ status: 'ready', live: true });
  return deployment;
};
/** Waits until a rollout of this worth has come; answers its evaluation. */
const asked = async (worth: number): Promise<string> => {
  const { rolloutId } = await until(`worth ${worth} is asked`, () =>
    container.ledger.find((entry) => promptOf(entry).includes(`worth ${worth}`)),
  );
  return `evl_${rolloutId.split('_')[1]}`;
};
const send = async (method: 'PATCH' | 'DELETE', path: string, body?: object): Promise<void> => {
  const { status } = await fetch(`${service.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${service.apiKey}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  expect([method, path, status < 300]).toEqual([method, path, true]);
};
const deploymentWorkflow = (id: string) => service.temporal.workflow.getHandle(workflowId('deployment', id));
const closedAs = (id: string, status: string) =>
  until(`${id} is ${status}`, async () => (await deploymentWorkflow(id).describe()).status.name === status);
const rowOf = async (id: string) =>
  (
    await service.query<{ status: string; live_at: Date | null }>(
      'select j.status, d.live_at from jobs j join deployments d on d.id = j.id where j.id = $1',
      [id],
    )
  )[0];
const servedBy = async () =>
  (await ask(service, name, { messages: [{ role: 'user', content: 'Hello.' }] })).headers.get(
    'x-ratchet-deployment-id',
  );

describe('a gate whose name moves while what it serves is evaluated judges again', () => {
  test.each([
    [0.85, { status: 'failed', live: false }],
    [0.7, { status: 'ready', live: true }],
  ])('against the deployment that went live meanwhile, worth %p', async (worth, end) => {
    const first = await live(0.5);
    const release = hold(0.5);
    const id = await create(0.9, { min_improvement: 0.1 });
    await asked(0.5);
    const other = await live(worth);
    release();
    const deployment = await built(service, id);
    expect(deployment).toMatchObject({ ...end, gate: { incumbent: { deployment_id: other.id } } });
    expect(deployment.gate!.comparison!.difference).toBeCloseTo(0.9 - worth);
    expect(deployment.previous_id).toBe(end.live ? other.id : null);
    expect(await servedBy()).toBe(end.live ? id : other.id);
    const events = await eventsOf(service, id);
    expect(events.map(({ seq }) => seq)).toEqual(range(1, events.length));
    const judged = events.filter(({ type }) => type === 'gate_judged');
    expect(judged.map(({ data }) => data)).toMatchObject([{ passed: true }, { passed: end.live }]);
    expect(first.id).not.toBe(other.id);
    // The candidate's rollouts are not run again.
    expect(container.ledger.filter((entry) => promptOf(entry).includes('worth 0.9'))).toHaveLength(6);
  });

  test.each(['roll back', 'delete'] as const)('after a %s', async (what) => {
    const first = await live(0.5);
    const second = await live(0.75);
    const release = hold(0.75);
    const id = await create(0.9, { min_improvement: 0.1 });
    await asked(0.75);
    if (what === 'delete') await send('DELETE', `${deploymentsBase}/${second.id}`);
    else await service.api.call('POST', `${deploymentsBase}/${second.id}/rollback`, {});
    release();
    const deployment = await built(service, id);
    // Where its name serves nothing, messages are judged against the container as it is, whose rewards are 0 and the seed's part.
    const [against, difference] = what === 'delete' ? [null, 0.9] : [first.id, 0.4];
    expect(deployment).toMatchObject({ status: 'ready', live: true, gate: { incumbent: { deployment_id: against } } });
    expect(deployment.gate!.comparison!.difference).toBeCloseTo(difference);
    expect(deployment.previous_id).toBe(what === 'delete' ? second.id : first.id);
    expect(await servedBy()).toBe(id);
  });
});

describe('a deployment that is deleted while its gate runs', () => {
  test.each(['Temporal hears of it', 'Temporal does not hear of it'])(
    'never takes its name, and its evaluation is cancelled: %s',
    async (heard) => {
      const before = await live(0.5);
      hold(0.9);
      const id = await create(0.9, { min_reward: 0.1 });
      const evaluation = await asked(0.9);
      if (heard === 'Temporal hears of it') await send('DELETE', `${deploymentsBase}/${id}`);
      // As the route does it where Temporal cannot be reached.
      else await service.db.org('default', (tx) => deleteDeployment(tx, id));
      await closedAs(id, 'CANCELLED');
      expect(await rowOf(id)).toEqual({ status: 'cancelled', live_at: null });
      expect(await readJob<Evaluation>(service, evaluation)).toMatchObject({ status: 'cancelled' });
      await expect(readDeployment(service, id)).rejects.toThrow(/404|not found/i);
      expect(await servedBy()).toBe(before.id);
    },
  );

  test('never takes it either when it was about to', async () => {
    const before = await live(0.5);
    const client = new pg.Client({ connectionString: service.config.databaseUrl! });
    await client.connect();
    try {
      await client.query('begin; lock table deployment_names in share mode');
      const id = await create(0.9);
      await until('it waits for its name', async () => {
        const { rowCount } = await client.query(
          `select 1 from pg_locks where not granted and relation = 'deployment_names'::regclass`,
        );
        return rowCount === 1;
      });
      await service.db.org('default', (tx) => deleteDeployment(tx, id));
      await client.query('rollback');
      await closedAs(id, 'CANCELLED');
      expect(await rowOf(id)).toEqual({ status: 'cancelled', live_at: null });
    } finally {
      await client.end();
    }
    expect(await servedBy()).toBe(before.id);
  });
});

test('a deployment that took its name, and whose worker could not tell any more, is told so and does not take it again', async () => {
  const { publishDeployment } = deploymentActivities({ db: service.db } as ActivityDeps);
  const first = await live(0.5);
  const second = await live(0.6);
  for (const { id } of [first, second])
    expect(await publishDeployment({ orgId: 'default', jobId: id, against: null })).toBe('done');
  expect(await servedBy()).toBe(second.id);
  expect(await readDeployment(service, first.id)).toEqual({ ...first, live: false });
  const failed = await built(service, await create(0.4, { min_reward: 2 }));
  await expect(publishDeployment({ orgId: 'default', jobId: failed.id })).rejects.toMatchObject({ type: 'job_closed' });
});

describe('a deployment fails with what happened', () => {
  const failing = async (how: (id: string, evaluation: string) => Promise<unknown>) => {
    const before = await live(0.5);
    hold(0.9);
    const id = await create(0.9, { min_reward: 0.1 });
    const evaluation = await asked(0.9);
    await how(id, evaluation);
    const deployment = await built(service, id);
    expect(deployment).toMatchObject({ status: 'failed', live: false, ready_at: null });
    expect(await servedBy()).toBe(before.id);
    const ended = await until('its evaluation has ended', async () => {
      const job = await readJob<Evaluation>(service, evaluation);
      return job.status !== 'running' && job.status;
    });
    const events = await eventsOf(service, id);
    expect(events.map(({ seq }) => seq)).toEqual(range(1, events.length));
    return { ...deployment.error_details!, id, evaluation, ended };
  };

  test('when its workflow is terminated from outside', async () => {
    const { code, message, ended } = await failing((id) => deploymentWorkflow(id).terminate('by an operator'));
    expect([code, ended]).toEqual(['workflow_terminated', 'failed']);
    expect(message).toMatch(/terminated from outside/);
  });

  test('when its workflow is cancelled from outside', async () => {
    const { code, message, ended, id } = await failing((id) => deploymentWorkflow(id).cancel());
    expect([code, ended]).toEqual(['deployment_cancelled', 'cancelled']);
    expect(message).toMatch(/cancelled.*What was live stays live/);
    await closedAs(id, 'CANCELLED');
  });

  test("when its gate's evaluation is cancelled", async () => {
    const { code, message, ended, evaluation, id } = await failing((_, evaluation) =>
      send('PATCH', `${evaluations}/${evaluation}`, { state: 'cancelled' }),
    );
    expect([code, ended]).toEqual(['gate_failed', 'cancelled']);
    expect(message).toMatch(new RegExp(`${evaluation} gave no result: it was cancelled\\. What was live stays live`));
    await closedAs(id, 'FAILED');
  });

  test("when its gate's evaluation is terminated", async () => {
    const { code, ended, evaluation } = await failing((_, evaluation) =>
      service.temporal.workflow.getHandle(workflowId('evaluation', evaluation)).terminate(),
    );
    expect([code, ended]).toEqual(['gate_failed', 'failed']);
    expect(evaluation).toMatch(/^evl_/);
  });

  test('when its container cannot be reached', async () => {
    const before = await live(0.5);
    const gone = await containers();
    await gone.close();
    const id = await create(0.9, { min_reward: 0.1, container_url: gone.url });
    const deployment = await built(service, id);
    expect(deployment).toMatchObject({ status: 'failed', live: false, error_details: { code: 'gate_failed' } });
    expect(deployment.error).toMatch(/gave no result: .*What was live stays live\.$/);
    expect(await servedBy()).toBe(before.id);
  });
});
