import type { Logger } from 'pino';
import { v7 as uuid } from 'uuid';
import { isPeriod, startOf, widths, type Width } from '../../../core/deployments/periods.js';
import { addLatency } from '../../../core/math/latency-sketch.js';
import type { Db } from '../../../platform/db/db.js';
import {
  addTries,
  maxCounted,
  noRequests,
  type Failure,
  type SpendCounter,
} from '../../../kinds/deployment/store/counters.js';
import type { LoggedRequest } from '../../../kinds/deployment/store/logged-requests.js';
import type { AnswerToJudge } from '../../../kinds/deployment/store/judgements.js';
import { retryTransient } from '../../../platform/db/patience.js';
import { settleWithin } from '../../../platform/http/server/in-time.js';
import { PendingCounts, type Counter } from './pending-counts.js';
import { UseCounters } from './use-counters.js';

/** Above this many deployments, counters idle for this long are dropped. */
const kept = 1_000;
const idleMs = 10 * 60_000;
/** Distinct codes, and models, that are counted; providers may send any. */
const mostNames = 50;

/** A request to a deployment. */
export interface CountedCall {
  orgId: string;
  keyId: string | null;
  deploymentId: string;
  answerId: string;
  /** The episode that the answer is a part of; null: none. */
  correlationId: string | null;
  /** Subjects of limits for which its tokens and dollars count. */
  limited?: readonly string[];
  /** Whether no caller sees the answer. */
  isShadow?: boolean;
}

/** The outcome of a request to a deployment; null: unknown. */
export interface CountedRequest {
  /** `aborted`: the caller disconnected. */
  outcome: 'ok' | 'error' | 'aborted';
  /** Of an `error`. */
  failure?: Pick<Failure, 'status' | 'code' | 'message'>;
  latencyMs: number;
  promptTokens: number | null;
  completionTokens: number | null;
  /** null: unknown; 0: free. */
  costUsd: number | null;
  /** As `provider/model`; null: a graph. */
  model: string | null;
  /** Tries of models before the one that answered. */
  failedTries?: readonly { model: string; costUsd: number | null }[];
  /** If the deployment keeps them. */
  texts?: Pick<LoggedRequest, 'provider' | 'model' | 'request' | 'answer'> | undefined;
  /** If its answer is to be judged. */
  toJudge?: Pick<AnswerToJudge, 'request' | 'answer'> | undefined;
}

/** The counters of a deployment. */
interface Entry {
  /** Of all requests, and of the current hour and minute. */
  counters: Map<Width, Counter>;
  /** Time of the last count. */
  at: number;
}

/** Counts each request of a deployment once, also while the database is unavailable. */
export class DeploymentMeter {
  private readonly db: Pick<Db, 'orgTogether'>;
  private readonly log: Logger;
  private readonly patienceMs: number;
  /** By deployment, most recently counted last. */
  private readonly entries = new Map<string, Entry>();
  /** Of the current day, by organization and key. */
  private readonly spend = new Map<string, SpendCounter>();
  private readonly uses = new UseCounters();
  private readonly orgs = new Map<string, PendingCounts>();
  private isClosed = false;

  constructor({ db, log, patienceMs = 2_000 }: { db: Pick<Db, 'orgTogether'>; log: Logger; patienceMs?: number }) {
    this.db = db;
    this.log = log;
    this.patienceMs = patienceMs;
  }

  /**
   * Resolves when the request is counted in the database, or after `patienceMs`: then it is counted
   * later, unless the process is killed first. Never rejects.
   */
  async count(call: CountedCall, request: CountedRequest): Promise<void> {
    const { orgId, keyId, deploymentId, answerId, correlationId, limited = [], isShadow = false } = call;
    const at = Date.now();
    const pending = this.orgs.get(orgId) ?? new PendingCounts(orgId);
    this.orgs.set(orgId, pending);
    for (const counter of this.countersOf(deploymentId, at, isShadow ? ['shadow'] : widths)) {
      add(counter, request);
      pending.counters.add(counter);
    }
    if (correlationId !== null && request.outcome === 'ok')
      pending.episodes.add({ deploymentId, answerId, correlationId });
    this.addDetails(pending, call, request, new Date(at).toISOString());
    const costUsd = knownCost(request);
    const used = { tokens: (request.promptTokens ?? 0) + (request.completionTokens ?? 0), usd: costUsd };
    for (const subject of limited) pending.uses.add(this.uses.add(orgId, subject, used));
    if (costUsd > 0) {
      const counter = this.spendOf(orgId, keyId);
      counter.costUsd += costUsd;
      pending.spend.add(counter);
    }
    let done: () => void = () => undefined;
    const written = new Promise<void>((resolve) => (done = resolve));
    pending.waiting.add(done);
    pending.writing ??= this.writeAll(pending);
    await settleWithin(written, this.patienceMs);
    pending.waiting.delete(done);
  }

