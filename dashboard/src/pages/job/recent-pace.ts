/** How fast a job goes on lately, from its events. */
import type { Event } from '../../../../src/client/index.js';
import { recentOf, recentPaceOf } from '../../../../src/core/health/pace.js';
import { RunClock } from '../search/run-clock.js';

export class RecentPace {
  readonly clock = new RunClock();
  /** When the last results came. */
  private times: number[] = [];

  add(event: Event): void {
    this.clock.add(event);
    if (event.type !== 'rollout_completed') return;
    this.times.push(Date.parse(event.ts));
    this.times = recentOf(this.times);
  }

  /** Answers in a minute; null: not known yet, or the job stands still. */
  perMinute(nowMs: number): number | null {
    const { runsSince: sinceMs } = this.clock;
    return sinceMs === null ? null : recentPaceOf(this.times, { sinceMs, nowMs });
  }
}
