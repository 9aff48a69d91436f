import { v7 as uuid } from 'uuid';
import { maxCounted } from '../../../kinds/deployment/store/counters.js';
import type { UseCounter } from '../../../kinds/deployment/store/uses.js';
import { ExpiringMap } from '../../../util/expiring-map.js';

/** A row is deleted after an hour at the earliest: by then no process adds to it. */
const idleMs = 10 * 60_000;
const mostKept = 20_000;

/** What this process has counted for limits. A subject that was dropped begins a further row. */
export class UseCounters {
  private readonly counters = new ExpiringMap<string, UseCounter>(mostKept, idleMs);

  /** Adds to a subject; returns its counter. */
  add(orgId: string, subject: string, more: { tokens: number; usd: number }): UseCounter {
    const name = `${orgId} ${subject}`;
    const counter = this.counters.get(name) ?? { subject, counterId: uuid(), tokens: 0, usd: 0 };
    this.counters.set(name, counter);
    counter.tokens = Math.min(maxCounted, counter.tokens + more.tokens);
    counter.usd = Math.min(maxCounted, counter.usd + more.usd);
    return counter;
  }
}
