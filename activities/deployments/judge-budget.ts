import { closeDay, reserveUsd, settleUsd, type JudgedName } from '../../src/kinds/deployment/store/judges.js';
import { answerTokens, boundCall, unknownPrice } from '../../src/models/client/call-bound.js';
import type { CostReservation } from '../../src/models/client/chat.js';
import type { PolicySpec } from '../../src/core/jobs/policy.js';
import type { Tx } from '../../src/platform/db/db.js';

/** The dollars of the day do not cover the next call of a judge. */
export class DaySpent extends Error {
  override readonly name = 'DaySpent';
}

/** Runs statements for the organization of the judge. */
export type Store = <T>(work: (tx: Tx) => Promise<T>) => Promise<T>;

/** The dollars of a judge's day, reserved before each call and settled after it. */
export class JudgeBudget {
  private readonly judge: JudgedName;
  private readonly store: Store;
  /** Calls in flight; each may give back what it does not cost. */
  private readonly open = new Set<Promise<void>>();

  constructor(judge: JudgedName, store: Store) {
    this.judge = judge;
    this.store = store;
  }

  /** The reservation of a call. Its `open` rejects with DaySpent. */
  reservation(policy: PolicySpec): CostReservation {
    const { name } = this.judge;
    const hasPrice = unknownPrice(policy) === null;
    let reserved: { day: string; reservedUsd: number; done: () => void } | null = null;
    return {
      open: async (request) => {
        // Without a price there is no limit of dollars.
        if (!hasPrice) return { body: request };
        const bounded = boundCall(policy.provider, request, answerTokens.rollout);
        if ('field' in bounded) return bounded;
        const { body, costUsd } = bounded;
        if (costUsd > 0) reserved = { ...(await this.reserve(costUsd)), reservedUsd: costUsd };
        return { body };
      },
      close: async ({ costUsd }) => {
        if (!reserved) return;
        const { done, ...of } = reserved;
        reserved = null;
        await this.store((tx) => settleUsd(tx, name, { ...of, costUsd })).finally(done);
      },
    };
  }

  private async reserve(usd: number): Promise<{ day: string; done: () => void }> {
    const { name } = this.judge;
    for (;;) {
      const day = await this.store((tx) => reserveUsd(tx, name, usd));
      if (day !== null) return { day, done: this.hold() };
      if (this.open.size === 0) break;
      await Promise.race(this.open);
    }
    await this.store((tx) => closeDay(tx, name));
    throw new DaySpent();
  }

  private hold(): () => void {
    let done!: () => void;
    const held = new Promise<void>((resolve) => (done = resolve));
    this.open.add(held);
    return () => {
      this.open.delete(held);
      done();
    };
  }
}
