import { useEffect, useRef } from 'preact/hooks';
import type { EventLog } from '../../data/event-log.js';
import { useResource, type Resource } from '../../data/resource.js';
import { isActive } from '../../data/job.js';
import type { SearchJob, Status } from '../../data/search.js';

export const pollMs = 2_000;
/** Of a hidden page, for its title. */
const hiddenMs = 15_000;

/** A job, asked again while it is active. */
export function useJob<Job extends SearchJob>(id: string, load: (signal: AbortSignal) => Promise<Job>): Resource<Job> {
  const status = useRef<{ id: string; value: Status | undefined }>({ id, value: undefined });
  if (status.current.id !== id) status.current = { id, value: undefined };
  const isOver = status.current.value !== undefined && !isActive(status.current.value);
  const job = useResource(`job ${id}`, load, isOver ? null : pollMs, hiddenMs);
  status.current.value = job.data?.status;
  return job;
}

/** Reads the last state when the events have ended or the status has changed. */
export function useAtEnd(log: EventLog, status: Status | undefined, reload: () => Promise<unknown>): void {
  const state = log.state.value;
  useEffect(() => {
    if (status !== undefined) void reload();
  }, [state === 'ended', status]);
}
