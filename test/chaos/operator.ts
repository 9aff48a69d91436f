import { setTimeout as delay } from 'node:timers/promises';
import type { WorkflowHandle } from '@temporalio/client';
import type { Kill } from '../harness/evidence/evidence.js';
import { startEvaluation, startSession, type Job } from '../harness/jobs/jobs.js';
import { conclude } from '../harness/round.js';
import { patientPlan, sceneIn } from '../harness/scene.js';
import type { SeededChoice } from '../harness/seeded-choice.js';
import type { World } from '../harness/worlds/world.js';
import { Operator } from '../support/operator.js';
import type { Judged } from './kinds.js';

const actions = ['pause', 'resume', 'signal', 'reset', 'reset', 'complete', 'activity'] as const;
const actsOfJob = [3, 6] as const;
const betweenMs = [0, 1_500] as const;
const encodings = ['json/plain', 'json/protobuf', 'binary/encrypted', 'x'] as const;

/** An operator pauses, resumes, resets and completes by hand; at the end each job is resumed. */
export const operatorKind: Judged = {
  name: 'operator',
  async play(round) {
    const scene = await sceneIn(round, 'split');
    const { world, where } = scene;
    const plan = patientPlan(40);
    const jobs: Job[] = [];
    for (const n of [1, 2]) {
      jobs.push(await startEvaluation(where, `evaluation-${n}`, plan));
      jobs.push(await startSession(where, `session-${n}`, plan));
    }
    const kills = await Promise.all(jobs.map((job) => actOn(world, job, round.choice.of(job.name))));
    return conclude(round, scene, jobs, { kills: kills.flat() });
  },
};

/** Acts on a job until its workflow is closed; returns what may send rollouts in flight again. */
function actOn(world: World, { workflowId }: Job, choice: SeededChoice): Promise<Kill[]> {
  return world.temporal(async (client) => {
    const operator = new Operator(client);
    const handle = client.workflow.getHandle(workflowId);
    const kills: Kill[] = [];
    const acts = Array.from({ length: choice.between(...actsOfJob) }, () => choice.pick(actions));
    for (const what of acts) {
      await delay(choice.between(...betweenMs));
      const at = Date.now();
      await unlessClosed(() => act(operator, handle, what, choice));
      const isDisturbing = what === 'reset' || what === 'complete' || what === 'activity';
      if (isDisturbing) kills.push({ at, goneAt: Date.now(), until: Date.now(), what, worker: true, serving: false });
    }
    await unlessClosed(() => operator.signal(handle, 'resume'));
    return kills;
  });
}

async function act(operator: Operator, handle: WorkflowHandle, what: (typeof actions)[number], choice: SeededChoice) {
  const encoding = choice.pick(encodings);
  switch (what) {
    case 'pause':
    case 'resume':
      return operator.signal(handle, what, '{"x":1}', encoding);
    case 'signal':
      return operator.signal(handle, choice.pick(['hint', 'paws', '__temporal_x', 'reward']), 'not JSON', encoding);
    case 'reset':
      return operator.reset(handle, choice.between(0, 9), choice.pick(['signals', 'none']));
    case 'complete':
      if (await operator.pending(handle, 'drive'))
        await operator.complete(handle, 'drive', choice.pick([null, { done: true }, endedByHand]), encoding);
      return;
    case 'activity':
      if (await operator.pending(handle, 'drive')) await operator.resetActivity(handle, 'drive');
  }
}

const endedByHand = { rest: { kind: 'ended', end: { kind: 'completed', stoppedBy: 'completed' } } };

/** gRPC codes of what has ended meanwhile: NOT_FOUND, INVALID_ARGUMENT, FAILED_PRECONDITION. */
const over = [5, 3, 9];

async function unlessClosed(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const { code, name, message } = error as Error & { code?: number };
    if (name !== 'WorkflowNotFoundError' && !over.includes(code ?? -1) && !message.startsWith('waited')) throw error;
  }
}
