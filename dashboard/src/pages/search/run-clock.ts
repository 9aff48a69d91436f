import type { Event } from '../../../../src/client/index.js';

/** How long a job has run by its events, pauses left out. */
export class RunClock {
  /** When its last event came. */
  lastAt = 0;
  private ranMs = 0;
  /** When the clock began to run; null: it stands still. */
  runsSince: number | null = null;

  add({ type, ts }: Event): void {
    const at = Date.parse(ts);
    this.lastAt = at;
    switch (type) {
      case 'session_started':
      case 'job_started':
      case 'session_extended':
      case 'resumed':
        this.runsSince ??= at;
        break;
      case 'paused':
      case 'job_complete':
      case 'job_failed':
      case 'job_cancelled':
        this.ranMs = this.ranUntil(at);
        this.runsSince = null;
        break;
      default:
    }
  }

  /** Minutes that the job had run at a time. */
  minutesAt(at: number): number {
    return this.ranUntil(at) / 60_000;
  }

  private ranUntil(at: number): number {
    return this.ranMs + (this.runsSince === null ? 0 : Math.max(0, at - this.runsSince));
  }
}
