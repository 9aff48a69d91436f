import { v7 as uuid } from 'uuid';
import type { Tx } from '../../platform/db/db.js';
import { toJsonb } from '../../platform/db/json.js';
import { positionColumn, type Position } from '../../platform/db/positions.js';

/** A change that a key requested, or that the service made by itself. */
export interface AuditEntry {
  id: string;
  createdAt: Date;
  /** The organization of the key. */
  orgId: string;
  /** Another organization that an operator changed. */
  targetOrg: string | null;
  /** null: the service. */
  keyId: string | null;
  /** Method and path pattern, or what the service did. */
  action: string;
  /** The path parameters. */
  params: Record<string, string>;
  /** What the change created. */
  createdId: string | null;
  /** HTTP status of the answer; null: the process died before it answered. */
  status: number | null;
  /** The service's own id of the request; null: the service. */
  requestId: string | null;
  /** The caller's `x-request-id`. */
  clientRequestId: string | null;
}

export type NewAuditEntry = Omit<AuditEntry, 'id' | 'createdAt' | 'createdId' | 'status'>;

const newId = () => `aud_${uuid().replaceAll('-', '')}`;

/** Announces a change before it is made; returns the entry's id. */
export async function announceChange(tx: Tx, entry: NewAuditEntry): Promise<string> {
  const id = newId();
  const { orgId, targetOrg, keyId, action, params, requestId, clientRequestId } = entry;
  await tx.query(
    `insert into audit_log (id, org_id, target_org, key_id, action, params, request_id, client_request_id)
     values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [id, orgId, targetOrg, keyId, action, toJsonb(params), requestId, clientRequestId],
  );
  return id;
}

/** Settles the entry of a change that was made; it is final then. */
export async function settleChange(tx: Tx, id: string, status: number, createdId: string | null): Promise<void> {
  await tx.query('update audit_log set status = $2, created_id = $3 where id = $1', [id, status, createdId]);
}

/** Removes the entry of a change that was refused. */
export async function withdrawChange(tx: Tx, id: string): Promise<void> {
  await tx.query('delete from audit_log where id = $1', [id]);
}

/** Records a change by the service itself, in the transaction that makes it. */
export async function recordServiceChange(
  tx: Tx,
  { orgId, action, params }: Pick<AuditEntry, 'orgId' | 'action' | 'params'>,
): Promise<void> {
  await tx.query('insert into audit_log (id, org_id, action, params, status) values ($1, $2, $3, $4, 200)', [
    newId(),
    orgId,
    action,
    toJsonb(params),
  ]);
}

/** The changes by keys of the organization and to the organization, newest first. */
export async function listAuditLog(
  tx: Tx,
  { after, limit }: { after: Position | undefined; limit: number },
): Promise<(AuditEntry & { position: string })[]> {
  return tx.query<AuditEntry & { position: string }>(
    `select id, created_at as "createdAt", org_id as "orgId", target_org as "targetOrg", key_id as "keyId", action,
            params, created_id as "createdId", status, request_id as "requestId",
            client_request_id as "clientRequestId", ${positionColumn}
       from audit_log
      where (org_id = current_setting('app.org') or target_org = current_setting('app.org'))
        and ($1::timestamptz is null or (created_at, id) < ($1, $2))
      order by created_at desc, id desc limit $3`,
    [after?.createdAt ?? null, after?.id ?? null, limit],
  );
}
