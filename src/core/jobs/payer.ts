/** What a model call is for: a job, which counts for the key that created it, or a key's own call. */
export type Payer = { orgId: string } & ({ jobId: string } | { keyId: string | null });
