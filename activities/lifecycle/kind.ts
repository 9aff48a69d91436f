import type { NewEvent } from '../../src/core/events/event.js';
import type { EndedAs } from '../../src/core/events/jobs.js';
import type { JobFault } from '../../src/core/jobs/fault.js';
import type { JobOutcome } from '../../src/core/jobs/outcome.js';
import type { JobProgress } from '../../src/core/jobs/progress.js';
import type { JobSpec } from '../../src/core/jobs/spec.js';
import type { PolicySpec } from '../../src/core/jobs/policy.js';
import type { Message } from '../../src/core/prompts/message.js';
import type { SearchView } from '../../src/core/search/protocol.js';
import type { ClosedState } from '../../src/jobs/store/decisions/record.js';
import type { Tx } from '../../src/platform/db/db.js';
import type { JobRef } from '../../src/jobs/store/events.js';
import type { ActivityDeps } from '../deps.js';
import type { Driven } from '../drive/rest.js';
import type { RolloutRunners } from '../rollouts/run.js';
import type { RunnerContext } from '../rollouts/runner.js';

/** What the activities of a job do by its kind; each kind has a record in its folder. */
export interface KindActivities<Spec extends JobSpec = JobSpec> {
  /** The models that rollouts and proposals call. */
  models(spec: Spec): CheckedModel[];
  /** Asks the job's container for the prompt of the baseline. Absent: the spec has it. */
  findPrompt?(deps: ActivityDeps, spec: Spec, container: AskedContainer): Promise<Message[] | null>;
  /** The first events of a job; `prompt`: that of the baseline, null: not known yet. */
  startEvents(spec: Spec, prompt: Message[] | null): NewEvent[];
  /** Stores what the first rollout needs; idempotent. */
  begin(tx: Tx, job: JobRef, spec: Spec, from: { run: number; prompt: Message[] | null }): Promise<JobProgress>;
  /** Goes on with a prepared job, whose lease the caller holds. */
  drive(tx: Tx, deps: ActivityDeps, rollouts: RolloutRunners, runner: RunnerContext): Promise<() => Promise<Driven>>;
  /** The error and the last events of a job. `view`: what its search has found, null: nothing. */
  end(tx: Tx, job: JobRef, ended: JudgedEnd<Spec>): Promise<JobClose>;
}

/** The candidate that a job begins with, beside its texts. */
export const baseline = { leverVersion: 0, generation: 0, parents: [] };

/** A model that a job calls; `field`: the field of its request that names it. */
export interface CheckedModel {
  policy: Pick<PolicySpec, 'provider' | 'model'>;
  field: string;
}

export interface AskedContainer {
  key: string | null;
  /** More than 1: an extended job, whose baseline is on record. */
  run: number;
  signal: AbortSignal;
}

export interface JudgedEnd<Spec> {
  spec: Spec;
  outcome: JobOutcome;
  view: SearchView | null;
}

export type JobClose = Pick<ClosedState, 'error' | 'events'>;

export function endedAs(status: JobOutcome['status'], error: JobFault | null): EndedAs {
  return status === 'failed' ? { status, error: error ?? unknownError } : { status };
}

const unknownError: JobFault = { code: 'internal', message: 'No reason was recorded.', retryable: false };
