import { createHmac } from 'node:crypto';
import type { Db } from './db.js';

/** This process must not work on this database; its message is one line that says what to do. */
export class DatabaseMismatchError extends Error {
  override readonly name = 'DatabaseMismatchError';
}

/** What may be shown of the secret key: 16 hex digits that tell one from another and say nothing about it. */
export function fingerprintOf(secretKey: Buffer): string {
  return createHmac('sha256', secretKey).update('ratchet secret key fingerprint v1').digest('hex').slice(0, 16);
}

const pooler =
  'a pooler between does not pass the startup parameter "options" on. Let DATABASE_URL name Postgres itself.';

/**
 * Checks, before anything is read or written, that connections are ratchet_app (as any other role, row-level security may
 * not hold) and that the database's secrets were sealed with this key. The first process to come sets the fingerprint.
 */
export async function checkDatabase(db: Db, secretKey: Buffer): Promise<void> {
  const mine = fingerprintOf(secretKey);
  const look = db.worker(async (tx) => {
    const [who] = await tx.query<{ role: string }>('select current_user::text as role');
    if (who?.role !== 'ratchet_app') {
      throw new DatabaseMismatchError(
        `Connections to Postgres are ${who?.role ?? 'nobody'} instead of ratchet_app: ${pooler}`,
      );
    }
    await tx.query('insert into secret_key_fingerprint (fingerprint) values ($1) on conflict do nothing', [mine]);
    return tx.query<{ fingerprint: string }>('select fingerprint from secret_key_fingerprint');
  });
  const [found] = await look.catch((cause: Error) => {
    if (!cause.message.includes('unsupported startup parameter')) throw cause;
    throw new DatabaseMismatchError(`Postgres cannot be used (${cause.message}): ${pooler}`, { cause });
  });
  if (found?.fingerprint !== mine) {
    throw new DatabaseMismatchError(
      `RATCHET_SECRET_KEY (fingerprint ${mine}) is not the key of this database (fingerprint ${found?.fingerprint}): every serve and worker needs the same one; docs/operations.md says how to change it.`,
    );
  }
}
