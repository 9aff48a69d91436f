import type { Logger } from 'pino';
import { v7 as uuid } from 'uuid';
import { addLatency } from '../../core/math/latency-sketch.js';
import type { Db } from '../../storage/db/db.js';
import {
  maxCounted,
  writeCounters,
  type DeploymentCounter,
  type SpendCounter,
} from '../../storage/deployments/counters.js';
import { retryTransient } from '../../storage/db/patience.js';
import { settleWithin } from '../server/in-time.js';

/** Above this many deployments, counters idle for this long are dropped. */
const kept = 1_000;
const idleMs = 10 * 60_000;

/** The outcome of a request to a deployment; null: unknown. */
export interface CountedRequest {
  /** `aborted`: the caller disconnected. */
  outcome: 'ok' | 'error' | 'aborted';
  latencyMs: number;
  promptTokens: number | null;
  completionTokens: number | null;
  /** null: unknown; 0: free. */
  costUsd: number | null;
}

/** Counts each request of a deployment once, also while the database is unavailable. */
export interface RequestCounters {
  /**
   * Resolves when the request is counted in the database, or after `patienceMs`: then it is counted
   * later, unless the process is killed first. Never rejects.
   */
  count(call: { orgId: string; keyId: string | null; deploymentId: string }, request: CountedRequest): Promise<void>;
  /** Writes pending counts within `patienceMs`. Never rejects. */
  close(): Promise<void>;
}

interface Entry extends DeploymentCounter {
  /** Requests already counted in the database. */
  written: number;
  /** Time of the last count. */
  at: number;
}

/** Pending counts of an organization; one statement at a time, later counts go with the next. */
interface PendingCounts {
  entries: Set<Entry>;
  spend: Set<SpendCounter>;
  waiting: Set<() => void>;
  writing: Promise<void> | null;
}

export function createMeter({
  db,
  log,
  patienceMs = 2_000,
}: {
  db: Pick<Db, 'orgApart'>;
  log: Logger;
  patienceMs?: number;
}): RequestCounters {
  // By deployment, most recently counted last.
  const entries = new Map<string, Entry>();
  const orgs = new Map<string, PendingCounts>();
  // Of the current day, by organization and key.
  const spend = new Map<string, SpendCounter>();
  let isClosed = false;

  function entryOf(deploymentId: string): Entry {
    const at = Date.now();
    const entry = entries.get(deploymentId) ?? newEntry(deploymentId);
    entries.delete(deploymentId);
    for (const [id, { at: last }] of entries) {
      if (entries.size < kept || at - last < idleMs) break;
      entries.delete(id);
    }
    entries.set(deploymentId, entry);
    entry.at = at;
    return entry;
  }

  function spendOf(orgId: string, keyId: string | null): SpendCounter {
    const day = new Date().toISOString().slice(0, 10);
    const name = `${orgId} ${keyId}`;
    const known = spend.get(name);
    if (known?.day === day) return known;
    for (const [other, { day: last }] of spend) if (last !== day) spend.delete(other);
    const counter = { counterId: uuid(), day, keyId, costUsd: 0 };
    spend.set(name, counter);
    return counter;
  }

  async function write(orgId: string, pending: PendingCounts): Promise<void> {
    const { taken, spent, waiting } = await db.orgApart(orgId, async (tx) => {
      // Build the statement after connecting, so that it includes counts from the wait.
      const taken = [...pending.entries].map((entry) => ({ entry, requests: entry.requests }));
      const spent = [...pending.spend].map((counter) => ({ counter, costUsd: counter.costUsd }));
      const waiting = [...pending.waiting];
      await writeCounters(
        tx,
        orgId,
        taken.map(({ entry }) => entry),
        [...pending.spend],
      );
      return { taken, spent, waiting };
    });
    for (const { counter, costUsd } of spent) if (counter.costUsd === costUsd) pending.spend.delete(counter);
    for (const { entry, requests } of taken) {
      entry.written = requests;
      if (entry.requests === requests) pending.entries.delete(entry);
    }
    for (const done of waiting) done();
  }

  async function writeAll(orgId: string, pending: PendingCounts): Promise<void> {
    let isTold = false;
    const onRetry = (err: unknown) => {
      if (isClosed) throw err;
      if (!isTold) log.warn({ err, org_id: orgId }, 'deployment requests are not counted yet; retrying');
      isTold = true;
    };
    try {
      do await retryTransient(() => write(orgId, pending), { patienceMs: Infinity, onRetry });
      while (pending.entries.size > 0);
    } catch (err) {
      log.error({ err, org_id: orgId }, 'deployment requests are not counted; the next request retries');
    } finally {
      pending.writing = null;
      if (pending.entries.size === 0) orgs.delete(orgId);
    }
  }

  return {
    async count({ orgId, keyId, deploymentId }, request) {
      const entry = entryOf(deploymentId);
      add(entry, request);
      const pending = orgs.get(orgId) ?? { entries: new Set(), spend: new Set(), waiting: new Set(), writing: null };
      orgs.set(orgId, pending);
      pending.entries.add(entry);
      if (request.costUsd) {
        const counter = spendOf(orgId, keyId);
        counter.costUsd += request.costUsd;
        pending.spend.add(counter);
      }
      let done: () => void = () => undefined;
      const written = new Promise<void>((resolve) => (done = resolve));
      pending.waiting.add(done);
      pending.writing ??= writeAll(orgId, pending);
      await settleWithin(written, patienceMs);
      pending.waiting.delete(done);
    },

    async close() {
      const writes = [...orgs].map(([orgId, pending]) => (pending.writing ??= writeAll(orgId, pending)));
      await settleWithin(Promise.all(writes), patienceMs);
      isClosed = true;
      const left = [...orgs.values()].flatMap((pending) => [...pending.entries]);
      const lost = left.reduce((sum, { requests, written }) => sum + requests - written, 0);
      if (lost > 0) log.error({ requests: lost }, 'deployment requests are missing from the statistics');
    },
  };
}

function newEntry(deploymentId: string): Entry {
  return {
    ...{ deploymentId, counterId: uuid(), written: 0, at: 0 },
    ...{ requests: 0, errors: 0, aborted: 0, promptTokens: 0, completionTokens: 0, costUsd: 0, withoutCost: 0 },
    latencies: {},
  };
}

function add(entry: Entry, { outcome, latencyMs, promptTokens, completionTokens, costUsd }: CountedRequest): void {
  entry.requests += 1;
  if (outcome === 'ok') addLatency(entry.latencies, latencyMs);
  else if (outcome === 'error') entry.errors += 1;
  else entry.aborted += 1;
  entry.promptTokens = Math.min(maxCounted, entry.promptTokens + (promptTokens ?? 0));
  entry.completionTokens = Math.min(maxCounted, entry.completionTokens + (completionTokens ?? 0));
  entry.costUsd = Math.min(maxCounted, entry.costUsd + (costUsd ?? 0));
  if (costUsd === null) entry.withoutCost += 1;
}
