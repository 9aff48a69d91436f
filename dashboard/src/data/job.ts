/** What the pages of all jobs have in common. */
import type { Answer } from '../../../src/client/index.js';

export type Job = Answer<'getSession'> | Answer<'getGraphJob'> | Answer<'getEvaluation'>;

export const isActive = (status: Job['status']): boolean => ['pending', 'running', 'paused'].includes(status);

/** Which part of its work is done, by the limit that is nearest; null: nothing limits it. */
export function shareOf({ progress, budget }: Pick<Job, 'progress' | 'budget'>): number | null {
  if ('completed' in progress) return progress.total === 0 ? null : progress.completed / progress.total;
  const { rollouts_completed: done, max_rollouts: most, generation, total_generations: generations } = progress;
  const { spent_usd: spent, max_cost_usd: maxUsd } = budget;
  const shares = [
    ...(most === null ? [] : [done / most]),
    ...(maxUsd === null || spent === null ? [] : [spent / maxUsd]),
    ...(generations === 0 ? [] : [generation / generations]),
  ];
  return shares.length === 0 ? null : Math.min(1, Math.max(...shares));
}
