import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { jobAt, slots, type Job, type Model } from '../model.js';
import { asOperator, assertNothingStarted, workflowOf } from '../observe.js';
import type { Verb } from '../table.js';
import { afterwards, commandable, send, signal, take, takeUnanswered, type Door } from '../verbs.js';
import type { World } from '../world.js';

/** Pause, resume, cancel or stop; `again`: repeated under the same Idempotency-Key. */
class Control implements fc.AsyncCommand<Model, World> {
  private readonly slot: number;
  private readonly verb: Verb;
  private readonly door: Door;
  private readonly again: boolean;

  constructor(slot: number, verb: Verb, door: Door, again: boolean) {
    this.slot = slot;
    this.verb = verb;
    this.door = door;
    this.again = again;
  }

  check = (model: Readonly<Model>) => commandable(model, this.slot);

  async run(model: Model, world: World): Promise<void> {
    const job = jobAt(model, this.slot)!;
    assertNothingStarted(world, job);
    if (this.door === 'signal') {
      if (!job.dying) {
        await signal(world, job, this.verb);
        await takeUnanswered(world, model, job, this.verb, false);
      }
    } else {
      await this.answered(model, world, job, this.door);
    }
    await afterwards(world, model, job);
  }

  private async answered(model: Model, world: World, job: Job, door: Exclude<Door, 'signal'>): Promise<void> {
    const key = this.again && door === 'post' ? randomUUID() : undefined;
    const reply = await send(world, job, this.verb, door, key);
    await take(world, model, job, this.verb, reply);
    if (key === undefined || reply.code >= 500) return;
    const replayed = await send(world, job, this.verb, door, key);
    assert.deepEqual([replayed.code, replayed.body], [reply.code, reply.body]);
    assert.equal(replayed.headers.get('idempotency-replayed'), 'true');
  }

  toString = () => `${this.verb}(${this.slot}, ${this.door}${this.again ? ', twice under one key' : ''})`;
}

/** Temporal's own cancel, as sent by its UI. */
class NativeCancel implements fc.AsyncCommand<Model, World> {
  private readonly slot: number;

  constructor(slot: number) {
    this.slot = slot;
  }

  check = (model: Readonly<Model>) => commandable(model, this.slot) && !jobAt(model, this.slot)!.dying;

  async run(model: Model, world: World): Promise<void> {
    const job = jobAt(model, this.slot)!;
    assertNothingStarted(world, job);
    await asOperator(job, () => workflowOf(world, job).cancel());
    await takeUnanswered(world, model, job, 'cancel', true);
    await afterwards(world, model, job);
  }

  toString = () => `nativeCancel(${this.slot})`;
}

const verb = fc.constantFrom<Verb>('pause', 'pause', 'pause', 'resume', 'resume', 'cancel', 'stop');
const door = fc.constantFrom<Door>('post', 'post', 'patch', 'patch any kind', 'signal');

export const control = fc.tuple(slots, verb, door, fc.boolean()).map((args) => new Control(...args));
export const nativeCancel = slots.map((slot) => new NativeCancel(slot));
