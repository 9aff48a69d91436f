import type { Logger } from 'pino';
import { v7 as uuid } from 'uuid';
import { addLatency } from '../../core/math/latency-sketch.js';
import type { Db } from '../../platform/db/db.js';
import {
  maxCounted,
  writeCounters,
  type DeploymentCounter,
  type EpisodeAnswer,
  type SpendCounter,
} from '../../kinds/deployment/store/counters.js';
import { retryTransient } from '../../platform/db/patience.js';
import { settleWithin } from '../../platform/http/server/in-time.js';

/** Above this many deployments, counters idle for this long are dropped. */
const kept = 1_000;
const idleMs = 10 * 60_000;

/** A request to a deployment. */
export interface CountedCall {
  orgId: string;
  keyId: string | null;
  deploymentId: string;
  /** The episode that the answer is a part of. */
  episode?: Omit<EpisodeAnswer, 'deploymentId'> | null;
}

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

interface Entry extends DeploymentCounter {
  /** Requests already counted in the database. */
  written: number;
  /** Time of the last count. */
  at: number;
}

/** Pending counts of an organization; one statement at a time, later counts go with the next. */
class PendingCounts {
  readonly orgId: string;
  readonly entries = new Set<Entry>();
  readonly spend = new Set<SpendCounter>();
  readonly episodes = new Set<EpisodeAnswer>();
  /** Called when the counts of their request are in the database. */
  readonly waiting = new Set<() => void>();
  writing: Promise<void> | null = null;

  constructor(orgId: string) {
    this.orgId = orgId;
  }

  /** Writes what is pending once connected, so that it includes counts from the wait. */
  async write(db: Pick<Db, 'orgApart'>): Promise<void> {
    const { taken, spent, episodes, waiting } = await db.orgApart(this.orgId, async (tx) => {
      const taken = [...this.entries].map((entry) => ({ entry, requests: entry.requests }));
      const spent = [...this.spend].map((counter) => ({ counter, costUsd: counter.costUsd }));
      const [episodes, waiting] = [[...this.episodes], [...this.waiting]];
      await writeCounters(tx, this.orgId, { counters: [...this.entries], spend: [...this.spend], episodes });
      return { taken, spent, episodes, waiting };
    });
    for (const { counter, costUsd } of spent) if (counter.costUsd === costUsd) this.spend.delete(counter);
    for (const answer of episodes) this.episodes.delete(answer);
    for (const { entry, requests } of taken) {
      entry.written = requests;
      if (entry.requests === requests) this.entries.delete(entry);
    }
    for (const done of waiting) done();
  }
}

/** Counts each request of a deployment once, also while the database is unavailable. */
export class DeploymentMeter {
  private readonly db: Pick<Db, 'orgApart'>;
  private readonly log: Logger;
  private readonly patienceMs: number;
  /** By deployment, most recently counted last. */
  private readonly entries = new Map<string, Entry>();
  /** Of the current day, by organization and key. */
  private readonly spend = new Map<string, SpendCounter>();
  private readonly orgs = new Map<string, PendingCounts>();
  private isClosed = false;

  constructor({ db, log, patienceMs = 2_000 }: { db: Pick<Db, 'orgApart'>; log: Logger; patienceMs?: number }) {
    this.db = db;
    this.log = log;
    this.patienceMs = patienceMs;
  }

  /**
   * Resolves when the request is counted in the database, or after `patienceMs`: then it is counted
   * later, unless the process is killed first. Never rejects.
   */
  async count({ orgId, keyId, deploymentId, episode }: CountedCall, request: CountedRequest): Promise<void> {
    const entry = this.entryOf(deploymentId);
    add(entry, request);
    const pending = this.orgs.get(orgId) ?? new PendingCounts(orgId);
    this.orgs.set(orgId, pending);
    pending.entries.add(entry);
    if (request.costUsd) {
      const counter = this.spendOf(orgId, keyId);
      counter.costUsd += request.costUsd;
      pending.spend.add(counter);
    }
    if (episode) pending.episodes.add({ ...episode, deploymentId });
    let done: () => void = () => undefined;
    const written = new Promise<void>((resolve) => (done = resolve));
    pending.waiting.add(done);
    pending.writing ??= this.writeAll(pending);
    await settleWithin(written, this.patienceMs);
    pending.waiting.delete(done);
  }

  /** Writes pending counts within `patienceMs`. Never rejects. */
  async close(): Promise<void> {
    const all = [...this.orgs.values()];
    const writes = all.map((pending) => (pending.writing ??= this.writeAll(pending)));
    await settleWithin(Promise.all(writes), this.patienceMs);
    this.isClosed = true;
    const left = [...this.orgs.values()].flatMap((pending) => [...pending.entries]);
    const lost = left.reduce((sum, { requests, written }) => sum + requests - written, 0);
    if (lost > 0) this.log.error({ requests: lost }, 'deployment requests are missing from the statistics');
  }

  private entryOf(deploymentId: string): Entry {
    const at = Date.now();
    const entry = this.entries.get(deploymentId) ?? newEntry(deploymentId);
    this.entries.delete(deploymentId);
    for (const [id, { at: last }] of this.entries) {
      if (this.entries.size < kept || at - last < idleMs) break;
      this.entries.delete(id);
    }
    this.entries.set(deploymentId, entry);
    entry.at = at;
    return entry;
  }

  private spendOf(orgId: string, keyId: string | null): SpendCounter {
    const day = new Date().toISOString().slice(0, 10);
    const name = `${orgId} ${keyId}`;
    const known = this.spend.get(name);
    if (known?.day === day) return known;
    for (const [other, { day: last }] of this.spend) if (last !== day) this.spend.delete(other);
    const counter = { counterId: uuid(), day, keyId, costUsd: 0 };
    this.spend.set(name, counter);
    return counter;
  }

  private async writeAll(pending: PendingCounts): Promise<void> {
    const { orgId } = pending;
    let isTold = false;
    const onRetry = (err: unknown) => {
      if (this.isClosed) throw err;
      if (!isTold) this.log.warn({ err, org_id: orgId }, 'deployment requests are not counted yet; retrying');
      isTold = true;
    };
    try {
      do await retryTransient(() => pending.write(this.db), { patienceMs: Infinity, onRetry });
      while (pending.entries.size > 0);
    } catch (err) {
      this.log.error({ err, org_id: orgId }, 'deployment requests are not counted; the next request retries');
    } finally {
      pending.writing = null;
      if (pending.entries.size === 0) this.orgs.delete(orgId);
    }
  }
}

function newEntry(deploymentId: string): Entry {
  return {
    deploymentId,
    counterId: uuid(),
    written: 0,
    at: 0,
    requests: 0,
    errors: 0,
    aborted: 0,
    promptTokens: 0,
    completionTokens: 0,
    costUsd: 0,
    withoutCost: 0,
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
