import { useCallback, useEffect, useRef, useState } from 'preact/hooks';

export interface Resource<T> {
  /** The last answer; stays while a newer one loads or fails. */
  data: T | undefined;
  error: Error | undefined;
  /** Asks again now. */
  reload(): Promise<void>;
}

/**
 * What `load` returns, while `key` stays the same; asks again every `pollMs` while the page is
 * visible.
 */
export function useResource<T>(
  key: string,
  load: (signal: AbortSignal) => Promise<T>,
  pollMs: number | null = null,
): Resource<T> {
  const [state, setState] = useState<{ key: string; data?: T; error?: Error }>({ key });
  const latest = useRef(load);
  latest.current = load;
  const aborter = useRef(new AbortController());

  const reload = useCallback(async () => {
    const { signal } = aborter.current;
    try {
      const data = await latest.current(signal);
      if (!signal.aborted) setState({ key, data });
    } catch (error) {
      if (!signal.aborted) setState((last) => ({ ...(last.key === key ? last : { key }), error: error as Error }));
    }
  }, [key]);

  useEffect(() => {
    aborter.current = new AbortController();
    void reload();
    return () => aborter.current.abort();
  }, [reload]);

  useEffect(() => {
    if (pollMs === null) return;
    const poll = () => {
      if (!document.hidden) void reload();
    };
    const timer = setInterval(poll, pollMs);
    document.addEventListener('visibilitychange', poll);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', poll);
    };
  }, [reload, pollMs]);

  const isCurrent = state.key === key;
  return { data: isCurrent ? state.data : undefined, error: isCurrent ? state.error : undefined, reload };
}
