/** `line`: the activity itself, by its name. */
export type PartName =
  { kind: 'rollout'; id: string } | { kind: 'line'; id: string } | { kind: 'proposals' | 'demonstrations' };

/** A part of an activity's work. It moves when one of its calls returns. */
export class Part {
  readonly kind: PartName['kind'];
  /** In the words of a log. */
  readonly what: string;
  readonly since = new Date();
  /** How long it has not moved. */
  quietMs = 0;
  /** Rejects once it is given up. */
  readonly stoodStill: Promise<never>;
  giveUp!: (reason: Error) => void;
  private waits = 0;
  private longMs = 0;
  private readonly callMs: number;
  private readonly slackMs: number;

  /** `callMs`: the longest time between the ends of two calls; `slackMs`: what is added to any. */
  constructor(name: PartName, callMs: number, slackMs: number) {
    this.kind = name.kind;
    this.what = 'id' in name ? (name.kind === 'line' ? name.id : `${name.kind} ${name.id}`) : name.kind;
    this.callMs = callMs;
    this.slackMs = slackMs;
    this.stoodStill = new Promise((_, reject) => (this.giveUp = reject));
    // Nobody may wait for it any more.
    this.stoodStill.catch(() => undefined);
  }

  get limitMs(): number {
    return Math.max(this.callMs, this.longMs) + this.slackMs;
  }

  /** Whether it waits for its turn behind other parts. */
  get isWaiting(): boolean {
    return this.waits > 0;
  }

  moved(): void {
    this.quietMs = 0;
  }

  /** Moves when a call returns. */
  async call<T>(returned: Promise<T>): Promise<T> {
    try {
      return await returned;
    } finally {
      this.moved();
    }
  }

  /** Waits for its turn, which is no standstill while another part works. */
  async turn<T>(waited: Promise<T>): Promise<T> {
    this.waits += 1;
    try {
      return await this.call(waited);
    } finally {
      this.waits -= 1;
    }
  }

  /** A call that may take longer than the others. */
  async longCall<T>(ms: number, returned: Promise<T>): Promise<T> {
    this.longMs = ms;
    try {
      return await this.call(returned);
    } finally {
      this.longMs = 0;
    }
  }
}
