import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { slots, type Job, type Model } from '../model.js';
import { asOperator, workflowOf } from '../observe.js';
import type { Verb } from '../table.js';
import { send, signal, take, takeUnanswered, type Door } from '../verbs.js';
import type { World } from '../world.js';
import { mayCommand, onJob } from './command.js';

const verb = fc.constantFrom<Verb>('pause', 'pause', 'pause', 'resume', 'resume', 'cancel', 'stop');
const door = fc.constantFrom<Door>('post', 'post', 'patch', 'patch any kind', 'signal');

/** Pause, resume, cancel or stop; `again`: repeated under the same Idempotency-Key. */
export const control = fc.tuple(slots, verb, door, fc.boolean()).map(([slot, verb, door, again]) =>
  onJob(`${verb}(${slot}, ${door}${again ? ', twice under one key' : ''})`, slot, {
    may: mayCommand,
    async run(world, model, job) {
      if (door !== 'signal') return answered(world, model, job, { verb, door, again });
      if (job.dying) return;
      await signal(world, job, verb);
      await takeUnanswered(world, model, job, verb, false);
    },
  }),
);

interface Answered {
  verb: Verb;
  door: Exclude<Door, 'signal'>;
  again: boolean;
}

async function answered(world: World, model: Model, job: Job, { verb, door, again }: Answered): Promise<void> {
  const key = again && door === 'post' ? randomUUID() : undefined;
  const reply = await send(world, job, verb, door, key);
  await take(world, model, job, verb, reply);
  if (key === undefined || reply.code >= 500) return;
  const replayed = await send(world, job, verb, door, key);
  assert.deepEqual([replayed.code, replayed.body], [reply.code, reply.body]);
  assert.equal(replayed.headers.get('idempotency-replayed'), 'true');
}

/** Temporal's own cancel, as sent by its UI. */
export const nativeCancel = slots.map((slot) =>
  onJob(`nativeCancel(${slot})`, slot, {
    may: (model, job) => mayCommand(model) && !job.dying,
    async run(world, model, job) {
      await asOperator(job, () => workflowOf(world, job).cancel());
      await takeUnanswered(world, model, job, 'cancel', true);
    },
  }),
);
