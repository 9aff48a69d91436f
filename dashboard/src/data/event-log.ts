import { signal } from '@preact/signals';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Event } from '../../../src/client/index.js';
import { client } from './client.js';
import type { EventFold } from './event-fold.js';

/** The events of a job, each once and in order, across broken connections and sleeping laptops. */
export class EventLog {
  readonly events: Event[] = [];
  /** Grows when events were added; at most once a frame. */
  readonly version = signal(0);
  readonly state = signal<'live' | 'reconnecting' | 'ended' | 'failed'>('live');
  private readonly stopping = new AbortController();
  private readonly id: string;
  private isShowing = false;
  private isFollowing = false;

  constructor(id: string) {
    this.id = id;
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
    const onOpen = () => (this.state.value = 'live');
    const onBreak = () => (this.state.value = 'reconnecting');
    const options = { since: this.events.at(-1)?.seq ?? 0, signal: stopped, onOpen, onBreak, maxRetries: Infinity };
    try {
      for await (const event of client.value.handle(this.id).events(options)) {
        this.events.push(event);
        this.show();
      }
      this.state.value = 'ended';
    } catch {
      // The page shows the state; the error of the job itself says why.
      if (!stopped.aborted) this.state.value = 'failed';
    }
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
  return useFold(log, make, key, Infinity).fold;
}

/** As many events are folded at a time: some milliseconds of work. */
const sliceSize = 4_000;

/** As `useEventFold`, in slices with pauses for the reader's input; `isBehind` until all are in. */
export function useSlicedFold<F extends EventFold>(log: EventLog, make: () => F, key: string) {
  return useFold(log, make, key, sliceSize);
}

function useFold<F extends EventFold>(
  log: EventLog,
  make: () => F,
  key: string,
  size: number,
): { fold: F; isBehind: boolean } {
  const state = useMemo(() => ({ fold: make(), taken: 0 }), [log, key]);
  const [, goOn] = useState(0);
  // Subscribes the component; events that came since the last frame are taken, too.
  void log.version.value;
  const end = Math.min(log.events.length, state.taken + size);
  for (; state.taken < end; state.taken += 1) state.fold.add(log.events[state.taken]!);
  const isBehind = state.taken < log.events.length;
  useEffect(() => {
    if (!isBehind) return;
    const timer = setTimeout(() => goOn((n) => n + 1));
    return () => clearTimeout(timer);
  });
  return { fold: state.fold, isBehind };
}
