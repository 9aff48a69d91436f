import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import { until } from '../../support/until.js';
import { isDone, slots, type Job, type Model } from '../model.js';
import {
  asOperator,
  assertNothingStarted,
  changes,
  flush,
  look,
  outcomeOf,
  quieten,
  rolloutsOf,
  settle,
  workflowOf,
} from '../observe.js';
import { isTerminal } from '../../../src/core/jobs/status.js';
import { courses, type Course, type Verb } from '../table.js';
import { afterwards, move, send, take } from '../verbs.js';
import type { World } from '../world.js';
import { onJob, type Command } from './command.js';
import { recorded } from './work.js';

/** An operator's Terminate: no workflow code runs, the reconciler closes the row. */
export const terminate = slots.map((slot) =>
  onJob(`terminate(${slot})`, slot, {
    may: (_model, job) => !job.dying && !isTerminal(job.state.status),
    async run(world, _model, job) {
      await asOperator(job, () => workflowOf(world, job).terminate('a test'));
      Object.assign(job, { dying: true, wasTerminated: true, pending: [] });
    },
  }),
);

/** kill -9 of the worker; `answering`: while the container answers rollouts of the first jobs. */
export const killWorker = fc.boolean().map((answering): Command => ({
  check: (model) => model.mayKill && model.workerLives && model.kills < 2,
  async run(model, world) {
    if (answering) {
      for (const job of model.jobs) for (const id of world.container.held(job.id)) world.container.release(id);
    }
    await world.worker.kill();
    model.workerLives = false;
    model.kills += 1;
    model.sinceKill = 0;
    for (const job of model.jobs) await adoptOutcomes(world, job);
    for (const job of model.jobs) await afterwards(world, model, job);
  },
  toString: () => `killWorker(${answering ? 'while the container answers' : ''})`,
}));

/** Records before the kill count, and must still exist. */
export async function adoptOutcomes(world: World, job: Job): Promise<void> {
  const rows = await rolloutsOf(world, job);
  const ended = rows.filter(({ status }) => status === 'succeeded');
  for (const id of job.outcomes.keys())
    assert.ok(
      ended.some((row) => row.id === id),
      `the outcome of ${id} is lost`,
    );
  const fresh = rows.filter(
    ({ id, status }) =>
      (status === 'succeeded' && !job.outcomes.has(id)) || (status === 'awaiting_reward' && !job.awaited.has(id)),
  );
  await recorded(
    world,
    job,
    fresh.map(({ id }) => id),
  );
}

/** A worker returns: pending commands take effect in order, and every job continues. */
export const startAgain = fc.constant<Command>({
  check: (model) => !model.workerLives,
  run: (model, world) => startWorker(world, model),
  toString: () => 'startWorker()',
});

export async function startWorker(world: World, model: Model): Promise<void> {
  for (const job of model.jobs) {
    // The dead worker's last transactions may have been committed after its death.
    await adoptOutcomes(world, job);
    assertNothingStarted(world, job);
  }
  await world.worker.start();
  model.workerLives = true;
  for (const job of model.jobs) {
    if (!job.dying && !isTerminal(job.state.status)) await catchUp(world, job);
    await settle(world, job, true);
    await quieten(world, job);
  }
}

async function catchUp(world: World, job: Job): Promise<void> {
  const { pending } = job;
  job.pending = [];
  if (pending.length === 0) return;
  const possible = courses(job.state, pending, { inOrder: true, done: isDone(job) });
  const decided = await Promise.all(
    pending.map(
      async ({ commandId }) =>
        commandId && (await until(`${commandId} is decided`, () => outcomeOf(world, commandId), 90)).answer,
    ),
  );
  await adopt(world, job, possible, decided);
}

/** Advances the model along the observed course; fails if no course explains it. */
export async function adopt(world: World, job: Job, possible: Course[], answers: (unknown | null)[]): Promise<void> {
  const fits = (course: Course) => answers.every((answer, i) => !answer || same(answer, course.answers[i]));
  const candidates = possible.filter(fits);
  const description = () => `${job.id} was ${job.state.status}; answers ${JSON.stringify(answers)}`;
  assert.ok(candidates.length > 0, `no order explains what was answered: ${description()}`);
  await flush(world, job);
  let seen: unknown;
  const taken = await until(
    `an order explains where ${description()}`,
    async () => {
      const { paused, resumed } = await changes(world, job);
      const { status } = await look(world, job);
      seen = { status, paused, resumed };
      return candidates.find((course) => same(course.state, { status, paused, resumed }));
    },
    20,
  ).catch((error: Error) => {
    throw new Error(`no order explains where ${description()}, seen ${JSON.stringify(seen)}`, { cause: error });
  });
  move(job, taken.state);
}

const same = (a: unknown, b: unknown): boolean => {
  try {
    assert.deepEqual(a, b);
    return true;
  } catch {
    return false;
  }
};

async function restartApi({ api }: World): Promise<void> {
  await api.kill();
  await api.start();
}

const during = fc.constantFrom<(Verb | null)[]>(null, 'pause', 'resume', 'cancel', 'stop');

/** kill -9 and restart of the API; `during`: this many ms after sending a command. */
export const killApi = fc.tuple(slots, during, fc.nat(20)).map(([slot, verb, ms]) =>
  onJob(`killApi(${verb === null ? '' : `${verb} of ${slot}, after ${ms} ms`})`, slot, {
    may: (model, job) => model.mayKill && model.workerLives && !job.dying,
    async run(world, model, job) {
      if (verb === null) return restartApi(world);
      // No answer, or an incomplete one: the command may have taken effect or not.
      const sent = send(world, job, verb, 'post').catch(() => null);
      await delay(ms);
      await restartApi(world);
      const reply = await sent;
      if (reply) return take(world, model, job, verb, reply);
      const how = { inOrder: true, done: isDone(job) };
      await adopt(world, job, [...courses(job.state, [{ verb }], how), ...courses(job.state, [], how)], []);
    },
  }),
);
