import { gate, type Gate } from './gate.js';

/** When a call blocks its session: on arrival, or after the answer, which is then not delivered. */
export const moments = ['arrived', 'answered', 'delivered'] as const;
export type Moment = (typeof moments)[number];

/** A call as seen from outside. Calls with the same request have the same `key`. */
export interface Call {
  session: string;
  key: string;
  what: 'rollout' | 'question' | 'completion';
  /** Of the rollout that it belongs to; null: to none. */
  ordinal: number | null;
}

/** Where a session is to stand still: at the first call of a kind from a rollout on. */
export interface Point {
  what: Call['what'];
  from: number;
  moment: Moment;
}

/** A call that came, and in which of the service's lives. */
export interface Noted extends Call {
  life: number;
}

interface Stand {
  point: Point;
  /** The call that the session stands still at; null: it still moves. */
  at: Call | null;
  gate: Gate;
}

/**
 * Every call to containers and models passes here, outside the killed processes. It is the ledger,
 * and it blocks sessions: from its point on, no call of a session is answered, so that the test can
 * kill.
 */
export class Breakpoints {
  readonly noted: Noted[] = [];
  private life = 0;
  private readonly stands = new Map<string, Stand>();
  private readonly reached = new Map<string, number>();

  /** Answers a call of this life; rejects if the service is killed before delivery. */
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

  /** From now on the session stands still at this point. */
  stopAt(session: string, point: Point): void {
    this.stands.set(session, { point, at: null, gate: gate() });
  }

  /** The call that the session stands still at, null: it does not. */
  standing(session: string): { point: Point; at: Call } | null {
    const stand = this.stands.get(session);
    return stand?.at ? { point: stand.point, at: stand.at } : null;
  }

  /** Delivers what is answered: the session goes on. */
  release(session: string): void {
    this.stands.get(session)?.gate.open();
    this.stands.delete(session);
  }

  /** The service was killed: nobody waits for what is held. */
  killed(): void {
    this.life += 1;
    for (const session of [...this.stands.keys()]) this.release(session);
  }

  private async halt(call: Call, life: number, isNow: (moment: Moment) => boolean): Promise<void> {
    const stand = this.stands.get(call.session);
    if (stand && !stand.at && isNow(stand.point.moment) && this.isReached(call, stand.point)) stand.at = call;
    if (stand?.at) await stand.gate.opened;
    if (this.life !== life) throw new Error('the service was killed meanwhile');
  }

  private isReached({ session, what, ordinal }: Call, point: Point): boolean {
    return what === point.what && (ordinal ?? (this.reached.get(session) ?? -1) + 1) >= point.from;
  }
}
