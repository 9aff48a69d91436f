/**
 * Shares concurrent reads of the same `key`: one read serves all requests made before it starts.
 * Later requests never join a running read, which may have missed newer data.
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
