import type fc from 'fast-check';
import { jobAt, type Job, type Model } from '../model.js';
import { assertNothingStarted } from '../observe.js';
import { afterwards } from '../verbs.js';
import type { World } from '../world.js';

export type Command = fc.AsyncCommand<Model, World>;

/** What a command on a job needs and does. */
interface OnJob {
  may(model: Readonly<Model>, job: Job): boolean;
  run(world: World, model: Model, job: Job): Promise<void>;
}

/** A command on the job of a slot. */
export function onJob(name: string, slot: number, { may, run }: OnJob): Command {
  return {
    check(model) {
      const job = jobAt(model, slot);
      return job !== undefined && may(model, job);
    },
    async run(model, world) {
      const job = jobAt(model, slot)!;
      assertNothingStarted(world, job);
      await run(world, model, job);
      await afterwards(world, model, job);
    },
    toString: () => name,
  };
}

/** Whether a job may get a command: without a worker at most two commands may wait. */
export const mayCommand = (model: Readonly<Model>): boolean => model.workerLives || model.sinceKill < 2;
