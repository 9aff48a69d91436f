import assert from 'node:assert/strict';
import type { Job, Model } from './model.js';
import { answerTo, asOperator, assertIds, atRest, flush, pathOf, quieten, settle, workflowOf } from './observe.js';
import { isTerminal } from '../../src/core/jobs/status.js';
import { step, type ExpectedState, type Verb } from './table.js';
import type { Reply, World } from './world.js';

/** Ways to send a command. `signal`: from the Temporal UI, without a command id. */
export type Door = 'post' | 'patch' | 'patch any kind' | 'signal';

const states = { pause: 'paused', resume: 'running', cancel: 'cancelled' } as const;

/** Sends a verb over HTTP. A stop has only one route. */
export function send(world: World, job: Job, verb: Verb, door: Exclude<Door, 'signal'>, key?: string): Promise<Reply> {
  const path = pathOf(job);
  if (verb === 'stop') return world.call('POST', `${path}/reward`, { stop: true }, key);
  if (door === 'post') return world.call('POST', `${path}/${verb}`, undefined, key);
  return world.call('PATCH', door === 'patch' ? path : `/api/v1/offline/jobs/${job.id}`, { state: states[verb] });
}

/** Sends a verb as an operator. */
export function signal(world: World, job: Job, verb: Verb): Promise<void> {
  const workflow = workflowOf(world, job);
  return asOperator(job, () => (verb === 'stop' ? workflow.signal('reward', { stop: true }) : workflow.signal(verb)));
}

/** Compares an answer with the table, and updates the model. */
export async function take(world: World, model: Model, job: Job, verb: Verb, reply: Reply): Promise<void> {
  if (job.dying) return takeOfTerminated(job, verb, reply);
  if (!model.workerLives && !isTerminal(job.state.status)) {
    assert.equal(reply.code, 202, `${verb} without a worker: ${JSON.stringify(reply.body)}`);
    assertIds(job, reply.body);
    assert.equal(reply.body['pending_command'], verb);
    assert.equal(reply.body['status'], job.state.status);
    job.pending.push({ verb, commandId: String(reply.body['command_id']) });
    model.sinceKill += 1;
    return;
  }
  meet(model, job, verb);
  const due = step(job.state, verb);
  assert.deepEqual(await answerTo(world, job, reply), due.answer, `${verb} of ${job.id}, ${job.state.status}`);
  move(job, due.state);
}

/** The workflow is gone, its row still open: no command can take effect. */
function takeOfTerminated(job: Job, verb: Verb, reply: Reply): void {
  if (reply.code === 503) {
    assert.equal(reply.body['code'], 'workflow_gone');
    assert.ok(reply.headers.get('retry-after'));
    return;
  }
  assert.equal(reply.code, 409, `${verb} of ${job.id}, terminated: ${JSON.stringify(reply.body)}`);
  assert.equal(reply.body['current_status'], 'failed');
}

/** Effect of an unanswered verb: with a worker wait for it, without one store it. */
export async function takeUnanswered(world: World, model: Model, job: Job, verb: Verb, native: boolean): Promise<void> {
  if (job.dying || isTerminal(job.state.status)) return;
  if (!model.workerLives) {
    job.pending.push({ verb, native, commandId: null });
    return;
  }
  meet(model, job, verb);
  move(job, step(job.state, verb).state);
  await flush(world, job);
}

/** Records the cell of the table covered by a verb. */
const meet = (model: Model, job: Job, verb: Verb): unknown => model.cells.add(`${job.state.status} ${verb}`);

/** Moves the job to another state. */
export function move(job: Job, index: ExpectedState): void {
  const again = job.state.status !== 'paused' || index.paused > job.state.paused;
  if (index.status !== 'paused') job.pausedAt = null;
  else if (again) job.pausedAt = Date.now() + 1;
  if (index.status !== 'paused' || again) job.callsWhenPaused = null;
  job.state = index;
}

/** The row follows at once; a job without open work completes as soon as it runs. */
export async function afterwards(world: World, model: Model, job: Job): Promise<void> {
  if (job.stirred && job.state.status === 'running') await settle(world, job, model.workerLives);
  if (model.workerLives) await quieten(world, job);
  await atRest(world, job);
}
