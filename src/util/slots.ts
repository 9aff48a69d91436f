/** Waits for a slot; call the result once to give it back. Rejects with the signal's reason. */
export type TakeSlot = (signal: AbortSignal) => Promise<() => void>;

/** Admits at most `limit` at once, in order. */
export function createSlots(limit: number): TakeSlot {
  let free = limit;
  const waiting = new Set<() => void>();
  const release = () => {
    const [next] = waiting;
    if (next) next();
    else free += 1;
  };
  return async (signal) => {
    signal.throwIfAborted();
    if (free > 0) {
      free -= 1;
      return release;
    }
    return new Promise((resolve, reject) => {
      const start = () => {
        waiting.delete(start);
        signal.removeEventListener('abort', abort);
        resolve(release);
      };
      const abort = () => {
        waiting.delete(start);
        reject(signal.reason as Error);
      };
      waiting.add(start);
      signal.addEventListener('abort', abort, { once: true });
    });
  };
}
