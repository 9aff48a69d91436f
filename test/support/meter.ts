/** Lets as many calls through as a test allows; others wait. */
export interface Meter {
  /** Resolves when the call is allowed. */
  pass(): Promise<void>;
  /** Allows more calls; Infinity: all from now on. */
  allow(calls: number): void;
  /** Holds all calls from now on. */
  hold(): void;
  /** Releases the waiting calls when the test is over. */
  end(): void;
}

export function meter(): Meter {
  let allowed = 0;
  let waiting: (() => void)[] = [];
  const release = () => {
    while (allowed > 0 && waiting.length > 0) {
      allowed -= 1;
      waiting.shift()!();
    }
  };
  return {
    pass: () =>
      new Promise((resolve) => {
        waiting.push(resolve);
        release();
      }),
    allow: (calls) => {
      allowed += calls;
      release();
    },
    hold: () => (allowed = 0),
    end: () => {
      waiting.forEach((resolve) => resolve());
      waiting = [];
    },
  };
}
