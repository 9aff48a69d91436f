import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import { until } from '../../support/until.js';
import { jobAt, isDone, slots, type Job, type Model } from '../model.js';
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
import { recorded } from './work.js';

/** An operator's Terminate: no workflow code runs, the reconciler closes the row. */
class Terminate implements fc.AsyncCommand<Model, World> {
  private readonly slot: number;

  constructor(slot: number) {
    this.slot = slot;
  }

  check(model: Readonly<Model>) {
    const job = jobAt(model, this.slot);
    return job !== undefined && !job.dying && !isTerminal(job.state.status);
  }

  async run(model: Model, world: World): Promise<void> {
    const job = jobAt(model, this.slot)!;
    await asOperator(job, () => workflowOf(world, job).terminate('a test'));
    job.dying = true;
    job.wasTerminated = true;
    job.pending = [];
    await afterwards(world, model, job);
  }

  toString = () => `terminate(${this.slot})`;
}

/** kill -9 of the worker; `answering`: while the container answers rollouts of the first jobs. */
class KillWorker implements fc.AsyncCommand<Model, World> {
  private readonly answering: boolean;

  constructor(answering: boolean) {
    this.answering = answering;
  }

  check = (model: Readonly<Model>) => model.mayKill && model.workerLives && model.kills < 2;

  async run(model: Model, world: World): Promise<void> {
    if (this.answering) {
      for (const job of model.jobs) for (const id of world.container.held(job.id)) world.container.release(id);
    }
    await world.worker.kill();
    model.workerLives = false;
    model.kills += 1;
    model.sinceKill = 0;
    for (const job of model.jobs) await adoptOutcomes(world, job);
    for (const job of model.jobs) await afterwards(world, model, job);
  }

  toString = () => `killWorker(${this.answering ? 'while the container answers' : ''})`;
}

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
class StartWorker implements fc.AsyncCommand<Model, World> {
  check = (model: Readonly<Model>) => !model.workerLives;

  run = (model: Model, world: World): Promise<void> => startWorker(world, model);

  toString = () => 'startWorker()';
}

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

/** kill -9 and restart of the API; `during`: this many ms after sending a command. */
class KillApi implements fc.AsyncCommand<Model, World> {
  private readonly slot: number;
  private readonly during: Verb | null;
  private readonly ms: number;

  constructor(slot: number, during: Verb | null, ms: number) {
    this.slot = slot;
    this.during = during;
    this.ms = ms;
  }

  check = (model: Readonly<Model>) => model.mayKill && model.workerLives && jobAt(model, this.slot)?.dying === false;

  async run(model: Model, world: World): Promise<void> {
    const job = jobAt(model, this.slot)!;
    const verb = this.during;
    if (verb === null) {
      await restartApi(world);
      return afterwards(world, model, job);
    }
    assertNothingStarted(world, job);
    // No answer, or an incomplete one: the command may have taken effect or not.
    const sent = send(world, job, verb, 'post').catch(() => null);
    await delay(this.ms);
    await restartApi(world);
    const reply = await sent;
    if (reply) await take(world, model, job, verb, reply);
    else await adopt(world, job, this.either(job, verb), []);
    await afterwards(world, model, job);
  }

  private either(job: Job, verb: Verb): Course[] {
    const done = isDone(job);
    return [
      ...courses(job.state, [{ verb }], { inOrder: true, done }),
      ...courses(job.state, [], { inOrder: true, done }),
    ];
  }

  toString = () => `killApi(${this.during === null ? '' : `${this.during} of ${this.slot}, after ${this.ms} ms`})`;
}

export const terminate = slots.map((slot) => new Terminate(slot));
export const killWorker = fc.boolean().map((answering) => new KillWorker(answering));
export const startAgain = fc.constant(null).map(() => new StartWorker());
export const killApi = fc
  .tuple(slots, fc.constantFrom<(Verb | null)[]>(null, 'pause', 'resume', 'cancel', 'stop'), fc.nat(20))
  .map((args) => new KillApi(...args));
