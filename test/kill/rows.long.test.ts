import { expect, test } from '@jest/globals';
import { gate, type Gate } from '../support/gate.js';
import { createSession, ended, eventsOf, settledSpend, type Session } from '../support/jobs-over-http.js';
import { range } from '../support/range.js';
import { until } from '../support/until.js';
import { startRowsWorld } from '../support/worlds/rows.js';
import { found } from '../harness/evidence/found.js';
import { workerOfFile } from '../harness/worlds/processes.js';

// kill -9 of the worker of a session on a data set at three moments: with every call at the model,
// between the model's answer and its record, and between the record and the rollout's outcome. The
// winner and its path equal those of a session without a kill, and no recorded answer is bought
// again.

const maxConcurrent = 3;
const maxRollouts = 150;
const maxUsd = 1;
const usage = { prompt_tokens: 100, completion_tokens: 200 };
/** Dollars of a call of the policy, as OpenAI publishes them. */
const callUsd = usage.prompt_tokens * 0.15e-6 + usage.completion_tokens * 0.6e-6;
const models = { policy: 'gpt-4o-mini', proposer: 'gpt-4.1-mini' };

const on = workerOfFile(async () => {
  const world = await startRowsWorld(6, models);
  world.model.reply(async (request) => {
    if (request.body.model === models.policy) await held?.opened;
    return { ...world.answer(request), usage };
  });
  return world;
});
/** Holds the policy's answers while it is set. */
let held: Gate | null = null;

const create = () =>
  createSession(on.service, {
    ...on.world.job(48),
    policy: { provider: 'openai', model: models.policy },
    proposer: { provider: 'openai', model: models.proposer },
    gepa: { population_size: 2, generations: 12 },
    budget: { max_rollouts: maxRollouts, max_cost_usd: maxUsd },
    rng_seed: 7,
    max_concurrent: maxConcurrent,
  });

const calls = () => on.world.policyCalls().length;
const countOf = async (sql: string, id: string) => (await on.service.query<{ n: number }>(sql, [id]))[0]!.n;
const recorded = (id: string) =>
  countOf("select count(*)::int as n from model_calls where job_id = $1 and purpose = 'rollout'", id);
const outcomes = (id: string) =>
  countOf('select count(*)::int as n from rollouts where job_id = $1 and completed_at is not null', id);

/**
 * Lets the session go on to `from` outcomes, then holds the answers to the policy's next calls.
 * Resolves when every other answer has its outcome.
 */
async function hold(id: string, from: number): Promise<void> {
  await until(`${from} rollouts are recorded`, async () => (await outcomes(id)) >= from, 60);
  held = gate();
  const isAtRest = async () => (await recorded(id)) === (await outcomes(id));
  await until('the calls stand at the model', async () => open() > 0 && (await isAtRest()), 60);
}
const open = () => on.world.policyCalls().filter(({ closed }) => !closed).length;

function release(): void {
  held?.open();
  held = null;
}

test('ends as without a kill, and buys no recorded answer again', async () => {
  await on.worker.start();
  const twin = await create();
  expect(await ended<Session>(on.service, twin)).toMatchObject({ status: 'completed' });
  expect(calls()).toBe(await recorded(twin));

  const before = calls();
  const id = await create();
  const paid = () => calls() - before;
  let lost = 0;
  /** Starts the next worker; counts the calls that the last one lost. */
  const restart = async () => {
    const now = paid() - (await recorded(id)) - lost;
    expect(now).toBeLessThanOrEqual(maxConcurrent);
    lost += now;
    release();
    await on.worker.start();
    return now;
  };

  await hold(id, 10);
  await on.worker.kill();
  expect(await restart()).toBeGreaterThan(0);

  // Answers without a record.
  await hold(id, 40);
  await on.worker.killAt(['lock table model_calls in share mode'], release, (waiting) => open() === 0 && waiting > 0);
  expect(await restart()).toBeGreaterThan(0);

  // Recorded answers without an outcome.
  await hold(id, 70);
  const answered = async () => paid() - lost === (await recorded(id));
  await on.worker.killAt(
    ['lock table events in share mode'],
    release,
    async (waiting) => (await answered()) && waiting > 0,
  );
  expect(await recorded(id)).toBeGreaterThan(await outcomes(id));
  await restart();

  const seen = await ended<Session>(on.service, id, 120);
  expect(seen).toMatchObject({ status: 'completed', error: null });
  expect(await found(on.service.query, id)).toEqual(await found(on.service.query, twin));
  expect(seen.progress.rollouts_completed).toBeLessThanOrEqual(maxRollouts);
  expect(paid()).toBe((await recorded(id)) + lost);
  const events = await eventsOf(on.service, id);
  expect(events.map(({ seq }) => seq)).toEqual(range(1, events.length));
  const spent = await settledSpend(on.service, id);
  expect(spent).toBeLessThanOrEqual(maxUsd);
  expect(spent).toBeGreaterThanOrEqual(paid() * callUsd);
}, 300_000);
