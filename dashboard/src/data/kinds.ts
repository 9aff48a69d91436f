/** The kinds of job, as pages show and call them. A page asks for the kind of an id here. */
import { kindOf, type JobKind } from '../../../src/core/jobs/kinds.js';

export const kinds = {
  session: { title: 'Sessions' },
  evaluation: { title: 'Evaluations' },
  graph: { title: 'Graphs' },
} as const satisfies Record<RunKind, object>;

/** The kinds that have rollouts. */
export type RunKind = Exclude<JobKind, 'deployment' | 'migration' | 'checkup'>;
export const runKinds = Object.keys(kinds) as RunKind[];

/** The kind of a job. An id of no kind is looked up as a session's: the service knows neither. */
export const kindOfJob = (id: string): JobKind => kindOf(id) ?? 'session';

/** The kind of a job that has rollouts. */
export const kindOfRun = (id: string): RunKind => kindOfJob(id) as RunKind;
