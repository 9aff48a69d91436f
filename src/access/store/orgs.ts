import { v7 as uuid } from 'uuid';
import type { Tx } from '../../platform/db/db.js';
import { positionColumn, type Position } from '../../platform/db/positions.js';

/** The organization of RATCHET_API_KEY, whose `admin` keys manage all organizations. */
export const operatorOrg = 'default';

export interface Org {
  id: string;
  name: string;
  createdAt: Date;
  /** When its deletion began; null: it is not deleted. */
  deletedAt: Date | null;
}

const columns = `id, name, created_at as "createdAt", deleted_at as "deletedAt"`;

export function newOrgId(): string {
  return `org_${uuid().replaceAll('-', '')}`;
}

export async function insertOrg(tx: Tx, { id, name }: Pick<Org, 'id' | 'name'>): Promise<Org> {
  const [org] = await tx.query<Org>(`insert into orgs (id, name) values ($1, $2) returning ${columns}`, [id, name]);
  return org!;
}

/** Creates the organization, with its id as its name, unless it exists. */
export async function ensureOrg(tx: Tx, id: string): Promise<void> {
  await tx.query('insert into orgs (id, name) values ($1, $1) on conflict (id) do nothing', [id]);
}

/** Whether the transaction's organization exists and is not being deleted. */
export async function orgExists(tx: Tx, id: string): Promise<boolean> {
  return (await tx.query('select 1 from orgs where id = $1 and deleted_at is null', [id])).length > 0;
}

/** The organizations that the transaction sees, newest first. */
export async function listOrgs(
  tx: Tx,
  { after, limit }: { after: Position | undefined; limit: number },
): Promise<(Org & { position: string })[]> {
  return tx.query<Org & { position: string }>(
    `select ${columns}, ${positionColumn} from orgs
      where $1::timestamptz is null or (created_at, id) < ($1, $2)
      order by created_at desc, id desc limit $3`,
    [after?.createdAt ?? null, after?.id ?? null, limit],
  );
}
