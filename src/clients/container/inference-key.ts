import { createHmac, timingSafeEqual } from 'node:crypto';

/** The scope of an inference key: one rollout of one job. */
export interface InferenceScope {
  orgId: string;
  jobId: string;
  rolloutId: string;
}

const prefix = 'rip_';
const purpose = 'ratchet inference key v1';
const maxKeyLength = 512;

/**
 * The key of a container for a rollout: the organization, and an HMAC-SHA256 over job and rollout
 * under a key derived from `secret`. Nothing is stored.
 */
export function issueInferenceKey(secret: Buffer, { orgId, jobId, rolloutId }: InferenceScope): string {
  // JSON separates the parts unambiguously.
  const proof = createHmac('sha256', derivedFrom(secret))
    .update(JSON.stringify([orgId, jobId, rolloutId]))
    .digest('base64url');
  return `${prefix}${Buffer.from(orgId).toString('base64url')}.${proof}`;
}

const derived = new WeakMap<Buffer, Buffer>();

function derivedFrom(secret: Buffer): Buffer {
  const known = derived.get(secret) ?? createHmac('sha256', secret).update(purpose).digest();
  derived.set(secret, known);
  return known;
}

/** The organization of a valid key; null: the key was not issued for this job and rollout. */
export function verifyInferenceKey(
  secret: Buffer,
  presented: string,
  { jobId, rolloutId }: Omit<InferenceScope, 'orgId'>,
): string | null {
  if (!presented.startsWith(prefix) || presented.length > maxKeyLength) return null;
  const [org = ''] = presented.slice(prefix.length).split('.', 1);
  const orgId = Buffer.from(org, 'base64url').toString();
  const expected = Buffer.from(issueInferenceKey(secret, { orgId, jobId, rolloutId }));
  const given = Buffer.from(presented);
  return given.length === expected.length && timingSafeEqual(given, expected) ? orgId : null;
}
