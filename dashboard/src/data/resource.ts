import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { isFinal, Loads } from './loads.js';

export interface Resource<T> {
  /** The last answer; stays while a newer one loads or fails. */
  data: T | undefined;
  error: Error | undefined;
  /** Asks again now. */
  reload(): Promise<void>;
}

/**
 * What `load` returns, while `key` stays the same; asks again every `pollMs` while the page is
 * visible, and every `hiddenMs` while it is not, until the service answers that there is nothing
 * to see.
 */
export function useResource<T>(
  key: string,
  load: (signal: AbortSignal) => Promise<T>,
  pollMs: number | null = null,
  hiddenMs: number | null = null,
): Resource<T> {
  const [state, setState] = useState<{ key: string; data?: T; error?: Error }>({ key });
  const latest = useRef(load);
  latest.current = load;

  const { loads, stop } = useMemo(() => {
    const stopping = new AbortController();
    const { signal } = stopping;
    const run = async () => {
      if (signal.aborted) return;
      try {
        const data = await latest.current(signal);
        if (!signal.aborted) setState({ key, data });
      } catch (error) {
        if (!signal.aborted) setState((last) => ({ ...(last.key === key ? last : { key }), error: error as Error }));
      }
    };
    return { loads: new Loads(run), stop: () => stopping.abort() };
  }, [key]);
  const reload = useCallback(() => loads.again(), [loads]);

  useEffect(() => {
    void reload();
    return stop;
  }, [reload, stop]);

  const isCurrent = state.key === key;
  const isPolled = pollMs !== null && !(isCurrent && isFinal(state.error));
  useEffect(() => {
    if (!isPolled) return;
    const poll = () => {
      if (!document.hidden) loads.poll();
    };
    const timer = setInterval(poll, pollMs);
    const pollHidden = () => {
      if (document.hidden) loads.poll();
    };
    const hiddenTimer = hiddenMs === null ? undefined : setInterval(pollHidden, hiddenMs);
    document.addEventListener('visibilitychange', poll);
    return () => {
      clearInterval(timer);
      clearInterval(hiddenTimer);
      document.removeEventListener('visibilitychange', poll);
    };
  }, [loads, isPolled, pollMs, hiddenMs]);

  return { data: isCurrent ? state.data : undefined, error: isCurrent ? state.error : undefined, reload };
}
