import { signal } from '@preact/signals';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Event } from '../../../src/client/index.js';
import { client } from './client.js';
import type { EventFold } from './event-fold.js';
import { kindOfJob, kinds } from './kinds.js';
import { isFinal } from './loads.js';

const longestWaitMs = 10_000;

/** The events of a job, each once and in order, across broken connections and sleeping laptops. */
export class EventLog {
  readonly events: Event[] = [];
  /** Grows when events were added; at most once a frame. */
  readonly version = signal(0);
  readonly state = signal<'live' | 'reconnecting' | 'ended' | 'failed'>('live');
  private readonly stopping = new AbortController();
  private readonly path: { session_id: string; job_id: string; deployment_id: string };
  private isShowing = false;
  private isFollowing = false;

  constructor(id: string) {
    this.path = { session_id: id, job_id: id, deployment_id: id };
  }

  /** Follows the events to the end of the job; again after the job was extended. */
  start(): void {
    if (this.isFollowing) return;
    this.isFollowing = true;
    this.state.value = 'live';
    void this.follow().finally(() => (this.isFollowing = false));
  }

  stop(): void {
    this.stopping.abort();
  }

  private async follow(): Promise<void> {
    const { signal: stopped } = this.stopping;
    for (let tries = 0; !stopped.aborted; tries += 1) {
      try {
        for await (const event of this.open(stopped)) {
          this.events.push(event);
          this.show();
          tries = 0;
        }
        this.state.value = 'ended';
        return;
      } catch (error) {
        if (stopped.aborted) return;
        this.state.value = isFinal(error) ? 'failed' : 'reconnecting';
        if (isFinal(error)) return;
        // The state tells the reader; the next connection goes on after the last event.
      }
      await waitOrWake(Math.min(longestWaitMs, 500 * 2 ** tries), stopped);
    }
  }

  private open(stopped: AbortSignal): AsyncGenerator<Event, void> {
    const { path } = this;
    const onOpen = () => (this.state.value = 'live');
    const options = { path, since: this.events.at(-1)?.seq ?? 0, signal: stopped, onOpen, maxRetries: 4 };
    return client.value.events(kinds[kindOfJob(path.job_id)].events, options);
  }

  private show(): void {
    if (this.isShowing) return;
    this.isShowing = true;
    // A hidden page has no frames.
    const next = document.hidden ? (run: () => void) => setTimeout(run, 200) : requestAnimationFrame;
    next(() => {
      this.isShowing = false;
      this.version.value = this.events.length;
    });
  }
}

/** The events of a job while the component is mounted. */
export function useEventLog(id: string): EventLog {
  const log = useMemo(() => new EventLog(id), [id]);
  useEffect(() => {
    log.start();
    return () => log.stop();
  }, [log]);
  return log;
}

/** A fold of all events so far; made anew when the log or `key` changes. */
export function useEventFold<F extends EventFold>(log: EventLog, make: () => F, key = ''): F {
  const state = useMemo(() => ({ fold: make(), taken: 0 }), [log, key]);
  // Subscribes the component; events that came since the last frame are taken, too.
  void log.version.value;
  for (; state.taken < log.events.length; state.taken += 1) state.fold.add(log.events[state.taken]!);
  return state.fold;
}

/** As many events are folded at a time: some milliseconds of work. */
const sliceSize = 4_000;

/** As `useEventFold`, in slices with pauses for the reader's input; `isBehind` until all are in. */
export function useSlicedFold<F extends EventFold>(
  log: EventLog,
  make: () => F,
  key: string,
): { fold: F; isBehind: boolean } {
  const state = useMemo(() => ({ fold: make(), taken: 0 }), [log, key]);
  const [, goOn] = useState(0);
  void log.version.value;
  const end = Math.min(log.events.length, state.taken + sliceSize);
  for (; state.taken < end; state.taken += 1) state.fold.add(log.events[state.taken]!);
  const isBehind = state.taken < log.events.length;
  useEffect(() => {
    if (!isBehind) return;
    const timer = setTimeout(() => goOn((n) => n + 1));
    return () => clearTimeout(timer);
  });
  return { fold: state.fold, isBehind };
}

/** Waits; ends early when the network returns, the page is shown or the signal aborts. */
function waitOrWake(ms: number, stopped: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      removeEventListener('online', done);
      document.removeEventListener('visibilitychange', done);
      stopped.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    addEventListener('online', done);
    document.addEventListener('visibilitychange', done);
    stopped.addEventListener('abort', done);
  });
}
