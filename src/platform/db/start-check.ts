import type { Db } from './db.js';
import { DatabaseStartError } from './errors.js';
import { keyFingerprint } from './key-fingerprint.js';
import { schemaProblem, selectApplied, type AppliedMigration } from './migrate.js';
import {
  explainRefusal,
  readDatabaseUrlOf,
  refuseReadOnly,
  selectWritable,
  type UrlSetting,
  type Writable,
} from './refusals.js';

const pooler = 'a connection pooler drops the startup parameter "options". Name Postgres itself.';

/** How far the clock of this machine is ahead of Postgres', in seconds. */
export interface Checked {
  aheadS: number;
}

/**
 * Checks before any other access that connections are ratchet_app (row-level security may not apply
 * to other roles), that the schema is this build's, and that the secret key matches. The first
 * process stores its fingerprint. `named`: the URL of the connections, and its setting.
 */
export async function checkDatabase(
  db: Db,
  secretKey: Buffer,
  named: { url: string; setting: UrlSetting },
): Promise<Checked> {
  const url = readDatabaseUrlOf(named.setting, named.url);
  const fingerprint = keyFingerprint(secretKey);
  const look = db.worker(async (tx) => {
    const [who] = await tx.query<{ role: string; now: Date }>(
      'select current_user::text as role, clock_timestamp() as now',
    );
    if (who?.role !== 'ratchet_app') {
      throw new DatabaseStartError(
        `Connections to Postgres have the role ${who?.role ?? 'null'} instead of ratchet_app: ${pooler}`,
      );
    }
    const [session] = await tx.query<Writable>(selectWritable);
    refuseReadOnly(session!, named.setting);
    const aheadS = (Date.now() - who.now.getTime()) / 1_000;
    const { problem, missing } = await schemaProblem(await tx.query<AppliedMigration>(selectApplied));
    if (problem !== null) throw new DatabaseStartError(`The database ${problem}: run the build that made it.`);
    if (missing.length > 0) throw new DatabaseStartError(notMigrated(missing.map(({ name }) => name)));
    await tx.query('insert into secret_key_fingerprint (fingerprint) values ($1) on conflict do nothing', [
      fingerprint,
    ]);
    const [found] = await tx.query<{ fingerprint: string }>('select fingerprint from secret_key_fingerprint');
    return { aheadS, found };
  });
  const { aheadS, found } = await look.catch((cause: Error) => {
    if (!cause.message.includes('unsupported startup parameter')) throw explainRefusal(cause, url, named.setting);
    throw new DatabaseStartError(`Postgres cannot be used (${cause.message}): ${pooler}`, { cause });
  });
  if (found?.fingerprint !== fingerprint) {
    throw new DatabaseStartError(
      `RATCHET_SECRET_KEY (fingerprint ${fingerprint}) is not the key of this database (fingerprint ${found?.fingerprint}): all processes need the same key; see docs/operations.md to change it.`,
    );
  }
  return { aheadS };
}

const notMigrated = (names: string[]): string =>
  `The database lacks ${names.join(', ')}: run "ratchet migrate-database" with the DATABASE_URL of its owner, or hand an administrator the output of "ratchet migrate-database --print-sql".`;
