import { expect, test } from '@jest/globals';
import {
  command,
  createSession,
  ended,
  evaluations,
  eventsOf,
  pathOf,
  readJob,
  sessions,
  type Evaluation,
  type Session,
} from '../../support/jobs-over-http.js';
import { range } from '../../support/range.js';
import { serviceOfFile } from '../../support/service-of-file.js';
import { until } from '../../support/until.js';
import { startMeteredWorld } from '../../support/worlds/metered.js';

const on = serviceOfFile(() => startMeteredWorld());
type Phase = Session['progress']['phase'];

const phaseOf = async (id: string) => (await readJob<Session | Evaluation>(on.service, id)).progress.phase;
const reached = (id: string, wanted: Partial<NonNullable<Phase>>) =>
  until(`${JSON.stringify(wanted)} is reached`, async () => {
    const phase = await phaseOf(id);
    const isReached = Object.entries(wanted).every(([name, value]) => phase?.[name as 'done'] === value);
    return isReached && phase;
  });

test('a search says its phase through a pause, its end and an extension', async () => {
  const { world, service } = on;
  const evaluation = { seeds: range(0, 10), heldout_seeds: range(30, 6) };
  const gepa = { generations: 12, population_size: 1, train_seeds: range(10, 20), evaluation };
  const id = await createSession(service, { ...world.job(40), gepa, max_concurrent: 1, budget: { max_rollouts: 60 } });
  await reached(id, { name: 'baseline', done: 0, total: 10 });
  world.allow(4);
  // Row 0 of 4 rules: no answer of the baseline is right.
  expect(await reached(id, { done: 4 })).toEqual({ name: 'baseline', done: 4, total: 10, mean_reward: 0 });
  const [listed] = (await service.api.call<{ data: Session[] }>('GET', sessions)).data;
  expect(listed!.progress.phase).toEqual({ name: 'baseline', done: 4, total: 10, mean_reward: 0 });

  await command(service, id, 'pause');
  expect(await phaseOf(id)).toMatchObject({ name: 'baseline', total: 10, mean_reward: 0 });
  await command(service, id, 'resume');
  expect(await phaseOf(id)).toMatchObject({ name: 'baseline', total: 10 });

  world.allow(6);
  await reached(id, { name: 'search' });
  world.allow(Infinity);
  const first = await ended<Session>(service, id);
  expect(first.progress.phase).toBeNull();
  world.hold();

  await service.api.call('POST', `${pathOf(id)}/extend`, { max_rollouts: 90, generations: 20 });
  const again = await until('it goes on', async () => await phaseOf(id));
  expect(['search', 'evaluation', 'heldout']).toContain(again.name);
  expect(again.done).toBe(0);
  world.allow(Infinity);
  expect((await ended<Session>(service, id)).progress.phase).toBeNull();
});

test('the phase is the stage of the rollout in flight', async () => {
  const { world, service } = on;
  world.hold();
  const evaluation = { seeds: range(0, 8), heldout_seeds: range(30, 4) };
  const gepa = { generations: 6, population_size: 1, train_seeds: range(10, 20), evaluation };
  const id = await createSession(service, { ...world.job(40), gepa, max_concurrent: 1, budget: { max_rollouts: 70 } });
  const seen: NonNullable<Phase>[] = [];
  for (;;) {
    const { progress, status } = await until(`rollout ${seen.length} is in flight`, async () => {
      const now = await readJob<Session>(service, id);
      const { rollouts_completed: completed, phase } = now.progress;
      const isInFlight = completed === seen.length && phase !== null && phase.done < phase.total;
      return (isInFlight || now.status === 'completed') && now;
    });
    if (status === 'completed') break;
    seen.push(progress.phase!);
    world.allow(1);
  }
  const stages = (await eventsOf(service, id)).flatMap(({ type, data }) =>
    type === 'rollout_completed' ? [(data as { stage: string }).stage] : [],
  );
  const names = seen.map(({ name }) => name);
  expect(names).toHaveLength(stages.length);
  const phases: Record<string, string[]> = {
    evaluation: ['evaluation', 'search'],
    minibatch: ['search'],
    gate: ['search'],
  };
  stages.forEach((stage, n) => expect(phases[stage] ?? [stage]).toContain(names[n]));
  expect(new Set(names)).toEqual(new Set(['baseline', 'search', 'evaluation', 'heldout']));
}, 120_000);

test('an evaluation counts its rows and their mean so far', async () => {
  const { world, service } = on;
  world.hold();
  const { dataset, scorer, policy } = world.job(6) as Record<string, object>;
  const candidate = { messages: [{ role: 'system', content: 'Answer well. needs rule-0.' }] };
  const body = { dataset, scorer, policy, candidate, seeds: range(0, 6), max_concurrent: 1, preflight: false };
  const { job_id: id } = await service.api.call<{ job_id: string }>('POST', evaluations, body);
  world.allow(2);
  // Row 0 is right, row 1 is wrong.
  expect(await reached(id, { done: 2 })).toEqual({ name: 'rows', done: 2, total: 6, mean_reward: 0.5 });
  world.allow(Infinity);
  expect((await ended<Evaluation>(service, id)).progress.phase).toBeNull();
});