  /** The failure and the texts of a request; of a shadow only what is judged. */
  private addDetails(pending: PendingCounts, call: CountedCall, request: CountedRequest, at: string): void {
    const { deploymentId, answerId, correlationId, isShadow = false } = call;
    const { outcome, failure, latencyMs, promptTokens, completionTokens, costUsd, texts, toJudge } = request;
    const about = { deploymentId, answerId, at, latencyMs };
    if (toJudge) pending.addToJudge({ deploymentId, answerId, ...toJudge });
    if (isShadow) return;
    if (failure) pending.addFailure({ ...about, ...failure });
    if (!texts) return;
    const details = { outcome, code: failure?.code ?? null, promptTokens, completionTokens, costUsd, correlationId };
    if (!pending.addTexts({ ...about, ...details, ...texts }))
      this.log.warn(
        { deployment_id: deploymentId, answer_id: answerId },
        'texts of a request are not kept: too many wait',
      );
  }

  /** Writes pending counts within `patienceMs`. Never rejects. */
  async close(): Promise<void> {
    const all = [...this.orgs.values()];
    const writes = all.map((pending) => (pending.writing ??= this.writeAll(pending)));
    await settleWithin(Promise.all(writes), this.patienceMs);
    this.isClosed = true;
    const left = [...this.orgs.values()].flatMap((pending) => [...pending.counters]);
    const lost = left.reduce(
      (sum, { width, requests, written }) => sum + (isPeriod(width) ? 0 : requests - written),
      0,
    );
    if (lost > 0) this.log.error({ requests: lost }, 'deployment requests are missing from the statistics');
  }

  /** The counters of a request now. */
  private countersOf(deploymentId: string, at: number, counted: readonly Width[]): Counter[] {
    const entry = this.entries.get(deploymentId) ?? { counters: new Map<Width, Counter>(), at };
    this.entries.delete(deploymentId);
    for (const [id, { at: last }] of this.entries) {
      if (this.entries.size < kept || at - last < idleMs) break;
      this.entries.delete(id);
    }
    this.entries.set(deploymentId, entry);
    entry.at = at;
    return counted.map((width) => {
      const start = startOf(width, at);
      const known = entry.counters.get(width);
      if (known?.start === start) return known;
      const counter = { deploymentId, width, start, counterId: uuid(), written: 0, ...noRequests() };
      entry.counters.set(width, counter);
      return counter;
    });
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
      while (!pending.isEmpty);
    } catch (err) {
      this.log.error({ err, org_id: orgId }, 'deployment requests are not counted; the next request retries');
    } finally {
      pending.writing = null;
      if (pending.isEmpty) this.orgs.delete(orgId);
    }
  }
}

/** Dollars of the answer and of the tries before it, as far as they are known. */
export function knownCost({ costUsd, failedTries = [] }: CountedRequest): number {
  return failedTries.reduce((sum, tried) => sum + (tried.costUsd ?? 0), costUsd ?? 0);
}

function add(counter: Counter, request: CountedRequest): void {
  const { outcome, failure, latencyMs, promptTokens, completionTokens, costUsd, model, failedTries = [] } = request;
  counter.requests += 1;
  if (outcome === 'ok') addLatency(counter.latencies, latencyMs);
  else if (outcome === 'error') counter.errors += 1;
  else counter.aborted += 1;
  if (failure) countCode(counter.errorCodes, failure.code);
  counter.promptTokens = Math.min(maxCounted, counter.promptTokens + (promptTokens ?? 0));
  counter.completionTokens = Math.min(maxCounted, counter.completionTokens + (completionTokens ?? 0));
  const cost = knownCost(request);
  counter.costUsd = Math.min(maxCounted, counter.costUsd + cost);
  counter.costSquares = Math.min(maxCounted, counter.costSquares + cost ** 2);
  if (costUsd === null || failedTries.some((tried) => tried.costUsd === null)) counter.withoutCost += 1;
  for (const tried of failedTries) countTry(counter, tried.model, true);
  if (model !== null) countTry(counter, model, outcome === 'error');
}

function countTry({ models }: Counter, model: string, hasFailed: boolean): void {
  addTries(models, boundedName(models, model), { tries: 1, failed: hasFailed ? 1 : 0 });
}

function countCode(codes: Record<string, number>, code: string): void {
  const counted = boundedName(codes, code);
  codes[counted] = (Object.hasOwn(codes, counted) ? codes[counted]! : 0) + 1;
}

function boundedName(counts: object, name: string): string {
  return !Object.hasOwn(counts, name) && Object.keys(counts).length >= mostNames ? 'other' : name;
}
