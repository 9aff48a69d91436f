import { createHmac } from 'node:crypto';
import type { Db } from './db.js';

/** This process must not use this database; the message is one line that says what to do. */
export class DatabaseMismatchError extends Error {
  override readonly name = 'DatabaseMismatchError';
}

/** A public fingerprint of the secret key: 16 hex digits that reveal nothing about it. */
export function keyFingerprint(secretKey: Buffer): string {
  return createHmac('sha256', secretKey).update('ratchet secret key fingerprint v1').digest('hex').slice(0, 16);
}

const pooler = 'a connection pooler drops the startup parameter "options". Set DATABASE_URL to Postgres itself.';

/**
 * Checks before any other access that connections are ratchet_app (row-level security may not apply
 * to other roles) and that the secret key matches. The first process stores its fingerprint.
 */
export async function checkDatabase(db: Db, secretKey: Buffer): Promise<void> {
  const fingerprint = keyFingerprint(secretKey);
  const look = db.worker(async (tx) => {
    const [who] = await tx.query<{ role: string }>('select current_user::text as role');
    if (who?.role !== 'ratchet_app') {
      throw new DatabaseMismatchError(
        `Connections to Postgres have the role ${who?.role ?? 'null'} instead of ratchet_app: ${pooler}`,
      );
    }
    await tx.query('insert into secret_key_fingerprint (fingerprint) values ($1) on conflict do nothing', [
      fingerprint,
    ]);
    return tx.query<{ fingerprint: string }>('select fingerprint from secret_key_fingerprint');
  });
  const [found] = await look.catch((cause: Error) => {
    if (!cause.message.includes('unsupported startup parameter')) throw cause;
    throw new DatabaseMismatchError(`Postgres cannot be used (${cause.message}): ${pooler}`, { cause });
  });
  if (found?.fingerprint !== fingerprint) {
    throw new DatabaseMismatchError(
      `RATCHET_SECRET_KEY (fingerprint ${fingerprint}) is not the key of this database (fingerprint ${found?.fingerprint}): all processes need the same key; see docs/operations.md to change it.`,
    );
  }
}
