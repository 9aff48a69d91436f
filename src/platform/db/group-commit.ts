import type pg from 'pg';
import { BatchError, type Statement } from './batch.js';
import type { Db, Tx } from './db.js';

/** Statements of concurrent calls, committed together. */
export interface GroupCommit {
  /**
   * Each statement resolves when it is durable. Those of an organization that wait for its running
   * transaction share the next one, in the order of `order`: of their locks. A statement that
   * Postgres refuses fails alone.
   */
  tx(orgId: string, order: string): Tx;
  /** Statements that follow each other in one transaction; returns the rows of each. */
  batch(orgId: string, order: string, statements: readonly Statement[]): Promise<pg.QueryResultRow[][]>;
}

interface Waiting {
  order: string;
  statements: readonly Statement[];
  resolve(rows: pg.QueryResultRow[][]): void;
  reject(error: Error): void;
}

/** `most`: calls of one transaction, all of whose rows are in memory at once. */
export function createGroupCommit(db: Pick<Db, 'orgBatch'>, most = 100): GroupCommit {
  // By organization; present while its transaction runs.
  const queues = new Map<string, Waiting[]>();

  async function commitAll(orgId: string, queue: Waiting[]): Promise<void> {
    while (queue.length > 0) await commit(orgId, queue.splice(0, most).sort(byOrder));
    queues.delete(orgId);
  }

  async function commit(orgId: string, group: Waiting[]): Promise<void> {
    while (group.length > 0) {
      try {
        const rows = await db.orgBatch(
          orgId,
          group.flatMap(({ statements }) => statements),
        );
        for (const { statements, resolve } of group) resolve(rows.splice(0, statements.length));
        return;
      } catch (error) {
        const refused = error instanceof BatchError ? group.splice(ownerOf(group, error.index), 1) : [];
        // Without a refused statement all failed: the connection broke, or the commit did.
        const failed = refused.length > 0 ? refused : group.splice(0);
        for (const { reject } of failed) reject((error instanceof BatchError ? error.cause : error) as Error);
      }
    }
  }

  function enqueue(orgId: string, waiting: Waiting): void {
    const queue = queues.get(orgId);
    if (queue) return void queue.push(waiting);
    const first = [waiting];
    queues.set(orgId, first);
    // Calls that end in the same turn of the event loop go together.
    setImmediate(() => void commitAll(orgId, first));
  }

  const batch: GroupCommit['batch'] = (orgId, order, statements) =>
    new Promise((resolve, reject) => enqueue(orgId, { order, statements, resolve, reject }));
  return {
    batch,
    tx: (orgId, order) => ({
      query: async (text, values, name) => {
        const statement = { text, ...(values && { values }), ...(name && { name }) };
        const [rows] = await batch(orgId, order, [statement]);
        return rows as never[];
      },
    }),
  };
}

/** The place of the call to which the statement at `index` belongs. */
function ownerOf(group: readonly Waiting[], index: number): number {
  let before = 0;
  return group.findIndex(({ statements }) => (before += statements.length) > index);
}

function byOrder(left: Waiting, right: Waiting): number {
  return left.order < right.order ? -1 : left.order > right.order ? 1 : 0;
}
