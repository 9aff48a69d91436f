import { useMemo, useState } from 'preact/hooks';
import { client } from '../client.js';
import { useResource, type Resource } from '../resource.js';
import { isActive } from '../job.js';
import type { Column } from './types.js';

const pollMs = 2_000;
/** Of a hidden page, for its title. */
const hiddenMs = 15_000;

/** Evaluations with their results; those that still run are read again. */
export function useColumns(ids: string[]): Resource<Column[]> {
  const key = ids.join();
  const finished = useMemo(() => new Map<string, Column>(), [key]);
  const [isLive, setLive] = useState(true);
  const load = async (signal: AbortSignal) => {
    const columns = await Promise.all(ids.map(async (id) => finished.get(id) ?? loadColumn(id, signal)));
    const [first, ...others] = columns;
    for (const column of others) if (!isActive(column.job.status)) finished.set(column.job.job_id, column);
    setLive([first!, ...others].some(({ job }) => isActive(job.status)));
    return columns;
  };
  return useResource(key, load, isLive ? pollMs : null, hiddenMs);
}

async function loadColumn(id: string, signal: AbortSignal): Promise<Column> {
  const path = { job_id: id };
  // The status first: results that are read after the end are all results.
  const job = await client.value.request('getEvaluation', { path, signal });
  const { results } = await client.value.request('getEvaluationResults', { path, signal });
  return { job, results };
}
