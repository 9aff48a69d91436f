/** Counts calls of models in memory, and writes the counts beside the path of any call. */
import type { Logger } from 'pino';
import { v7 as uuid } from 'uuid';
import { peakOf } from '../../core/health/state.js';
import { addLatency } from '../../core/math/latency-sketch.js';
import type { Db } from '../../platform/db/db.js';
import { startRepeating, type Repeating } from '../../util/repeating.js';
import { noCalls, writeCalls, type CallCounter } from './provider-calls.js';

/** A kill loses the counts of so long. */
const everyMs = 1_000;
const minuteMs = 60_000;
/** Models of an organization in a minute; users may name any. */
const mostModels = 50;
const otherModels = 'other';

/** A try of a model call. */
export interface CountedTry {
  provider: string;
  model: string;
  /** Absent: it was answered. */
  trouble?: { is: 'throttled' | 'failed' | 'refused'; error: string };
  latencyMs: number;
}

interface Counter extends CallCounter {
  /** Calls that are in the database. */
  written: number;
}

export class CallMeter {
  private readonly db: Pick<Db, 'orgTogether'>;
  private readonly now: () => number;
  /**
   * Counts of this minute, and those not written yet: by organization, then by provider, model and
   * minute.
   */
  private readonly orgs = new Map<string, Map<string, Counter>>();
  private readonly writing: Repeating;
  private readonly fail: (err: unknown) => void;

  constructor(db: Pick<Db, 'orgTogether'>, log: Pick<Logger, 'warn'>, now: () => number = Date.now) {
    this.db = db;
    this.now = now;
    this.fail = (err) => log.warn({ err }, 'calls of models are not counted yet; retrying');
    this.writing = startRepeating(() => this.write(), everyMs, this.fail);
  }

  count(orgId: string, { provider, model, trouble, latencyMs }: CountedTry): void {
    const now = this.now();
    const counter = this.counterOf(orgId, provider, model, Math.floor(now / minuteMs) * minuteMs);
    counter.calls += 1;
    if (!trouble) return addLatency(counter.latencies, latencyMs);
    counter.errors[trouble.error] = (counter.errors[trouble.error] ?? 0) + 1;
    if (trouble.is === 'refused') return;
    counter[trouble.is] += 1;
    counter[`${trouble.is}Peak`] = Math.max(counter[`${trouble.is}Peak`], peakOf(counter[trouble.is], counter.calls));
    counter.troubledMs ??= now;
  }

  /** Writes what is counted. Never rejects. */
  async close(): Promise<void> {
    await this.writing.stop();
    await this.write().catch(this.fail);
  }

  private counterOf(orgId: string, provider: string, model: string, startMs: number): Counter {
    const counters = this.orgs.get(orgId) ?? new Map<string, Counter>();
    this.orgs.set(orgId, counters);
    const keyOf = (name: string) => `${startMs} ${provider} ${name}`;
    const own = counters.get(keyOf(model));
    if (own) return own;
    const name = counters.size < mostModels ? model : otherModels;
    const known = counters.get(keyOf(name));
    if (known) return known;
    const counter = { provider, model: name, startMs, counterId: uuid(), written: 0, ...noCalls() };
    counters.set(keyOf(name), counter);
    return counter;
  }

  private async write(): Promise<void> {
    const thisMinute = Math.floor(this.now() / minuteMs) * minuteMs;
    for (const [orgId, counters] of this.orgs) {
      const pending = [...counters.values()].filter(({ calls, written }) => calls > written);
      const states = pending.map((counter) => ({ counter, calls: counter.calls }));
      if (pending.length > 0) await this.db.orgTogether(orgId, (tx) => writeCalls(tx, orgId, pending));
      for (const { counter, calls } of states) counter.written = calls;
      for (const [key, { calls, written, startMs }] of counters)
        if (startMs < thisMinute && calls === written) counters.delete(key);
      if (counters.size === 0) this.orgs.delete(orgId);
    }
  }
}
