import type { Item } from '../../../../src/client/index.js';
import type { Evaluation } from '../../data/evaluation/types.js';

type Listed = Pick<Item<'listEvaluations'>, 'job_id' | 'container_url' | 'env_name' | 'num_seeds' | 'created_at'> & {
  dataset?: { dataset_id: string } | undefined;
};

/** How much of the rows another evaluation probably shares: 2 all, 1 some, 0 none. */
export function likenessOf(job: Pick<Evaluation, keyof Listed & keyof Evaluation>, other: Listed): number {
  if (job.dataset || other.dataset) return job.dataset?.dataset_id === other.dataset?.dataset_id ? 2 : 0;
  const isSameTask = job.container_url === other.container_url && job.env_name === other.env_name;
  if (!isSameTask) return 0;
  return job.num_seeds === other.num_seeds ? 2 : 1;
}

/** Other evaluations, those with the same rows first, each group in its order. */
export function othersFirst<Other extends Listed>(
  job: Parameters<typeof likenessOf>[0],
  others: readonly Other[],
): { other: Other; likeness: number }[] {
  return others
    .filter((other) => other.job_id !== job.job_id)
    .map((other) => ({ other, likeness: likenessOf(job, other) }))
    .sort((a, b) => b.likeness - a.likeness);
}
