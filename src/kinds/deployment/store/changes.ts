import { v7 as uuid } from 'uuid';
import { keyOf, type Key } from '../../../access/store/named-key.js';
import type { Tx } from '../../../platform/db/db.js';
import { positionColumn, type Position } from '../../../platform/db/positions.js';

/** Who changes what a name serves, and why; `keyId` null: the service. */
export interface ChangedBy {
  keyId: string | null;
  reason: string | null;
}

/** A change of what a name or its label serves; versions are null where it serves nothing. */
export interface Change {
  name: string;
  label: string;
  action: 'build' | 'canary' | 'rollback' | 'label' | 'delete';
  from: number | null;
  to: number | null;
}

export interface ListedChange extends Omit<Change, 'name'>, Record<string, unknown> {
  id: string;
  createdAt: Date;
  by: Key;
  reason: string | null;
  position: string;
}

/** Records a change in its transaction, under the lock of the name. */
export async function recordChange(
  tx: Tx,
  { name, label, action, from, to }: Change,
  { keyId, reason }: ChangedBy,
): Promise<void> {
  await tx.query(
    `insert into deployment_changes (id, org_id, name, label, action, from_version, to_version, key_id, reason)
     values ($1, current_setting('app.org'), $2, $3, $4, $5, $6, $7, $8)`,
    [`chg_${uuid().replaceAll('-', '')}`, name, label, action, from, to, keyId, reason],
  );
}

/** The changes of a name, newest first. */
export async function listChanges(
  tx: Tx,
  name: string,
  { after, limit }: { after: Position | undefined; limit: number },
): Promise<ListedChange[]> {
  return tx.query<ListedChange>(
    `select id, created_at as "createdAt", label, action, from_version as "from", to_version as "to",
            ${keyOf('c.key_id')} as by, reason, ${positionColumn} from deployment_changes c
      where c.org_id = current_setting('app.org') and c.name = $1
        and ($2::timestamptz is null or (created_at, id) < ($2, $3))
      order by created_at desc, id desc limit $4`,
    [name, after?.createdAt ?? null, after?.id ?? null, limit],
  );
}
