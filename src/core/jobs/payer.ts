/**
 * Who pays for a model call: a job, which counts for the key that started it, and the key that the
 * caller presents, if it is an API key. The quotas of both hold.
 */
export type Payer = { orgId: string } & (
  { jobId: string; keyId?: string | null } | { jobId?: undefined; keyId: string | null }
);
