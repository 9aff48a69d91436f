import { createHmac, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Db } from '../db/db.js';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const form = /^rk_([0-9A-Za-z]{8})_([0-9A-Za-z]{32,200})([0-9A-Za-z]{6})$/;
/** An API key, as found by its hash. */
export interface KeyRow {
  id: string;
  orgId: string;
  scopes: string[];
}

function randomText(length: number): string {
  return Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('');
}

function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let i = 0; i < 6; i += 1) {
    digits = alphabet[rest % 62]! + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

/** A new API key: `rk_`, 8 public characters, `_`, 32 secret characters (190 bits), 6 of CRC-32. */
export function generateKey(): string {
  const start = `rk_${randomText(8)}_${randomText(32)}`;
  return start + checksum(start);
}

/** Whether a key that begins with `rk_` has the right checksum: a mistyped key costs no query. */
export function isWholeKey(key: string): boolean {
  return form.test(key) && checksum(key.slice(0, -6)) === key.slice(-6);
}

/** The stored hash: HMAC-SHA256 under a key derived from the service's secret key. */
export function hashKey(secretKey: Buffer, key: string): Buffer {
  const pepper = peppers.get(secretKey) ?? createHmac('sha256', secretKey).update('ratchet api keys v1').digest();
  peppers.set(secretKey, pepper);
  return createHmac('sha256', pepper).update(key).digest();
}

/** The derived key of each secret key. */
const peppers = new WeakMap<Buffer, Buffer>();

/** The valid key with this hash, or null. */
export async function findKey(db: Db, hash: Buffer): Promise<KeyRow | null> {
  const rows = await db.auth(hash.toString('hex'), (tx) =>
    tx.query<{ id: string; org_id: string; scopes: string[] }>(
      `select id, org_id, scopes from api_keys
        where key_hash = $1 and revoked_at is null and (expires_at is null or expires_at > now())`,
      [hash],
    ),
  );
  const row = rows[0];
  return row ? { id: row.id, orgId: row.org_id, scopes: row.scopes } : null;
}

/** Updates the key's last use, at most once a minute. */
export async function touchKey(db: Db, key: KeyRow): Promise<void> {
  await db.org(key.orgId, (tx) =>
    tx.query(
      `update api_keys set last_used_at = now()
        where id = $1 and (last_used_at is null or last_used_at < now() - interval '1 minute')`,
      [key.id],
    ),
  );
}

/**
 * Makes `key` the organization's bootstrap key and creates the organization if needed. It replaces
 * the earlier bootstrap key; a revoked value stays revoked.
 */
export async function ensureBootstrapKey(db: Db, secretKey: Buffer, orgId: string, key: string): Promise<void> {
  if (key.startsWith('rk_') ? !isWholeKey(key) : !/^[\x21-\x7e]{16,500}$/.test(key)) {
    throw new Error(
      'RATCHET_API_KEY must be 16 to 500 visible ASCII characters; a key that begins with rk_ must be complete.',
    );
  }
  await db.org(orgId, async (tx) => {
    await tx.query('insert into orgs (id, name) values ($1, $1) on conflict (id) do nothing', [orgId]);
    await tx.query(
      `insert into api_keys (id, org_id, name, key_hash) values ($1, $2, 'bootstrap', $3)
       on conflict (id) do update
         set key_hash = excluded.key_hash, created_at = now(), revoked_at = null, last_used_at = null
       where api_keys.key_hash <> excluded.key_hash`,
      [`bootstrap_${orgId}`, orgId, hashKey(secretKey, key)],
    );
  });
}
