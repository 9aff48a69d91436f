/** Waits for hints that something may have changed; one that comes between two waits is not lost. */
export interface WakeSignal {
  wake(): void;
  /** Resolves at the next hint, or after `ms`. */
  next(ms: number): Promise<void>;
  stop(): void;
}

/** Hints from a subscription, which `stop` ends. */
export function createWakeSignal(subscribe: (wake: () => void) => () => void): WakeSignal {
  let hinted = false;
  let resume: (() => void) | null = null;
  const wake = () => {
    hinted = true;
    resume?.();
  };
  const stop = subscribe(wake);
  return {
    wake,
    stop,
    async next(ms) {
      if (!hinted) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms);
          resume = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      resume = null;
      hinted = false;
    },
  };
}
