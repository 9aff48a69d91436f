/**
 * Watches the work of an activity, whose heartbeats prove that its process lives and no more. Work
 * has parts: its own line, and the rollouts, proposals and demonstrations that this one waits for.
 * A part moves when a call of it returns. One that does not move for longer than its calls may take
 * stands still: it is given up, and the attempt fails.
 */
import { ApplicationFailure } from '@temporalio/common';
import { databasePatienceMs } from '../../src/platform/db/patience.js';
import type { JobRef } from '../../src/jobs/store/events.js';
import { workStoodStill } from '../../src/core/jobs/failures.js';
import type { ActivityDeps } from '../deps.js';
import { Part, type PartName } from './part.js';

export interface WatchLimits {
  /** How often the parts are looked at, and how much later they are each time. */
  everyMs: number;
  tickMs: number;
  /** Of the line of the activity, which calls Postgres alone; longer than its retries. */
  lineMs: number;
  /** What a part may take beyond its longest call: the database's patience, and a query. */
  slackMs: number;
}

const defaultLimits: WatchLimits = {
  everyMs: 4_000,
  tickMs: 4_000,
  lineMs: 5 * 60_000,
  slackMs: databasePatienceMs + 30_000,
};

/** What an activity does, for its heartbeats; times as JSON. */
export interface WorkDetails {
  /** The part that began first, or the step of the activity's own line. */
  doing: string;
  since: string;
  /** The number of parts by kind. */
  inFlight: Partial<Record<PartName['kind'], number>>;
  /** What was recorded last; absent: nothing yet. */
  recorded?: { what: string; at: string };
}

/** A part of the work did not move for longer than its calls may take. */
export class StoodStill extends ApplicationFailure {
  constructor({ what, quietMs, limitMs }: Pick<Part, 'what' | 'quietMs' | 'limitMs'>) {
    const [quiet, limit] = [quietMs, limitMs].map((ms) => Math.round(ms / 1_000));
    const message = `${workStoodStill}: No call of ${what} has returned for ${quiet} s, and none may take more than ${limit} s.`;
    super(message, workStoodStill, false);
  }
}

type Reporters = Pick<ActivityDeps, 'log'> & { metrics: Pick<ActivityDeps['metrics'], 'stoodStill'> };

export class Watch {
  private readonly parts = new Set<Part>();
  /** The activity's own line, which waits for the parts. */
  readonly line: Part;
  private recordedLast: { what: string; at: Date } | null = null;
  private readonly timer: NodeJS.Timeout;
  private readonly reporters: Reporters;
  private readonly job: JobRef;
  private readonly limits: WatchLimits;

  /** `activity`: its name. */
  constructor(reporters: Reporters, job: JobRef, activity: string, limits: Partial<WatchLimits> = {}) {
    this.reporters = reporters;
    this.job = job;
    this.limits = { ...defaultLimits, ...limits };
    this.line = new Part({ kind: 'line', id: activity }, this.limits.lineMs, 0);
    this.timer = setInterval(() => this.look(), this.limits.everyMs).unref();
  }

  /** Runs the activity's own line. `giveUp`: ends what goes on of work that stands still. */
  async run<T>(work: () => Promise<T>, giveUp: (reason: StoodStill) => void = () => undefined): Promise<T> {
    this.line.stoodStill.catch(giveUp);
    try {
      return await Promise.race([work(), this.line.stoodStill]);
    } finally {
      clearInterval(this.timer);
    }
  }

  /** Runs a part, whose longest call takes `callMs`. Rejects with StoodStill. */
  async part<T>(name: PartName, callMs: number, work: (part: Part) => Promise<T>): Promise<T> {
    const part = new Part(name, callMs, this.limits.slackMs);
    this.parts.add(part);
    try {
      return await Promise.race([work(part), part.stoodStill]);
    } finally {
      this.parts.delete(part);
      this.line.moved();
    }
  }

  /** The line of the activity has recorded something. */
  recorded(what: string): void {
    this.recordedLast = { what, at: new Date() };
    this.line.moved();
  }

  get details(): WorkDetails {
    const [first = this.line] = this.parts;
    const inFlight: WorkDetails['inFlight'] = {};
    for (const { kind } of this.parts) inFlight[kind] = (inFlight[kind] ?? 0) + 1;
    const { what, at } = this.recordedLast ?? {};
    return {
      doing: first.what,
      since: first.since.toISOString(),
      inFlight,
      ...(what !== undefined && at && { recorded: { what, at: at.toISOString() } }),
    };
  }

  /** Counts its own calls in place of a clock: a frozen process makes nothing late. */
  private look(): void {
    const { tickMs } = this.limits;
    const parts = [...this.parts];
    // A part waits for its turn only while another one does not.
    const mayWait = parts.some(({ isWaiting }) => !isWaiting);
    for (const part of parts.length > 0 ? parts : [this.line]) {
      if (part.isWaiting && mayWait) continue;
      part.quietMs += tickMs;
      if (part.quietMs > part.limitMs) this.giveUp(part);
    }
  }

  private giveUp(part: Part): void {
    const { what, kind, quietMs } = part;
    this.reporters.log.error(
      { job_id: this.job.jobId, work: what, quiet_s: quietMs / 1_000, code: workStoodStill },
      'work stands still; its attempt ends and is repeated',
    );
    this.reporters.metrics.stoodStill(kind);
    part.giveUp(new StoodStill(part));
  }
}
