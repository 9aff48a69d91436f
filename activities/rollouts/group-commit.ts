import { setImmediate } from 'node:timers/promises';
import type { Db, Tx } from '../../src/platform/db/db.js';
import { JobGoneError, type LockMode } from '../../src/jobs/store/events.js';
import { syncRollouts, type JobExchange, type SyncResult } from '../../src/rollouts/store/exchange.js';

/** An exchange that waits for its transaction. */
export interface QueuedExchange {
  jobId: string;
  /** The report and the wanted slots. Called when the transaction begins; a retry reuses them. */
  take(): JobExchange;
}

interface Entry {
  exchange: QueuedExchange;
  taken?: JobExchange;
  resolve(found: SyncResult): void;
  reject(error: unknown): void;
}

/** Jobs in one transaction. */
const maxBatch = 100;
/** Transactions at once: a small job need not wait for the large batch of another. */
const maxTogether = 2;
/** Exchanges with a transaction of their own at once. */
const maxAlone = 4;

/** The group commit of each organization. */
export class GroupCommits {
  private readonly byOrg = new Map<string, GroupCommit>();
  private readonly db: Db;

  constructor(db: Db) {
    this.db = db;
  }

  of(orgId: string): GroupCommit {
    const known = this.byOrg.get(orgId) ?? new GroupCommit(this.db, orgId);
    this.byOrg.set(orgId, known);
    return known;
  }
}

/**
 * Sends the exchanges of many jobs of an organization to Postgres together: what becomes due during
 * the transactions under way waits for the next one. An exchange alone does not wait for company.
 */
export class GroupCommit {
  private readonly waiting: Entry[] = [];
  /** Exchanges whose job another transaction had locked, or whose batch failed. */
  private readonly alone: Entry[] = [];
  private sending = 0;
  private sendingAlone = 0;
  private readonly db: Db;
  private readonly orgId: string;

  constructor(db: Db, orgId: string) {
    this.db = db;
    this.orgId = orgId;
  }

  /** Resolves after the commit; rejects with the error of a transaction of its own. */
  run(exchange: QueuedExchange): Promise<SyncResult> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ exchange, resolve, reject });
      void this.send();
    });
  }

  private async send(): Promise<void> {
    if (this.sending >= maxTogether) return;
    this.sending += 1;
    while (this.waiting.length > 0) {
      // The other events of this turn of the loop belong to the same batch.
      await setImmediate();
      if (this.waiting.length > 0) await this.sendBatch();
    }
    this.sending -= 1;
  }

  private async sendBatch(): Promise<void> {
    let batch: Entry[] = [];
    try {
      const found = await this.db.orgHot(this.orgId, (tx, commit) => {
        batch = this.waiting.splice(0, maxBatch);
        return batch.length > 0 ? this.exchange(tx, batch, 'skip', commit) : Promise.resolve([]);
      });
      for (const [at, entry] of batch.entries()) {
        const result = found[at];
        if (result) entry.resolve(result);
        else this.alone.push(entry);
      }
    } catch {
      if (batch.length === 0) batch = this.waiting.splice(0, maxBatch);
      // Also where it is one exchange: it may leave out what its outcomes do not need.
      this.alone.push(...batch);
    }
    this.sendEachAlone();
  }

  private sendEachAlone(): void {
    while (this.sendingAlone < maxAlone) {
      const entry = this.alone.shift();
      if (!entry) return;
      this.sendingAlone += 1;
      void this.sendAlone(entry).finally(() => {
        this.sendingAlone -= 1;
        this.sendEachAlone();
      });
    }
  }

  private async sendAlone(entry: Entry): Promise<void> {
    try {
      const [result] = await this.db.orgHot(this.orgId, (tx, commit) => this.exchange(tx, [entry], 'wait', commit));
      if (!result) throw new JobGoneError(`Job "${entry.exchange.jobId}" is not in the database.`);
      entry.resolve(result);
    } catch (error) {
      entry.reject(error);
    }
  }

  /** One result for each; null: the job was left out, or is not in the database. */
  private exchange(tx: Tx, entries: readonly Entry[], mode: LockMode, commit: () => void) {
    const taken = entries.map((entry) => (entry.taken ??= entry.exchange.take()));
    return syncRollouts(tx, this.orgId, taken, mode, commit);
  }
}
