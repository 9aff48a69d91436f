import type { Logger } from 'pino';
import type { JobRef } from '../../src/jobs/store/events.js';

/** A generation that is complete and recorded. */
export interface RecordedGeneration {
  generation: number;
  /** Candidates of the job so far. */
  candidates: number;
  bestReward: number;
  rollouts: number;
  /** null: unknown. */
  costUsd: number | null;
}

/** Logs one line for each generation. Call it after the transaction that records them. */
export function logGenerations(log: Logger, { jobId }: JobRef, generations: readonly RecordedGeneration[]): void {
  for (const { generation, candidates, bestReward, rollouts, costUsd } of generations) {
    log.info(
      { job_id: jobId, generation, candidates, best_reward: bestReward, rollouts, cost_usd: costUsd },
      'generation complete',
    );
  }
}
