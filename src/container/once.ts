/** The same key gets the same response, so a retry does not pay twice. */
const maxKept = 1_000;

interface Entry<Answer> {
  answer: Promise<Answer>;
  waiting: number;
  stop: AbortController;
}

/** Runs `work` once per key and keeps the last 1,000 responses, except 5xx. */
export function once<Answer extends { status: number }>() {
  const entries = new Map<string, Entry<Answer>>();

  return async (key: string, gone: AbortSignal, work: (signal: AbortSignal) => Promise<Answer>): Promise<Answer> => {
    const entry = entries.get(key) ?? begin(key, work);
    entry.waiting += 1;
    // Stop and forget the work only when no caller waits for it.
    const release = () => {
      entry.waiting -= 1;
      if (entry.waiting === 0) entry.stop.abort(gone.reason);
    };
    if (gone.aborted) release();
    else gone.addEventListener('abort', release, { once: true });
    return entry.answer;
  };

  function begin(key: string, work: (signal: AbortSignal) => Promise<Answer>): Entry<Answer> {
    const stop = new AbortController();
    const answer = work(stop.signal).then(
      (result) => {
        if (result.status >= 500 || stop.signal.aborted) entries.delete(key);
        else if (entries.size > maxKept) entries.delete(entries.keys().next().value!);
        return result;
      },
      (error: unknown) => {
        entries.delete(key);
        throw error;
      },
    );
    const entry: Entry<Answer> = { answer, waiting: 0, stop };
    entries.set(key, entry);
    return entry;
  }
}
