import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Tx } from '../db/db.js';

const cipher = 'aes-256-gcm';
const ivBytes = 12;
const tagBytes = 16;

/** Encrypts under a 32-byte key (AES-256-GCM, NIST SP 800-38D); `aad` binds the text to its place. Returns iv | tag | text. */
function seal(key: Buffer, plaintext: string, aad: string): Buffer {
  const iv = randomBytes(ivBytes);
  const box = createCipheriv(cipher, key, iv).setAAD(Buffer.from(aad));
  const text = Buffer.concat([box.update(plaintext, 'utf8'), box.final()]);
  return Buffer.concat([iv, box.getAuthTag(), text]);
}

/** The reverse of `seal`; throws when the key, the place or the bytes are not those it was sealed with. */
function open(key: Buffer, sealed: Buffer, aad: string): string {
  const box = createDecipheriv(cipher, key, sealed.subarray(0, ivBytes)).setAAD(Buffer.from(aad));
  box.setAuthTag(sealed.subarray(ivBytes, ivBytes + tagBytes));
  return Buffer.concat([box.update(sealed.subarray(ivBytes + tagBytes)), box.final()]).toString('utf8');
}

/** A stored secret that this key does not open; no retry helps. */
export class UnreadableSecretError extends Error {
  override readonly name = 'UnreadableSecretError';
}

/** A secret of a job, bound to the origin (scheme, host, port) it was given for. */
export interface SecretPlace {
  orgId: string;
  jobId: string;
  name: string;
  origin: string;
}

const index = ({ orgId, jobId, name, origin }: SecretPlace) => JSON.stringify([orgId, jobId, name, origin]);

/** Stores a job's secret, encrypted. */
export async function putSecret(tx: Tx, key: Buffer, where: SecretPlace, value: string): Promise<void> {
  await tx.query('insert into secrets (org_id, job_id, name, origin, ciphertext) values ($1, $2, $3, $4, $5)', [
    where.orgId,
    where.jobId,
    where.name,
    where.origin,
    seal(key, value, index(where)),
  ]);
}

/** Reads a job's secret back, or null when it has none for that origin. */
export async function readSecret(tx: Tx, key: Buffer, where: SecretPlace): Promise<string | null> {
  const [row] = await tx.query<{ ciphertext: Buffer }>(
    'select ciphertext from secrets where job_id = $1 and name = $2 and origin = $3',
    [where.jobId, where.name, where.origin],
  );
  if (!row) return null;
  try {
    return open(key, row.ciphertext, index(where));
  } catch (cause) {
    throw new UnreadableSecretError(
      `The ${where.name} cannot be decrypted: RATCHET_SECRET_KEY is not the one that it was stored under.`,
      { cause },
    );
  }
}
