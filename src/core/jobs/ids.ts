/** Ids derived from a job's id: no lookup is needed, and a retry creates the same ids. */

/** Names a prompt's demonstrations; no other component name begins with an underscore. */
export const demosPart = '_demos' as const;

/** The id of a rollout; its correlation and trace have the same id. */
export function rolloutId(jobId: string, ordinal: number): string {
  return `rol_${jobId.slice(4)}_${ordinal}`;
}

/** The id of the candidate with this lever version. */
export function candidateId(jobId: string, leverVersion: number): string {
  return `cand_${jobId.slice(4)}_${leverVersion}`;
}

/** The session of a candidate by its id; null: no id of a candidate. */
export function sessionOfCandidate(id: string): string | null {
  const [, job] = /^cand_(\w+)_\d+$/.exec(id) ?? [];
  return job === undefined ? null : `ses_${job}`;
}

/** The id of the sensor frame whose first rollout has this ordinal. */
export function frameId(jobId: string, ordinal: number): string {
  return `frm_${jobId.slice(4)}_${ordinal}`;
}

/**
 * The lever id of a component, or of the whole prompt (null), which takes the name `system`; a
 * component named `system` gets `_system`.
 */
export function leverId(jobId: string, component: string | null): string {
  const name = component === null ? 'system' : component === 'system' ? '_system' : component;
  return `lever_${jobId.slice(4)}_${name}`;
}

/** The component of a lever id; null: the whole prompt; undefined: not a lever of this job. */
export function leverComponent(jobId: string, id: string): string | null | undefined {
  const prefix = `lever_${jobId.slice(4)}_`;
  if (!id.startsWith(prefix)) return undefined;
  const name = id.slice(prefix.length);
  if (name === 'system') return null;
  if (name === '_system') return 'system';
  return name === demosPart || /^[A-Za-z][\w-]{0,99}$/.test(name) ? name : undefined;
}
