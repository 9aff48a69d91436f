import { useEffect, useRef, useState } from 'preact/hooks';

/** The latest value, taken over at most every `ms`. */
export function useSlowly<T>(value: T, ms: number): T {
  const [taken, setTaken] = useState(value);
  const latest = useRef(value);
  latest.current = value;
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  useEffect(() => {
    timer.current ??= setTimeout(() => {
      timer.current = null;
      setTaken(latest.current);
    }, ms);
  }, [value, ms]);
  useEffect(() => () => clearTimeout(timer.current ?? undefined), []);
  return taken;
}
