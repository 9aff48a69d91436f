import { setMaxListeners } from 'node:events';
import { readControl } from '../../src/jobs/store/events.js';
import type { ActivityDeps } from '../deps.js';
import { leaseLost } from '../jobs/spec.js';
import { keepLease } from '../rollouts/lease.js';
import type { RunnerContext } from '../rollouts/runner.js';
import type { PartName } from '../watch/part.js';
import { watchedDeps } from '../watch/watched-deps.js';

/** A try at the proposer, and the longest wait before it. */
const longestCallMs = 6 * 60_000;

/** Model calls of a job, such as the proposer's, that end once the job is stopped. */
export class StoppableCalls {
  private readonly stopper = new AbortController();
  private readonly stopListening: () => void;
  private readonly deps: ActivityDeps;
  private readonly runner: RunnerContext;

  constructor(deps: ActivityDeps, runner: RunnerContext) {
    this.deps = deps;
    this.runner = runner;
    // Every call listens to it.
    setMaxListeners(0, this.stopper.signal);
    const { obsolete } = runner.interruptions;
    this.stopListening = runner.interruptions.listen({
      onNews: () => void this.stopIfEnding(),
      onStop: () => (obsolete.aborted ? this.stopper.abort(obsolete.reason) : void this.stopIfEnding()),
    });
  }

  close(): void {
    this.stopListening();
  }

  /** Null: the job was stopped meanwhile. Rejects with StoodStill. */
  async unlessStopped<T>(
    name: PartName,
    work: (deps: ActivityDeps, signal: AbortSignal) => Promise<T>,
  ): Promise<T | null> {
    const { stopper, runner } = this;
    const { signal } = stopper;
    // Rollouts renew it too, but may end earlier.
    const lease = keepLease(this.deps, runner, () => stopper.abort(leaseLost(runner.job)));
    try {
      const result = await runner.watch.part(name, longestCallMs, (part) => work(watchedDeps(this.deps, part), signal));
      return signal.aborted ? null : result;
    } catch (error) {
      if (signal.aborted) return null;
      throw error;
    } finally {
      lease.end();
    }
  }

  private async stopIfEnding(): Promise<void> {
    const { deps, stopper, runner } = this;
    const { orgId, jobId } = runner.job;
    try {
      const control = await deps.db.org(orgId, (tx) => readControl(tx, jobId));
      if (control === 'stop') stopper.abort(new Error('the job was stopped'));
    } catch (err) {
      // A stop also reaches the activity as its cancellation.
      deps.log.warn({ err, job_id: jobId }, 'control of the job not read');
    }
  }
}
