import { setTimeout as delay } from 'node:timers/promises';
import { startEvaluation, startSession, type Job } from '../harness/jobs/jobs.js';
import type { Judged } from './kinds.js';
import { conclude } from '../harness/round.js';
import { patientPlan, sceneIn } from '../harness/scene.js';
import type { World } from '../harness/worlds/world.js';

const atMs = [0, 4_000] as const;

/** An operator terminates and cancels workflows at random moments, without the service. */
export const outsideKind: Judged = {
  name: 'outside',
  async play(round) {
    const { choice } = round;
    const scene = await sceneIn(round, 'split');
    const { world, where } = scene;
    // A job that ends before the operator acts ends as usual.
    const plan = { ...patientPlan(40), mayEnd: ['completed', 'cancelled', 'failed'] };
    const jobs: Job[] = [];
    for (const n of [1, 2]) {
      jobs.push(await startEvaluation(where, `evaluation-${n}`, plan));
      jobs.push(await startSession(where, `session-${n}`, plan));
    }
    const acts = jobs.map((job) => {
      job.outside = choice.pick(['terminate', 'terminate', 'cancel', 'signal'] as const);
      job.mayEnd = ['completed', job.outside === 'terminate' ? 'failed' : 'cancelled'];
      return { job, after: choice.between(...atMs) };
    });
    await Promise.all(acts.map(({ job, after }) => delay(after).then(() => interfere(world, job))));
    return conclude(round, scene, jobs);
  },
};

/** An operator's action in the Temporal UI; has no effect on a closed workflow. */
export async function interfere(world: World, { workflowId, outside }: Job): Promise<void> {
  await world.temporal(async (client) => {
    const handle = client.workflow.getHandle(workflowId);
    try {
      if (outside === 'terminate') await handle.terminate('chaos');
      else if (outside === 'cancel') await handle.cancel();
      else await handle.signal('cancel');
    } catch (error) {
      if ((error as Error).name !== 'WorkflowNotFoundError') throw error;
    }
  });
}
