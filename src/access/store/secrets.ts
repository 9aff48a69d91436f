import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Tx } from '../../platform/db/db.js';

const cipher = 'aes-256-gcm';
const ivBytes = 12;
const tagBytes = 16;

/** AES-256-GCM (NIST SP 800-38D), 32-byte key; `aad` binds to the row. Gives iv | tag | text. */
export function seal(key: Buffer, plaintext: string, aad: string): Buffer {
  const iv = randomBytes(ivBytes);
  const box = createCipheriv(cipher, key, iv).setAAD(Buffer.from(aad));
  const text = Buffer.concat([box.update(plaintext, 'utf8'), box.final()]);
  return Buffer.concat([iv, box.getAuthTag(), text]);
}

/** The reverse of `seal`; throws if the key, `aad` or the bytes differ. */
function open(key: Buffer, sealed: Buffer, aad: string): string {
  const box = createDecipheriv(cipher, key, sealed.subarray(0, ivBytes)).setAAD(Buffer.from(aad));
  box.setAuthTag(sealed.subarray(ivBytes, ivBytes + tagBytes));
  return Buffer.concat([box.update(sealed.subarray(ivBytes + tagBytes)), box.final()]).toString('utf8');
}

/** The secret was sealed with another key; not retryable. */
export class UnreadableSecretError extends Error {
  override readonly name = 'UnreadableSecretError';
}

/** Opens what `seal` made; `name` is for the error. */
export function openSecret(key: Buffer, sealed: Buffer, aad: string, name: string): string {
  try {
    return open(key, sealed, aad);
  } catch (cause) {
    throw new UnreadableSecretError(`Cannot decrypt ${name}: it was stored under another RATCHET_SECRET_KEY.`, {
      cause,
    });
  }
}

/** Address of a job's secret, bound to the origin (scheme, host, port) that may receive it. */
export interface SecretRef {
  orgId: string;
  jobId: string;
  name: string;
  origin: string;
}

const secretAad = ({ orgId, jobId, name, origin }: SecretRef) => JSON.stringify([orgId, jobId, name, origin]);

/** Stores a job's secret, encrypted. */
export async function putSecret(tx: Tx, key: Buffer, ref: SecretRef, value: string): Promise<void> {
  await tx.query('insert into secrets (org_id, job_id, name, origin, ciphertext) values ($1, $2, $3, $4, $5)', [
    ref.orgId,
    ref.jobId,
    ref.name,
    ref.origin,
    seal(key, value, secretAad(ref)),
  ]);
}

/** A job's secret for an origin, or null. */
export async function readSecret(tx: Tx, key: Buffer, ref: SecretRef): Promise<string | null> {
  const [row] = await tx.query<{ ciphertext: Buffer }>(
    'select ciphertext from secrets where job_id = $1 and name = $2 and origin = $3',
    [ref.jobId, ref.name, ref.origin],
  );
  if (!row) return null;
  return openSecret(key, row.ciphertext, secretAad(ref), ref.name);
}

/** A job's container key for any origin, or null. */
export async function readContainerKey(
  tx: Tx,
  key: Buffer,
  { orgId, jobId }: Pick<SecretRef, 'orgId' | 'jobId'>,
): Promise<string | null> {
  const name = 'container_api_key';
  const [row] = await tx.query<{ origin: string; ciphertext: Buffer }>(
    'select origin, ciphertext from secrets where job_id = $1 and name = $2',
    [jobId, name],
  );
  return row ? openSecret(key, row.ciphertext, secretAad({ orgId, jobId, name, origin: row.origin }), name) : null;
}
