/** Ids that follow from a job's own: nothing has to be looked up, and a retry makes the same ones. */

/** The id of a rollout, of its correlation and of its trace: one name for all three. */
export function rolloutId(jobId: string, ordinal: number): string {
  return `rol_${jobId.slice(4)}_${ordinal}`;
}

/** The id of the candidate with this lever version. */
export function candidateId(jobId: string, leverVersion: number): string {
  return `cand_${jobId.slice(4)}_${leverVersion}`;
}
