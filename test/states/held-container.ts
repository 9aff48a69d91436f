import { answers, startFakeContainer, type FakeContainer } from '../support/fakes/container.js';

/** A container that holds every rollout until its release. */
export interface HeldContainer {
  url: string;
  /** Ids of the job's held rollouts, in order of arrival. */
  held(jobId: string): string[];
  /** Answers a held rollout: 202 for a late reward, else its reward. */
  release(rolloutId: string): void;
  /** Highest number of concurrent rollouts of the job. */
  peak(jobId: string): number;
  callsOf: FakeContainer['callsOf'];
  /** Answers all held rollouts and forgets the rest. */
  clear(): void;
  close(): Promise<void>;
}

/** The key that the container accepts; it refuses any other. */
export const containerKey = 'the-right-key';

/** Whether the container announces a late reward for this seed. */
export const isLate = (seed: number): boolean => seed % 3 === 2;

/** The container's reward for a seed. */
export const rewardOf = (seed: number): number => ((seed * 7) % 10) / 10;

const jobOf = (rolloutId: string): string => rolloutId.split('_')[1]!;
const bare = (jobId: string): string => jobId.slice(4);

export async function startHeldContainer(): Promise<HeldContainer> {
  const waiting = new Map<string, () => void>();
  const peaks = new Map<string, number>();
  const held = (job: string) => [...waiting.keys()].filter((id) => jobOf(id) === job);
  const container = await startFakeContainer({
    apiKey: containerKey,
    prompt: [{ role: 'system', content: 'Say yes.' }],
    behave:
      ({ rolloutId, seed }) =>
      async (call, response) => {
        await new Promise<void>((resolve) => {
          waiting.set(rolloutId, resolve);
          response.once('close', () => {
            if (waiting.get(rolloutId) === resolve) waiting.delete(rolloutId);
          });
          const job = jobOf(rolloutId);
          peaks.set(job, Math.max(peaks.get(job) ?? 0, held(job).length));
        });
        await (isLate(seed) ? answers.pending202() : answers.reward(rewardOf(seed)))(call, response);
      },
  });
  const release = (rolloutId: string) => {
    const open = waiting.get(rolloutId);
    waiting.delete(rolloutId);
    open?.();
  };
  return {
    url: container.url,
    held: (jobId) => held(bare(jobId)),
    release,
    peak: (jobId) => peaks.get(bare(jobId)) ?? 0,
    callsOf: container.callsOf,
    clear() {
      for (const id of [...waiting.keys()]) release(id);
      peaks.clear();
      container.ledger.length = 0;
    },
    close: () => container.close(),
  };
}
