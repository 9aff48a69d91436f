import type { Tx } from '../../platform/db/db.js';
import { toJsonb } from '../../platform/db/json.js';

/** A request with an Idempotency-Key; `fingerprint` is a hash of method, path and body. */
export interface IdempotentRequest {
  orgId: string;
  key: string;
  fingerprint: Buffer;
}

/** The recorded first response, which is replayed. */
export interface StoredAnswer {
  status: number;
  headers: Record<string, string>;
  body: unknown;
}

/** `new`: process it. `mismatch`: the key of another request. `in_flight`: no response yet. */
export type KeyClaim = { is: 'new' | 'mismatch' | 'in_flight' } | { is: 'replay'; answer: StoredAnswer };

const retention = '24 hours';
/** Time without a response after which the processing process counts as dead. */
const abandonedAfter = '60 seconds';

/** Claims a key for a create, which commits key and row together. */
export async function claimForCreate(tx: Tx, request: IdempotentRequest): Promise<KeyClaim> {
  const [lock] = await tx.query<{ free: boolean }>(
    'select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as free',
    [`idempotency ${request.orgId} ${request.key}`],
  );
  if (!lock?.free) return { is: 'in_flight' };
  return claim(tx, request);
}

/** Claims a key for a request with its own commits: the claim lasts until answered or abandoned. */
export async function claim(tx: Tx, { orgId, key, fingerprint }: IdempotentRequest): Promise<KeyClaim> {
  const inserted = await tx.query(
    `insert into idempotency_keys as k (org_id, key, fingerprint) values ($1, $2, $3)
     on conflict (org_id, key) do update
       set fingerprint = excluded.fingerprint, status = null, response = null, created_at = now()
     where k.created_at < now() - $4::interval
        or (k.status is null and k.fingerprint = excluded.fingerprint and k.created_at < now() - $5::interval)
     returning key`,
    [orgId, key, fingerprint, retention, abandonedAfter],
  );
  if (inserted.length > 0) {
    // Each new key deletes a few expired ones, which bounds the table.
    await deleteOldAnswers(tx, orgId, 10);
    return { is: 'new' };
  }
  const [row] = await tx.query<{ fingerprint: Buffer; status: number | null; response: Omit<StoredAnswer, 'status'> }>(
    'select fingerprint, status, response from idempotency_keys where org_id = $1 and key = $2',
    [orgId, key],
  );
  if (!row) return { is: 'in_flight' };
  if (!row.fingerprint.equals(fingerprint)) return { is: 'mismatch' };
  return row.status === null ? { is: 'in_flight' } : { is: 'replay', answer: { status: row.status, ...row.response } };
}

/** Stores the first response under its key. */
export async function storeAnswer(tx: Tx, { orgId, key }: IdempotentRequest, answer: StoredAnswer): Promise<void> {
  await tx.query('update idempotency_keys set status = $3, response = $4 where org_id = $1 and key = $2', [
    orgId,
    key,
    answer.status,
    toJsonb({ headers: answer.headers, body: answer.body }),
  ]);
}

/** Releases a key: the request had no effect and may be sent again. */
export async function releaseKey(tx: Tx, { orgId, key }: IdempotentRequest): Promise<void> {
  await tx.query('delete from idempotency_keys where org_id = $1 and key = $2 and status is null', [orgId, key]);
}

/** Deletes keys that have expired, at most `most`. */
export async function deleteOldAnswers(tx: Tx, orgId: string, most: number): Promise<void> {
  await tx.query(
    `delete from idempotency_keys where org_id = $1 and key in (
       select key from idempotency_keys where org_id = $1 and created_at < now() - $2::interval limit $3 for update skip locked)`,
    [orgId, retention, most],
  );
}
