import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import pg from 'pg';
import { MigrationError } from './migrate.js';
import { keyFingerprint } from './start-check.js';

const iterations = 4096;

/**
 * Creates the role that the service's connections log in as, as the URL's role, and returns its
 * URL. It has no rights but to become ratchet_app. Name and password follow from the secret key, so
 * that all processes know them and other installations in the cluster have their own.
 */
export async function ensureLoginRole(url: string, secretKey: Buffer): Promise<string> {
  const name = `ratchet_login_${keyFingerprint(secretKey)}`;
  const password = createHmac('sha256', secretKey).update('ratchet postgres login v1').digest('base64url');
  const client = new pg.Client({
    connectionString: url,
    application_name: 'ratchet-migrate',
    connectionTimeoutMillis: 10_000,
  });
  // The next query rejects.
  client.on('error', () => undefined);
  await client.connect();
  try {
    const { rowCount } = await client.query('select from pg_roles where rolname = $1', [name]);
    if (!rowCount) await createRole(client, name, password);
  } finally {
    await client.end();
  }
  return Object.assign(new URL(url), { username: name, password }).href;
}

async function createRole(client: pg.Client, name: string, password: string): Promise<void> {
  // A verifier: the password itself would appear in the server's log of statements.
  const sql = `create role ${name} login noinherit nosuperuser nocreatedb nocreaterole noreplication nobypassrls password '${verifier(password)}' in role ratchet_app`;
  await client.query(sql).catch((cause: pg.DatabaseError) => {
    // Another process was faster.
    if (cause.code === '42710' || cause.code === '23505') return;
    throw new MigrationError(
      `Cannot create the role of the service's connections (${cause.message}): have a superuser run "${sql}" once, then start again.`,
      { cause },
    );
  });
}

/** What Postgres stores of a password (RFC 5803): it shows nothing of a random one. */
function verifier(password: string): string {
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256');
  const keyOf = (use: string) => createHmac('sha256', salted).update(use).digest();
  const stored = createHash('sha256').update(keyOf('Client Key')).digest('base64');
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${stored}:${keyOf('Server Key').toString('base64')}`;
}
