import { stateOf } from '../../src/jobs/store/decisions/record.js';
import { readLastSeq, type JobRef } from '../../src/jobs/store/events.js';
import { readShown } from '../../src/jobs/store/shown.js';
import type { ActivityDeps } from '../deps.js';
import { activitiesOf } from './kinds.js';
import { Interruptions } from '../rollouts/interruptions.js';
import { withLease } from '../rollouts/lease.js';
import type { RolloutRunners } from '../rollouts/run.js';
import type { Driven, ShownSlice } from '../drive/rest.js';
import { Watch, type WatchLimits } from '../watch/watch.js';
import { watchedDeps } from '../watch/watched-deps.js';

export function driveActivity(given: ActivityDeps, rollouts: RolloutRunners, limits: Partial<WatchLimits> = {}) {
  return {
    /**
     * Goes on with a job from its record, for some seconds or until an interruption. Every outcome
     * and input is recorded before what follows from it, so a retry goes on behind it.
     */
    drive: async ({ orgId, jobId }: JobRef): Promise<ShownSlice> => {
      const job: JobRef = { orgId, jobId };
      const record = await given.db.org(orgId, (tx) => readLastSeq(tx, jobId));
      const watch = new Watch(given, job, 'drive', limits);
      const deps = watchedDeps(given, watch.line);
      // Listen first: a pause that is answered after the first claims must be heard.
      const interruptions = new Interruptions(deps, job, record, () => watch.details);
      const drive = async (): Promise<ShownSlice> => {
        const slice = await withLease(deps.db, job, interruptions, async (tx, token, row) => {
          const held = await rollouts.open(tx, job);
          const runner = { job, ...held, token, interruptions, watch };
          const run = await activitiesOf(held.runnable.spec).drive(tx, deps, rollouts, runner);
          return { run, state: stateOf(row) };
        });
        const driven: Driven = slice ? await slice.run() : { rest: { kind: 'again' }, progress: null };
        // Temporal starts the next attempt once the operator unpauses the activity.
        if (interruptions.isPaused && driven.rest.kind === 'again') throw new Error('An operator paused the activity.');
        const state = slice && slice.state;
        if (driven.rest.kind === 'failed') return { ...driven, state, row: null };
        return { ...driven, state, row: await deps.db.org(orgId, (tx) => readShown(tx, jobId)) };
      };
      try {
        return await watch.run(drive, (reason) => interruptions.giveUp(reason));
      } finally {
        interruptions.close();
      }
    },
  };
}
