/** A wake signal between a notifier and a waiting loop; a signal between two waits is kept. */
export interface WakeSignal {
  wake(): void;
  /** Resolves at the next signal or after `ms`. */
  next(ms: number): Promise<void>;
  stop(): void;
}

/** Creates a wake signal from a subscription; `stop` unsubscribes. */
export function createWakeSignal(subscribe: (wake: () => void) => () => void): WakeSignal {
  let woken = false;
  let resume: (() => void) | null = null;
  const wake = () => {
    woken = true;
    resume?.();
  };
  const stop = subscribe(wake);
  return {
    wake,
    stop,
    async next(ms) {
      if (!woken) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms);
          resume = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      resume = null;
      woken = false;
    },
  };
}
