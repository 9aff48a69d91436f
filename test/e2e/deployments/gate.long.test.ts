import { beforeEach, describe, expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { deploymentActivities } from '../../../activities/deployments/build.js';
import type { ActivityDeps } from '../../../activities/deps.js';
import { createMetrics } from '../../../src/service/metrics.js';
import { byService, deleteDeployment } from '../../../src/kinds/deployment/store/names.js';
import { putSecret } from '../../../src/access/store/secrets.js';
import { chainOf, History } from '../../support/chain.js';
import { containersOfEachTest } from '../../support/fakes/containers-of-each-test.js';
import { ask, built, deploy, readDeployment, saying, type Deployment } from '../../support/deployments-over-http.js';
import { answers, type Behaviour, type FakeContainer, type ReceivedRollout } from '../../support/fakes/container.js';
import { activityOf } from '../../support/job-activity.js';
import { gate, type Gate } from '../../support/gate.js';
import { command, deployments, eventsOf, evaluations, readJob, type Evaluation } from '../../support/jobs-over-http.js';
import { range } from '../../support/range.js';
import { Operator } from '../../support/operator.js';
import { promptOf, startRulesWorld } from '../../support/worlds/rules.js';
import { serviceOfFile } from '../../support/service-of-file.js';
import { until } from '../../support/until.js';
import { workflowIs } from '../../support/workflow-is.js';

// A gate compares with the deployment that is live at promotion, not at the request. A deployment
// always ends ready or failed with a reason, and the live one stays live.

const on = serviceOfFile(startRulesWorld);

const containers = containersOfEachTest();
const held = new Map<string, Gate>();
const behave = (call: ReceivedRollout): Behaviour => {
  const worth = /worth (-?[\d.]+)/.exec(promptOf(call))?.[1] ?? '0';
  const reward = answers.reward(Number(worth) + call.seed / 100);
  const { opened } = held.get(worth) ?? {};
  return opened ? answers.held(opened, reward) : reward;
};
let container: FakeContainer;
let name = '';
let tests = 0;
beforeEach(async () => {
  on.world.reset();
  held.clear();
  name = `name-${(tests += 1)}`;
  container = await containers({ behave });
});

/** Holds all rollouts of this worth; the result releases them. */
const hold = (worth: number): (() => void) => {
  const waiting = gate();
  held.set(`${worth}`, waiting);
  return () => {
    held.delete(`${worth}`);
    waiting.open();
  };
};
const create = (worth: number, more?: object) =>
  deploy(on.service, {
    name,
    source: saying(`worth ${worth}`),
    ...(more && { gate: { container_url: container.url, seeds: range(0, 6), ...more } }),
  });
const live = async (worth: number): Promise<Deployment> => {
  const deployment = await built(on.service, await create(worth));
  expect(deployment).toMatchObject({ status: 'ready', live: true });
  return deployment;
};
/** Waits for a rollout of this worth; returns its evaluation. */
const asked = async (worth: number): Promise<string> => {
  const { rolloutId } = await until(`worth ${worth} is asked`, () =>
    container.ledger.find((entry) => promptOf(entry).includes(`worth ${worth}`)),
  );
  return `evl_${rolloutId.split('_')[1]}`;
};
const send = async (method: 'PATCH' | 'DELETE', path: string, body?: object): Promise<void> => {
  const { status } = await fetch(`${on.service.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${on.service.apiKey}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  expect([method, path, status < 300]).toEqual([method, path, true]);
};
/** Number of calls for rollouts of this worth. */
const calls = (worth: number) => container.ledger.filter((entry) => promptOf(entry).includes(`worth ${worth}`)).length;
const asSuperuser = async <T>(work: (client: pg.Client) => Promise<T>): Promise<T> => {
  const client = new pg.Client({ connectionString: on.service.config.databaseUrl! });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
};
const closedAs = (id: string, status: string) => workflowIs(on.service.workflow(id), status);
const rowOf = async (id: string) =>
  (
    await on.service.query<{ status: string; live_at: Date | null }>(
      'select j.status, d.live_at from jobs j join deployments d on d.id = j.id where j.id = $1',
      [id],
    )
  )[0];
const servedBy = async () =>
  (await ask(on.service, name, { messages: [{ role: 'user', content: 'Hello.' }] })).headers.get(
    'x-ratchet-deployment-id',
  );

describe('a gate judges again when the live deployment changes during its evaluations', () => {
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
    const deployment = await built(on.service, id);
    expect(deployment).toMatchObject({ ...end, gate: { incumbent: { deployment_id: other.id } } });
    expect(deployment.gate!.comparison!.difference).toBeCloseTo(0.9 - worth);
    expect(deployment.previous_id).toBe(end.live ? other.id : null);
    expect(await servedBy()).toBe(end.live ? id : other.id);
    const events = await eventsOf(on.service, id);
    expect(events.map(({ seq }) => seq)).toEqual(range(1, events.length));
    const judged = events.filter(({ type }) => type === 'gate_judged');
    expect(judged.map(({ data }) => data)).toMatchObject([{ passed: true }, { passed: end.live }]);
    expect(first.id).not.toBe(other.id);
    // The candidate's evaluation does not run again, its second rollouts run for each incumbent.
    expect(calls(0.9)).toBe(18);
  });

  test.each(['roll back', 'delete'] as const)('after a %s', async (what) => {
    const first = await live(0.5);
    const second = await live(0.75);
    const release = hold(0.75);
    const id = await create(0.9, { min_improvement: 0.05 });
    await asked(0.75);
    if (what === 'delete') await send('DELETE', `${deployments}/${second.id}`);
    else await on.service.api.call('POST', `${deployments}/${second.id}/rollback`, {});
    release();
    const deployment = await built(on.service, id);
    // Without a live deployment, messages compete with the unchanged container, whose reward is 0
    // plus the seed's part.
    const [against, difference] = what === 'delete' ? [null, 0.9] : [first.id, 0.4];
    expect(deployment).toMatchObject({ status: 'ready', live: true, gate: { incumbent: { deployment_id: against } } });
    expect(deployment.gate!.comparison!.difference).toBeCloseTo(difference);
    expect(deployment.previous_id).toBe(what === 'delete' ? second.id : first.id);
    expect(await servedBy()).toBe(id);
  });
});

test('a gate that is reset does not take the evaluation of an earlier incumbent for that of the next', async () => {
  await live(0.5);
  const release = hold(0.5);
  const id = await create(0.9, { min_improvement: 0.1 });
  await asked(0.5);
  const other = await live(0.6);
  await new Operator(on.service.temporal).reset(on.service.workflow(id), 'first', 'signals');
  release();
  expect(await built(on.service, id)).toMatchObject({ status: 'failed', error_details: { code: 'gate_overtaken' } });
  expect(await servedBy()).toBe(other.id);
});

describe('a gate whose name alternates after each of its judgements', () => {
  /**
   * Moves the name in the transaction that records a gate's result; returns the number of moves.
   */
  const moving = async (between: string[], times: number, meanwhile: () => Promise<void>): Promise<number> =>
    asSuperuser(async (client) => {
      const [one, other] = between.map((id) => client.escapeLiteral(id));
      await client.query(`
        create sequence judged;
        grant usage on judged to ratchet_app;
        create function move() returns trigger language plpgsql as $$ begin
          if nextval('judged') <= ${times} then
            update deployment_names set deployment_id = case deployment_id when ${one} then ${other} else ${one} end
             where name = ${client.escapeLiteral(name)};
          end if;
          return null;
        end $$;
        create trigger move after update of gate on deployments for each row execute function move()`);
      try {
        await meanwhile();
        const { rows } = await client.query<{ n: number }>('select last_value::int as n from judged');
        return rows[0]!.n;
      } finally {
        await client.query('drop trigger move on deployments; drop function move; drop sequence judged');
      }
    });

  test.each([
    ['rests', 3, 4, { status: 'ready', live: true, error: null }],
    ['never rests', 100, 20, { status: 'failed', live: false, error_details: { code: 'gate_overtaken' } }],
  ])(
    'evaluates each deployment only once when the name %s',
    async (_, times, rounds, end) => {
      const one = await live(0.5);
      const other = await live(0.6);
      const judged = await moving([one.id, other.id], times, async () => {
        const id = await create(0.9, { min_improvement: 0.1 });
        const deployment = await built(on.service, id, 240);
        expect(deployment).toMatchObject({ ...end, gate: { passed: true, incumbent: { deployment_id: one.id } } });
        expect(await servedBy()).toBe(end.live ? id : other.id);
      });
      expect(judged).toBe(rounds);
      expect([0.9, 0.6, 0.5].map(calls)).toEqual([18, 12, 12]);
    },
    300_000,
  );
});

test('seeds on which the sides differ run again on both, and those with two rewards are named', async () => {
  await live(0.5);
  const unsteady = new Set([1, 4]);
  const ran = new Map<string, number>();
  container = await containers({
    behave: (call) => {
      const [prompt, { seed }] = [promptOf(call), call];
      const times = (ran.get(`${prompt} ${seed}`) ?? 0) + 1;
      ran.set(`${prompt} ${seed}`, times);
      if (!prompt.includes('worth 0.9')) return answers.reward(0.5);
      // Seed 5 has the incumbent's reward: nothing tells the sides apart there.
      return answers.reward(seed === 5 ? 0.5 : unsteady.has(seed) && times === 2 ? 0.1 : 0.9);
    },
  });
  const { gate: found } = await built(on.service, await create(0.9, { min_improvement: -1 }));
  expect(found).toMatchObject({ passed: true, flipped_seeds: [1, 4] });
  // 0.4 on three seeds, 0 on one, and (0.4 - 0.4) / 2 on two.
  expect(found!.comparison).toMatchObject({ seeds: 6, verdict: 'inconclusive', difference: expect.closeTo(0.2, 9) });
  expect(found!.comparison!.rows_needed).toBeGreaterThan(6);
  expect([...ran].map(([, times]) => times).sort()).toEqual([1, 1, ...range(0, 10).map(() => 2)]);
});

describe('the paused evaluation of a gate', () => {
  /** Pauses the evaluation of a candidate, and waits for the rollouts in flight. */
  const pausing = async () => {
    const release = hold(0.9);
    const id = await create(0.9, { min_reward: 0.1, max_concurrent: 2 });
    const evaluation = await asked(0.9);
    const shown = async () => (await readDeployment(on.service, id)).gate!.evaluation;
    expect(await shown()).toEqual({ job_id: evaluation, status: 'running', seeds_left: 6 });
    expect(await command(on.service, evaluation, 'pause')).toMatchObject({ status: 'paused' });
    release();
    await until('what was under way has ended', async () => {
      const { progress } = await readJob<Evaluation>(on.service, evaluation);
      return progress.completed === calls(0.9);
    });
    expect(calls(0.9)).toBeLessThan(6);
    expect(await readDeployment(on.service, id)).toMatchObject({
      status: 'building',
      live: false,
      gate: { passed: null, evaluation: { job_id: evaluation, status: 'paused', seeds_left: 6 - calls(0.9) } },
    });
    const refused = await ask(on.service, id, { messages: [] });
    expect([refused.status, refused.headers.get('x-should-retry')]).toEqual([409, 'false']);
    return { id, evaluation };
  };

  test('is the reason its deployment waits, until a resume', async () => {
    const { id, evaluation } = await pausing();
    expect(await command(on.service, evaluation, 'resume')).toMatchObject({ status: 'running' });
    expect(await built(on.service, id)).toMatchObject({ status: 'ready', gate: { passed: true, evaluation: null } });
    expect(calls(0.9)).toBe(6);
  });

  test('ends with its deployment when the deployment is deleted', async () => {
    const { id, evaluation } = await pausing();
    await send('DELETE', `${deployments}/${id}`);
    await closedAs(id, 'CANCELLED');
    expect(await rowOf(id)).toEqual({ status: 'cancelled', live_at: null });
    expect(await readJob<Evaluation>(on.service, evaluation)).toMatchObject({ status: 'cancelled' });
    const workflow = on.service.workflow(evaluation);
    expect((await workflow.describe()).status.name).toBe('CANCELLED');
  });
});

test('receives the key of the gate’s container, and no other job does', async () => {
  const key = 'a-very-secret-key';
  await live(0.5);
  container = await containers({ apiKey: key, behave });
  const id = await create(0.9, { min_improvement: 0.1, container_api_key: key });
  const { status, gate: found } = await built(on.service, id);
  expect(status).toBe('ready');
  expect(container.ledger.map(({ headers }) => headers['x-api-key'])).toEqual(range(0, 24).map(() => key));

  const evaluationIds = [found!.candidate!.job_id, found!.incumbent!.job_id];
  const histories = await Promise.all(
    [id, ...evaluationIds].flatMap((job) => chainOf(on.service.temporal, on.service.workflow(job).workflowId)),
  );
  const texts = histories.flat().map((history) => Buffer.from(History.encode(history).finish()).toString('latin1'));
  // All HTTP answers come from there.
  await asSuperuser(async (client) => {
    const tables = await client.query<{ name: string }>(
      `select quote_ident(tablename) as name from pg_tables where schemaname = 'public'`,
    );
    for (const { name: table } of tables.rows) {
      const { rows } = await client.query<{ text: string }>(`select to_jsonb(row)::text as text from ${table} row`);
      texts.push(rows.map(({ text }) => text).join('\n'));
    }
  });
  const all = texts.join('\n');
  for (const jobId of [id, ...evaluationIds]) expect(all).toContain(jobId);
  for (const form of ['utf8', 'hex', 'base64url'] as const) expect(all).not.toContain(Buffer.from(key).toString(form));
});

describe('a deployment that is deleted while its gate runs', () => {
  test.each(['Temporal is reachable', 'Temporal is unreachable'])(
    'never takes its name, and its evaluation is cancelled: %s',
    async (condition) => {
      const before = await live(0.5);
      hold(0.9);
      const id = await create(0.9, { min_reward: 0.1 });
      const evaluation = await asked(0.9);
      if (condition === 'Temporal is reachable') await send('DELETE', `${deployments}/${id}`);
      // As the route does when Temporal is unreachable.
      else await on.service.db.org('default', (tx) => deleteDeployment(tx, id, byService));
      await closedAs(id, 'CANCELLED');
      expect(await rowOf(id)).toEqual({ status: 'cancelled', live_at: null });
      expect(await readJob<Evaluation>(on.service, evaluation)).toMatchObject({ status: 'cancelled' });
      await expect(readDeployment(on.service, id)).rejects.toThrow(/404|not found/i);
      expect(await servedBy()).toBe(before.id);
    },
  );

  test('does not take its name when deleted just before promotion', async () => {
    const before = await live(0.5);
    await asSuperuser(async (client) => {
      await client.query('begin; lock table deployment_names in share mode');
      const id = await create(0.9);
      await until('it waits for its name', async () => {
        const { rowCount } = await client.query(
          `select 1 from pg_locks where not granted and relation = 'deployment_names'::regclass`,
        );
        return rowCount === 1;
      });
      await on.service.db.org('default', (tx) => deleteDeployment(tx, id, byService));
      await client.query('rollback');
      await closedAs(id, 'CANCELLED');
      expect(await rowOf(id)).toEqual({ status: 'cancelled', live_at: null });
    });
    expect(await servedBy()).toBe(before.id);
  });
});

test('repeats a promotion with a lost answer without taking the name again', async () => {
  const { promoteDeployment } = deploymentActivities({
    db: on.service.db,
    metrics: createMetrics(),
  } as unknown as ActivityDeps);
  const first = await live(0.5);
  const second = await live(0.6);
  for (const { id } of [first, second])
    expect(await activityOf(id).run(promoteDeployment, { orgId: 'default', jobId: id, against: null })).toBe('done');
  expect(await servedBy()).toBe(second.id);
  expect(await readDeployment(on.service, first.id)).toEqual({ ...first, live: false, labels: [] });
  const failed = await built(on.service, await create(0.4, { min_reward: 2 }));
  const repeated = activityOf(failed.id).run(promoteDeployment, { orgId: 'default', jobId: failed.id });
  await expect(repeated).rejects.toMatchObject({ type: 'job_closed' });
});

describe('a deployment fails with its reason', () => {
  const failing = async (how: (id: string, evaluation: string) => Promise<unknown>) => {
    const before = await live(0.5);
    hold(0.9);
    const id = await create(0.9, { min_reward: 0.1 });
    const evaluation = await asked(0.9);
    await how(id, evaluation);
    const deployment = await built(on.service, id);
    expect(deployment).toMatchObject({ status: 'failed', live: false, ready_at: null });
    expect(await servedBy()).toBe(before.id);
    const ended = await until('its evaluation has ended', async () => {
      const job = await readJob<Evaluation>(on.service, evaluation);
      return job.status !== 'running' && job.status;
    });
    const events = await eventsOf(on.service, id);
    expect(events.map(({ seq }) => seq)).toEqual(range(1, events.length));
    return { ...deployment.error_details!, id, evaluation, ended };
  };

  test('when its workflow is terminated from outside', async () => {
    const { code, ended } = await failing((id) => on.service.workflow(id).terminate('by an operator'));
    expect([code, ended]).toEqual(['workflow_terminated', 'failed']);
  });

  test('when its workflow is cancelled from outside', async () => {
    const { code, ended, id } = await failing((id) => on.service.workflow(id).cancel());
    expect([code, ended]).toEqual(['deployment_cancelled', 'cancelled']);
    await closedAs(id, 'CANCELLED');
  });

  test("when its gate's evaluation is cancelled", async () => {
    const { code, message, ended, evaluation, id } = await failing((_, evaluation) =>
      send('PATCH', `${evaluations}/${evaluation}`, { state: 'cancelled' }),
    );
    expect([code, ended]).toEqual(['gate_failed', 'cancelled']);
    expect(message).toContain(evaluation);
    await closedAs(id, 'FAILED');
  });

  test("when its gate's evaluation is terminated", async () => {
    const { code, ended, evaluation } = await failing((_, evaluation) => on.service.workflow(evaluation).terminate());
    expect([code, ended]).toEqual(['gate_failed', 'failed']);
    expect(evaluation).toMatch(/^evl_/);
  });

  test('when its container cannot be reached', async () => {
    const before = await live(0.5);
    const gone = await containers();
    await gone.close();
    const id = await create(0.9, { min_reward: 0.1, container_url: gone.url });
    const deployment = await built(on.service, id);
    expect(deployment).toMatchObject({ status: 'failed', live: false, error_details: { code: 'gate_failed' } });
    expect(await servedBy()).toBe(before.id);
  });

  test('when the key of its gate’s container can no longer be decrypted', async () => {
    const before = await live(0.5);
    const release = hold(0.9);
    const id = await create(0.9, { min_improvement: 0.1, container_api_key: 'a-very-secret-key' });
    await asked(0.9);
    const { origin } = new URL(container.url);
    // As if stored under another RATCHET_SECRET_KEY.
    await on.service.db.org('default', async (tx) => {
      await tx.query('delete from secrets where job_id = $1', [id]);
      const index = { orgId: 'default', jobId: id, name: 'container_api_key', origin };
      await putSecret(tx, randomBytes(32), index, 'a-very-secret-key');
    });
    release();
    const deployment = await built(on.service, id);
    expect(deployment).toMatchObject({ status: 'failed', live: false, error_details: { code: 'gate_failed' } });
    expect(deployment.error).toMatch(/container_api_key.*RATCHET_SECRET_KEY/);
    expect(await servedBy()).toBe(before.id);
    await closedAs(id, 'FAILED');
  });
});
