import { LRUCache } from 'lru-cache';
import type { KeyRow } from '../../storage/access/keys.js';
import { takeRequests, type RequestQuota } from '../../storage/access/request-windows.js';
import type { Db } from '../../storage/db/db.js';

/** The share of a minute that this process has taken, and what was left for all. */
interface RequestWindow {
  share: number;
  left: number;
  /** Of `performance.now()`. */
  endsAt: number;
  /** Requests that wait for a share. */
  waiting: number;
  taking: Promise<void> | null;
}

/** The state of a limit after a request. */
export interface RequestLimit {
  of: 'key' | 'organization';
  limit: number;
  left: number;
  secondsLeft: number;
}

/** Counts requests against the limits of keys and organizations, which all processes share. */
export interface RequestLimits {
  /** Admits a request, or names the limit that it would exceed. */
  admit(key: KeyRow): Promise<{ limits: RequestLimit[]; exceeded: RequestLimit | null }>;
}

const remembered = 10_000;

/** A process takes shares from Postgres, so most requests cost no round trip. */
export function createRequestLimits(db: Pick<Db, 'orgApart'>): RequestLimits {
  const windows = new LRUCache<string, RequestWindow>({ max: remembered });

  function windowOf({ subject, limit }: RequestQuota): RequestWindow {
    // A changed limit begins with another share.
    const name = `${subject} ${limit}`;
    const known = windows.get(name) ?? { share: 0, left: 0, endsAt: 0, waiting: 0, taking: null };
    windows.set(name, known);
    return known;
  }

  async function takeShare(quota: RequestQuota, window: RequestWindow): Promise<void> {
    const since = performance.now();
    const taken = await db.orgApart(quota.orgId, (tx) => takeRequests(tx, quota, window.waiting));
    const { granted, left, secondsLeft } = taken;
    window.share = granted;
    window.left = left;
    // Early by at most the round trip: no share of a past minute is used.
    window.endsAt = since + secondsLeft * 1_000;
  }

  /** Takes one request; false: the minute has none left. */
  async function take(quota: RequestQuota, window: RequestWindow): Promise<boolean> {
    window.waiting += 1;
    try {
      for (;;) {
        const isCurrent = performance.now() < window.endsAt;
        if (isCurrent && window.share > 0) {
          window.share -= 1;
          return true;
        }
        if (isCurrent && window.left === 0) return false;
        await (window.taking ??= takeShare(quota, window).finally(() => (window.taking = null)));
      }
    } finally {
      window.waiting -= 1;
    }
  }

  return {
    async admit({ orgId, limits: given }) {
      const limits: RequestLimit[] = [];
      const taken: RequestWindow[] = [];
      for (const { subject, requestsPerMinute: limit } of given) {
        if (limit === null) continue;
        const quota = { orgId, subject, limit };
        const window = windowOf(quota);
        const isTaken = await take(quota, window);
        const state: RequestLimit = {
          of: subject === orgId ? 'organization' : 'key',
          ...{ limit, left: window.share + window.left },
          secondsLeft: Math.max(1, Math.ceil((window.endsAt - performance.now()) / 1_000)),
        };
        limits.push(state);
        if (!isTaken) {
          // The refused request takes nothing from the other limit.
          for (const other of taken) other.share += 1;
          return { limits, exceeded: state };
        }
        taken.push(window);
      }
      return { limits, exceeded: null };
    },
  };
}
