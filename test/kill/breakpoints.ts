import { gate, type Gate } from '../support/gate.js';

/** When a breakpoint stops a call: on arrival, or after its answer, which is not delivered. */
export const moments = ['arrived', 'answered', 'delivered'] as const;
export type Moment = (typeof moments)[number];

/** A call of the service. Equal requests have the same `key`. */
export interface Call {
  session: string;
  key: string;
  what: 'rollout' | 'question' | 'completion';
  /** Ordinal of its rollout; null: none. */
  ordinal: number | null;
}

/** A breakpoint: the first call of a kind from a rollout on. */
export interface Point {
  what: Call['what'];
  from: number;
  moment: Moment;
}

/** A received call, with the number of service kills before it. */
export interface Noted extends Call {
  life: number;
}

interface Breakpoint {
  point: Point;
  /** The call that the session is stopped at; null: not stopped. */
  at: Call | null;
  gate: Gate;
}

/**
 * Records every call to containers and models, outside the killed processes, and stops sessions: no
 * call of a session is answered from its breakpoint on, so that the test can kill the service.
 */
export class Breakpoints {
  readonly noted: Noted[] = [];
  private life = 0;
  private readonly breakpoints = new Map<string, Breakpoint>();
  private readonly reached = new Map<string, number>();

  /** Answers a call; rejects if the service is killed before delivery. */
  async pass<T>(call: Call, answer: () => Promise<T> | T): Promise<T> {
    const { life } = this;
    this.noted.push({ ...call, life });
    if (call.what === 'rollout')
      this.reached.set(call.session, Math.max(this.reached.get(call.session) ?? -1, call.ordinal!));
    await this.halt(call, life, (moment) => moment === 'arrived');
    const answered = await answer();
    await this.halt(call, life, (moment) => moment !== 'arrived');
    return answered;
  }

  /** Sets the breakpoint of a session. */
  stopAt(session: string, point: Point): void {
    this.breakpoints.set(session, { point, at: null, gate: gate() });
  }

  /** The breakpoint and call that the session is stopped at; null: not stopped. */
  standing(session: string): { point: Point; at: Call } | null {
    const breakpoint = this.breakpoints.get(session);
    return breakpoint?.at ? { point: breakpoint.point, at: breakpoint.at } : null;
  }

  /** Removes the breakpoint and delivers held answers. */
  release(session: string): void {
    this.breakpoints.get(session)?.gate.open();
    this.breakpoints.delete(session);
  }

  /** Drops all held calls after the service was killed. */
  killed(): void {
    this.life += 1;
    for (const session of [...this.breakpoints.keys()]) this.release(session);
  }

  private async halt(call: Call, life: number, isNow: (moment: Moment) => boolean): Promise<void> {
    const breakpoint = this.breakpoints.get(call.session);
    if (breakpoint && !breakpoint.at && isNow(breakpoint.point.moment) && this.isReached(call, breakpoint.point))
      breakpoint.at = call;
    if (breakpoint?.at) await breakpoint.gate.opened;
    if (this.life !== life) throw new Error('the service was killed meanwhile');
  }

  private isReached({ session, what, ordinal }: Call, point: Point): boolean {
    return what === point.what && (ordinal ?? (this.reached.get(session) ?? -1) + 1) >= point.from;
  }
}
