import type { Evidence, JobEvidence } from '../evidence/evidence.js';

/** One promise of the service: `broken` returns its violations in the evidence, one line each. */
export interface Rule {
  name: string;
  /** What its violation costs a user, in the table of a counted run. */
  costs?: 'loss' | 'purchase';
  broken(evidence: Evidence): string[];
}

/** A rule on each job alone; `look` returns the violations without the job's name. */
export function perJob(
  name: string,
  look: (job: JobEvidence, evidence: Evidence) => string[],
  costs?: Rule['costs'],
): Rule {
  return {
    name,
    ...(costs && { costs }),
    broken: (evidence) =>
      evidence.jobs.flatMap((job) => look(job, evidence).map((what) => `${job.name} (${job.id}): ${what}`)),
  };
}

/** Items grouped by key, in their order. */
export function grouped<T>(items: readonly T[], key: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(key(item));
    if (group) group.push(item);
    else groups.set(key(item), [item]);
  }
  return groups;
}

/** JSON with sorted fields, because the database does not keep their order. */
export const same = (value: unknown): string =>
  JSON.stringify(value, (_key, item: unknown) =>
    typeof item === 'object' && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  );

export const hasOutcome = ({ status }: { status: string }): boolean => status === 'succeeded' || status === 'failed';
