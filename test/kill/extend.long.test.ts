import { beforeAll, expect, test } from '@jest/globals';
import { gate, type Gate } from '../support/gate.js';
import { createSession, ended, eventsOf, pathOf, type Session } from '../support/jobs-over-http.js';
import { range } from '../support/range.js';
import { until } from '../support/until.js';
import { startRowsWorld } from '../support/worlds/rows.js';
import { found } from '../harness/evidence/found.js';
import { workerOfFile } from '../harness/worlds/processes.js';

// kill -9 of the worker of an extended session, with calls at the model: the path equals
// that of an extended session without a kill, and no recorded answer is bought again.

let held: Gate | null = null;

const on = workerOfFile(async () => {
  const world = await startRowsWorld(6);
  const { answer } = world;
  world.model.reply(async (request) => {
    if (request.body.model === 'policy') await held?.opened;
    return answer(request);
  });
  return world;
});
beforeAll(() => on.worker.start(), 60_000);

const create = () =>
  createSession(on.service, {
    ...on.world.job(48),
    gepa: { population_size: 2, generations: 1 },
    rng_seed: 7,
    max_concurrent: 3,
  });
const extend = (id: string) => on.service.api.call('POST', `${pathOf(id)}/extend`, { generations: 12 });

const countOf = async (sql: string, id: string) => (await on.service.query<{ n: number }>(sql, [id]))[0]!.n;
const recorded = (id: string) =>
  countOf("select count(*)::int as n from model_calls where job_id = $1 and purpose = 'rollout'", id);
const open = () => on.world.policyCalls().filter(({ closed }) => !closed).length;

test('an extended session ends as without a kill', async () => {
  const twin = await create();
  await ended<Session>(on.service, twin);
  await extend(twin);
  await ended<Session>(on.service, twin);

  const before = on.world.policyCalls().length;
  const id = await create();
  await ended<Session>(on.service, id);
  const first = await recorded(id);
  await extend(id);
  await until('the run goes on', async () => (await recorded(id)) >= first + 5, 60);
  held = gate();
  await until('a call stands at the model', () => Promise.resolve(open() > 0), 60);
  await on.worker.kill();
  held.open();
  held = null;
  const lost = on.world.policyCalls().length - before - (await recorded(id));
  await on.worker.start();

  const seen = await ended<Session>(on.service, id, 120);
  expect(seen).toMatchObject({ status: 'completed', error: null, best_reward: 1 });
  expect(await found(on.service.query, id)).toEqual(await found(on.service.query, twin));
  expect(lost).toBeLessThanOrEqual(3);
  expect(on.world.policyCalls().length - before).toBe((await recorded(id)) + lost);
  const events = await eventsOf(on.service, id);
  expect(events.map(({ seq }) => seq)).toEqual(range(1, events.length));
  expect(events.filter(({ type }) => type === 'job_complete')).toHaveLength(2);
}, 180_000);
