/** A scrape within this time of another one shows the same sample. */
const maxAgeMs = 5_000;

/** Shares each run of `take` between all calls of some seconds. */
export function shareSample(take: () => Promise<void>): () => Promise<void> {
  let taken: Promise<void> | null = null;
  let takenAt = -Infinity;
  return () => {
    const now = performance.now();
    if (!taken || now - takenAt >= maxAgeMs) {
      takenAt = now;
      taken = take();
    }
    return taken;
  };
}
