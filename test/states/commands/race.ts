import { WorkflowNotFoundError } from '@temporalio/client';
import fc from 'fast-check';
import { isLate } from '../held-container.js';
import { jobAt, slots, type Job, type Model } from '../model.js';
import { answerTo, assertNothingStarted, settle, workflowOf } from '../observe.js';
import { isTerminal } from '../../../src/core/jobs/status.js';
import { courses, type Answer, type Verb } from '../table.js';
import { afterwards, send, type Door } from '../verbs.js';
import type { World } from '../world.js';
import { adopt, adoptOutcomes } from './faults.js';
import { recorded } from './work.js';

interface Entrant {
  verb: Verb;
  door: Door | 'native';
}

/** Concurrent commands, explained by some order; `releasing`: the container answers meanwhile. */
class Race implements fc.AsyncCommand<Model, World> {
  private readonly slot: number;
  private readonly entrants: Entrant[];
  private readonly releasing: boolean;

  constructor(slot: number, entrants: Entrant[], releasing: boolean) {
    this.slot = slot;
    this.entrants = entrants;
    this.releasing = releasing;
  }

  check(model: Readonly<Model>) {
    const job = jobAt(model, this.slot);
    // A session with an outcome recorded during its pause may end at the resume.
    return job !== undefined && model.workerLives && !job.dying && !(job.kind === 'session' && job.stirred);
  }

  async run(model: Model, world: World): Promise<void> {
    const job = jobAt(model, this.slot)!;
    assertNothingStarted(world, job);
    const released = await this.toRelease(world, job);
    for (const { id } of released) world.container.release(id);
    const answers = await Promise.all(this.entrants.map((entrant) => enter(world, job, entrant)));
    const ends = ({ id, seed }: { id: string; seed: number }) =>
      !isLate(seed) || job.inbox.some(({ rollout, counted }) => counted && rollout === id);
    const ending = released.filter(ends).length + job.outcomes.size === job.seeds.length;
    const mayComplete = job.kind === 'evaluation' && ending;
    const possible = [
      ...courses(job.state, this.entrants, { inOrder: false, done: false }),
      ...(mayComplete ? courses(job.state, this.entrants, { inOrder: false, done: true }) : []),
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
    await afterwards(world, model, job);
  }

  private async toRelease(world: World, job: Job): Promise<{ id: string; seed: number }[]> {
    if (!this.releasing || job.kind !== 'evaluation' || isTerminal(job.state.status)) return [];
    await settle(world, job, true);
    const held = world.container.held(job.id);
    return world.sql('select id, seed::int from rollouts where job_id = $1 and id = any($2)', [job.id, held]);
  }

  toString() {
    const entrants = this.entrants.map(({ verb, door }) => `${verb} ${door}`).join(' | ');
    return `race(${this.slot}, ${entrants}${this.releasing ? ', while the container answers' : ''})`;
  }
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

const entrant = fc.record<Entrant>({
  verb: fc.constantFrom('pause', 'pause', 'resume', 'cancel', 'stop'),
  door: fc.constantFrom('post', 'post', 'post', 'patch', 'signal', 'native'),
});

export const race = fc
  .tuple(slots, fc.array(entrant, { minLength: 2, maxLength: 3 }), fc.boolean())
  .map((args) => new Race(...args));
