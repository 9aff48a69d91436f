import { useRef } from 'preact/hooks';

/** The last value of a key that was there: nothing vanishes between two reads. */
export function useLast<T>(key: string, value: T | undefined): T | undefined {
  const last = useRef({ key, value });
  if (value !== undefined || last.current.key !== key) last.current = { key, value };
  return last.current.value;
}
