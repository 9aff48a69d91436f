import { afterEach, expect, test } from '@jest/globals';
import {
  createEvaluation,
  createSession,
  ended,
  eventsOf,
  type Evaluation,
  type Session,
} from '../../support/jobs-over-http.js';
import { pricedPolicy, startPricedWorld } from '../../support/worlds/priced.js';
import { range } from '../../support/range.js';
import { serviceOfFile } from '../../support/service-of-file.js';

// Jobs that meet a quota of spend end, whatever their container does with a refused call; by the
// provider's ledger, the quota is exceeded by calls in flight at most.

const on = serviceOfFile(startPricedWorld);
const limits = '/api/v1/admin/limits';
/** More than a call of the fake model costs. */
const mostPerCall = 0.001;
const maxConcurrent = 8;

/** Leaves `usd` of today's quota. */
async function leave(usd: number): Promise<void> {
  const { used } = await on.service.api.call<{ used: { spend_usd_per_day: number } }>('GET', limits);
  await on.service.api.call('PUT', limits, { spend_usd_per_day: used.spend_usd_per_day + usd });
}
afterEach(() => on.service.api.call('PUT', limits, {}));

const common = () => ({
  container_url: on.world.container.url,
  policy: pricedPolicy,
  max_concurrent: maxConcurrent,
});
const session = () => ({
  ...common(),
  gepa: { population_size: 4, generations: 100, minibatch_size: 4, evaluation: { seeds: range(0, 24) } },
});

test('a session completes with its best candidate, and goes on where the quota is raised', async () => {
  const before = on.world.answeredUsd();
  await leave(0.03);
  const id = await createSession(on.service, session());
  const found = await ended<Session>(on.service, id);
  expect(found).toMatchObject({ status: 'completed', stopped_by: 'spend_quota_exceeded', error: null });
  expect(found.best_reward).toBeGreaterThan(0);
  const answered = on.world.answeredUsd() - before;
  expect(answered).toBeGreaterThanOrEqual(0.03);
  expect(answered).toBeLessThanOrEqual(0.03 + maxConcurrent * mostPerCall);
  const rows = await on.service.query<{ status: string; reward: number | null }>(
    `select r.status, r.reward from rollouts r join cost_reservations c on c.rollout_id = r.id and c.refused
      where r.job_id = $1`,
    [id],
  );
  expect(rows.length).toBeGreaterThan(0);
  for (const row of rows) expect(row).toEqual({ status: 'cancelled', reward: null });
  expect((await eventsOf(on.service, id)).at(-1)).toMatchObject({ data: { stopped_by: 'spend_quota_exceeded' } });

  await leave(0.01);
  await on.service.api.call('POST', `/api/v1/online/sessions/${id}/extend`, {});
  expect(await ended<Session>(on.service, id)).toMatchObject({ stopped_by: 'spend_quota_exceeded' });
  expect(on.world.answeredUsd() - before - answered).toBeGreaterThanOrEqual(0.01);
});

test('a session without a measured baseline fails, and so does an evaluation: both may be repeated', async () => {
  await leave(0.0005);
  const [id, evaluation] = await Promise.all([
    createSession(on.service, session()),
    createEvaluation(on.service, { ...common(), seeds: range(0, 24) }),
  ]);
  const failed = { status: 'failed', error_details: { code: 'spend_quota_exceeded', retryable: true } };
  expect(await ended<Session>(on.service, id)).toMatchObject(failed);
  expect(await ended<Evaluation>(on.service, evaluation)).toMatchObject(failed);
});

test('a job on a data set, whose calls the worker makes, fails in the same way', async () => {
  await leave(0.0005);
  const id = await createEvaluation(on.service, {
    env_name: undefined,
    policy: pricedPolicy,
    max_concurrent: maxConcurrent,
    scorer: 'exact',
    dataset: {
      rows: range(0, 24).map((n) => ({ question: `q${n}`, answer: 'a' })),
      input: 'question',
      expected: 'answer',
    },
    candidate: { messages: [{ role: 'user', content: '{{question}}' }] },
  });
  expect(await ended<Evaluation>(on.service, id)).toMatchObject({
    status: 'failed',
    error_details: { code: 'spend_quota_exceeded', retryable: true },
  });
});
