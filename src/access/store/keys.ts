import { createHmac, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Scope } from '../contract/access.js';
import { scopes as allScopes } from '../contract/scopes.js';
import { chosenKey } from '../../util/chosen-key.js';
import type { Db, Tx } from '../../platform/db/db.js';
import { positionColumn, type Position } from '../../platform/db/positions.js';
import { copyLimits, limitsOf, type SubjectLimits } from './limits.js';
import { ensureOrg } from './orgs.js';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const form = /^rk_([0-9A-Za-z]{8})_([0-9A-Za-z]{32,200})([0-9A-Za-z]{6})$/;
interface KeyIdentity {
  id: string;
  orgId: string;
  scopes: Scope[];
}

/** An API key, as found by its hash, with its limits and those of its organization. */
export interface KeyRow extends KeyIdentity {
  limits: SubjectLimits[];
}

/** An API key as its organization sees it. */
export interface KeyRecord extends KeyIdentity {
  name: string;
  createdAt: Date;
  expiresAt: Date | null;
  revokedAt: Date | null;
  lastUsedAt: Date | null;
  replacedBy: string | null;
}

const recordColumns = `id, org_id as "orgId", name, scopes, created_at as "createdAt", expires_at as "expiresAt",
  revoked_at as "revokedAt", last_used_at as "lastUsedAt", replaced_by as "replacedBy"`;

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

/** Whether it can be the first API key: a whole one of ours, or a chosen one. */
export function isApiKey(text: string): boolean {
  return text.startsWith('rk_') ? isWholeKey(text) : chosenKey.test(text);
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
    tx.query<KeyRow & Record<string, unknown>>(
      `select id, org_id as "orgId", scopes, ${limitsOf('api_keys.id', 'api_keys.org_id')} as limits from api_keys
        where key_hash = $1 and revoked_at is null and (expires_at is null or expires_at > now())`,
      [hash],
    ),
  );
  return rows[0] ?? null;
}

/** Updates the key's last use, at most once a minute. */
export async function touchKey(db: Db, key: KeyIdentity): Promise<void> {
  await db.org(key.orgId, (tx) =>
    tx.query(
      `update api_keys set last_used_at = now()
        where id = $1 and (last_used_at is null or last_used_at < now() - interval '1 minute')`,
      [key.id],
    ),
  );
}

/** Stores a new key; only its hash is kept. */
export async function createKey(
  tx: Tx,
  secretKey: Buffer,
  { orgId, name, scopes, expiresAt }: Pick<KeyRecord, 'orgId' | 'name' | 'scopes' | 'expiresAt'>,
): Promise<{ record: KeyRecord; key: string }> {
  const key = generateKey();
  const [record] = await tx.query<KeyRecord>(
    `insert into api_keys (id, org_id, name, key_hash, scopes, expires_at) values ($1, $2, $3, $4, $5, $6)
     returning ${recordColumns}`,
    [`key_${key.slice(3, 11)}`, orgId, name, hashKey(secretKey, key), scopes, expiresAt],
  );
  return { record: record!, key };
}

/** The keys of the organization, newest first. */
export async function listKeys(
  tx: Tx,
  { after, limit }: { after: Position | undefined; limit: number },
): Promise<(KeyRecord & { position: string })[]> {
  return tx.query<KeyRecord & { position: string }>(
    `select ${recordColumns}, ${positionColumn} from api_keys
      where org_id = current_setting('app.org')
        and ($1::timestamptz is null or (created_at, id) < ($1, $2))
      order by created_at desc, id desc limit $3`,
    [after?.createdAt ?? null, after?.id ?? null, limit],
  );
}

/** Whether the transaction's organization has the key. */
export async function keyExists(tx: Tx, id: string): Promise<boolean> {
  return (await tx.query('select 1 from api_keys where id = $1', [id])).length > 0;
}

/** Why a key cannot be rotated. */
export type RotationRefusal = 'unknown' | 'bootstrap' | 'replaced' | 'ended';

/**
 * Makes a key with the name, the scopes, the lifetime and the limits of another one, which ends
 * after `graceS` seconds.
 */
export async function rotateKey(
  tx: Tx,
  secretKey: Buffer,
  id: string,
  graceS: number,
): Promise<{ record: KeyRecord; key: string } | RotationRefusal> {
  const [old] = await tx.query<KeyRecord & { isOver: boolean; next: Date | null }>(
    `select ${recordColumns}, now() + (expires_at - created_at) as next,
            revoked_at is not null or coalesce(expires_at <= now(), false) as "isOver"
       from api_keys where id = $1 for update`,
    [id],
  );
  if (!old) return 'unknown';
  if (old.id === bootstrapId(old.orgId)) return 'bootstrap';
  if (old.replacedBy !== null) return 'replaced';
  if (old.isOver) return 'ended';
  const created = await createKey(tx, secretKey, { ...old, expiresAt: old.next });
  await copyLimits(tx, id, created.record.id);
  await tx.query(
    `update api_keys
        set replaced_by = $2, expires_at = least(expires_at, now() + make_interval(secs => $3::float8))
      where id = $1`,
    [id, created.record.id, graceS],
  );
  return created;
}

/** Revokes a key for good, but not the bootstrap key, which a setting ends. */
export async function revokeKey(tx: Tx, id: string): Promise<'revoked' | 'unknown' | 'bootstrap'> {
  const rows = await tx.query<{ org: string }>('select org_id as org from api_keys where id = $1', [id]);
  if (rows.length === 0) return 'unknown';
  if (id === bootstrapId(rows[0]!.org)) return 'bootstrap';
  await tx.query('update api_keys set revoked_at = coalesce(revoked_at, now()) where id = $1', [id]);
  return 'revoked';
}

/** The id of the key that RATCHET_API_KEY or the data directory sets. */
export const bootstrapId = (orgId: string) => `bootstrap_${orgId}`;

/**
 * Makes `key` the organization's bootstrap key, with all scopes, and creates the organization if
 * needed. It replaces the earlier bootstrap key; a revoked value stays revoked.
 */
export async function ensureBootstrapKey(db: Db, secretKey: Buffer, orgId: string, key: string): Promise<void> {
  if (!isApiKey(key)) {
    throw new Error(
      'RATCHET_API_KEY must be 32 to 500 visible ASCII characters; a key that begins with rk_ must be complete.',
    );
  }
  await db.org(orgId, async (tx) => {
    await ensureOrg(tx, orgId);
    await tx.query(
      `insert into api_keys (id, org_id, name, key_hash, scopes) values ($1, $2, 'bootstrap', $3, $4)
       on conflict (id) do update
         set key_hash = excluded.key_hash, created_at = now(), revoked_at = null, last_used_at = null
       where api_keys.key_hash <> excluded.key_hash`,
      [bootstrapId(orgId), orgId, hashKey(secretKey, key), allScopes],
    );
  });
}
