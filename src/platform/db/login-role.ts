import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import { keyFingerprint } from './key-fingerprint.js';

/** The role that the service's connections log in as; it needs only to become ratchet_app. */
export interface LoginRole {
  name: string;
  /** null: it logs in by other means. */
  password: string | null;
}

/** How the names of derived roles begin. */
export const derivedPrefix = 'ratchet_login_';

const iterations = 4096;

/**
 * The role of a secret key. Name and password follow from it, so that all processes know them and
 * other installations in the cluster have their own.
 */
export function loginRoleOf(secretKey: Buffer): LoginRole & { password: string } {
  return {
    name: `${derivedPrefix}${keyFingerprint(secretKey)}`,
    password: createHmac('sha256', secretKey).update('ratchet postgres login v1').digest('base64url'),
  };
}

/** What Postgres stores of a password (RFC 5803): it shows nothing of a random one. */
export function verifier(password: string): string {
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256');
  const keyOf = (use: string) => createHmac('sha256', salted).update(use).digest();
  const stored = createHash('sha256').update(keyOf('Client Key')).digest('base64');
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${stored}:${keyOf('Server Key').toString('base64')}`;
}
