/** Who pays for a model call: a job, which counts for its creator's key, or a key's own call. */
export type Payer = { orgId: string } & ({ jobId: string } | { keyId: string | null });
