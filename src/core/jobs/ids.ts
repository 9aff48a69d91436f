/** Ids that follow from a job's own: nothing has to be looked up, and a retry makes the same ones. */

/** What a prompt's demonstrations are called among its components: no name of one begins with an underscore. */
export const demosPart = '_demos' as const;

/** The id of a rollout, of its correlation and of its trace: one name for all three. */
export function rolloutId(jobId: string, ordinal: number): string {
  return `rol_${jobId.slice(4)}_${ordinal}`;
}

/** The id of the candidate with this lever version. */
export function candidateId(jobId: string, leverVersion: number): string {
  return `cand_${jobId.slice(4)}_${leverVersion}`;
}

/** The id of the sensor frame whose first rollout has this ordinal. */
export function frameId(jobId: string, ordinal: number): string {
  return `frm_${jobId.slice(4)}_${ordinal}`;
}

/**
 * The id of a component's lever; null: of the prompt as a whole. That has the id which a component called `system` would have; no name
 * begins with an underscore.
 */
export function leverId(jobId: string, component: string | null): string {
  const name = component === null ? 'system' : component === 'system' ? '_system' : component;
  return `lever_${jobId.slice(4)}_${name}`;
}

/** The component that a lever id of this job is of, null for the prompt as a whole; undefined: it is none of the job's. */
export function leverComponent(jobId: string, id: string): string | null | undefined {
  const prefix = `lever_${jobId.slice(4)}_`;
  if (!id.startsWith(prefix)) return undefined;
  const name = id.slice(prefix.length);
  if (name === 'system') return null;
  if (name === '_system') return 'system';
  return name === demosPart || /^[A-Za-z][\w-]{0,99}$/.test(name) ? name : undefined;
}
