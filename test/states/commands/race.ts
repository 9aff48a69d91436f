import { WorkflowNotFoundError } from '@temporalio/client';
import fc from 'fast-check';
import { isLate } from '../held-container.js';
import { slots, type Job } from '../model.js';
import { answerTo, settle, workflowOf } from '../observe.js';
import { isTerminal } from '../../../src/core/jobs/status.js';
import { courses, type Answer, type Verb } from '../table.js';
import { send, type Door } from '../verbs.js';
import type { World } from '../world.js';
import { onJob } from './command.js';
import { adopt, adoptOutcomes } from './faults.js';
import { recorded } from './work.js';

interface Entrant {
  verb: Verb;
  door: Door | 'native';
}

const entrant = fc.record<Entrant>({
  verb: fc.constantFrom('pause', 'pause', 'resume', 'cancel', 'stop'),
  door: fc.constantFrom('post', 'post', 'post', 'patch', 'signal', 'native'),
});

/** Concurrent commands, explained by some order; `releasing`: the container answers meanwhile. */
export const race = fc
  .tuple(slots, fc.array(entrant, { minLength: 2, maxLength: 3 }), fc.boolean())
  .map(([slot, entrants, releasing]) =>
    onJob(nameOf(slot, entrants, releasing), slot, {
      // A session with an outcome recorded during its pause may end at the resume.
      may: (model, job) => model.workerLives && !job.dying && !(job.kind === 'session' && job.stirred),
      run: (world, _model, job) => run(world, job, entrants, releasing),
    }),
  );

function nameOf(slot: number, entrants: Entrant[], releasing: boolean): string {
  const named = entrants.map(({ verb, door }) => `${verb} ${door}`).join(' | ');
  return `race(${slot}, ${named}${releasing ? ', while the container answers' : ''})`;
}

async function run(world: World, job: Job, entrants: Entrant[], releasing: boolean): Promise<void> {
  const released = releasing ? await toRelease(world, job) : [];
  for (const { id } of released) world.container.release(id);
  const answers = await Promise.all(entrants.map((entrant) => enter(world, job, entrant)));
  const ends = ({ id, seed }: { id: string; seed: number }) =>
    !isLate(seed) || job.inbox.some(({ rollout, counted }) => counted && rollout === id);
  const ending = released.filter(ends).length + job.outcomes.size === job.seeds.length;
  const mayComplete = job.kind === 'evaluation' && ending;
  const possible = [
    ...courses(job.state, entrants, { inOrder: false, done: false }),
    ...(mayComplete ? courses(job.state, entrants, { inOrder: false, done: true }) : []),
  ];
  await adopt(world, job, possible, answers);
  if (isTerminal(job.state.status)) await adoptOutcomes(world, job);
  else if (released.length > 0) {
    await recorded(
      world,
      job,
      released.map(({ id }) => id),
    );
  }
}

async function toRelease(world: World, job: Job): Promise<{ id: string; seed: number }[]> {
  if (job.kind !== 'evaluation' || isTerminal(job.state.status)) return [];
  await settle(world, job, true);
  const held = world.container.held(job.id);
  return world.sql('select id, seed::int from rollouts where job_id = $1 and id = any($2)', [job.id, held]);
}

/** The table's decision on the answer; null without an answer. */
async function enter(world: World, job: Job, { verb, door }: Entrant): Promise<Answer | null> {
  if (door !== 'signal' && door !== 'native') return answerTo(world, job, await send(world, job, verb, door));
  const workflow = workflowOf(world, job);
  const sent =
    door === 'native' && verb === 'cancel'
      ? workflow.cancel()
      : verb === 'stop'
        ? workflow.signal('reward', { stop: true })
        : workflow.signal(verb);
  await sent.catch((error: unknown) => {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  });
  return null;
}
