export interface Repeating {
  /** Waits for the run that is going on, or runs now. */
  run(): Promise<void>;
  /** Aborts the signal and waits for the run that is going on. */
  stop(): Promise<void>;
}

/**
 * Runs `work` every `everyMs` until it is stopped, one run at a time. A run that fails is reported,
 * unless it was stopped.
 */
export function startRepeating(
  work: (stopping: AbortSignal) => Promise<void>,
  everyMs: number,
  onFailure: (error: unknown) => void,
): Repeating {
  const stopping = new AbortController();
  let running: Promise<void> | null = null;
  const run = () =>
    (running ??= work(stopping.signal)
      .catch((error: unknown) => {
        if (!stopping.signal.aborted) onFailure(error);
      })
      .finally(() => (running = null)));
  const timer = setInterval(() => void run(), everyMs);
  return {
    run,
    async stop() {
      clearInterval(timer);
      stopping.abort();
      await running;
    },
  };
}
