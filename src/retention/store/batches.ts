import type { Db } from '../../platform/db/db.js';

interface Rows {
  table: string;
  column: 'job_id' | 'deployment_id' | 'org_id';
  value: string;
  limit: number;
  /** Leaves rows that another process deletes to it; needs the right to update. */
  skipLocked?: boolean;
}

/** Deletes rows in batches, each a transaction of its own. */
export async function deleteBatches(db: Db, orgId: string, rows: Rows): Promise<void> {
  const { table, column, value, limit, skipLocked = false } = rows;
  const statement = `delete from ${table} where ctid = any(array(
    select ctid from ${table} where ${column} = $1 limit ${limit} ${skipLocked ? 'for update skip locked' : ''}))
    returning 1`;
  while ((await db.org(orgId, (tx) => tx.query(statement, [value]))).length > 0);
}
