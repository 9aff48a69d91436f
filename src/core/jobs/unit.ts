/** What a job runs on, as people read it; the API numbers all of them as `seed`. */
export type Unit = 'row' | 'task' | 'seed';

/** A specification of a job. `rows`: set where it has a data set. */
export interface UnitSource {
  /** As of `JobKind`. */
  kind: string;
  rows?: unknown;
}

/** Of a job as the API shows it. */
export const unitOfView = (job: object): Unit =>
  unitOf({ kind: 'num_tasks' in job ? 'graph' : 'session', rows: 'dataset' in job && job.dataset });

/** Containers and live traffic have seeds. */
export function unitOf({ kind, rows }: UnitSource): Unit {
  if (kind === 'graph') return 'task';
  return rows ? 'row' : 'seed';
}
