/**
 * Shares reads: those that want the same (`key`) at the same moment get the answer of one, which begins after all have asked.
 * Nobody joins a read that has begun, for it may have missed what the one who comes later has to see.
 */
export function createSharedReads<T>(): (key: string, read: () => Promise<T>) => Promise<T> {
  const gathering = new Map<string, Promise<T>>();
  return (key, read) => {
    const joined = gathering.get(key);
    if (joined) return joined;
    const answer = new Promise<void>((begin) => setImmediate(begin)).then(() => {
      gathering.delete(key);
      return read();
    });
    gathering.set(key, answer);
    return answer;
  };
}
