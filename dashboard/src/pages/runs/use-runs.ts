import { useState } from 'preact/hooks';
import { isActive } from '../../data/job.js';
import type { RunsPage } from '../../data/run-types.js';
import { loadRuns, maxPageSize } from '../../data/runs.js';
import { useResource, type Resource } from '../../data/resource.js';
import { count, dollars } from '../../util/format.js';
import { requestOf, type RunsView } from './address.js';

/** While a shown run is active; else only new runs are looked for. */
const pollMs = { active: 2_000, ended: 15_000 };

/** The first runs of a view; asked again while one of them is active. */
export function useRuns(view: RunsView, most: number): Resource<RunsPage> {
  const query = { ...requestOf(view), limit: Math.min(most, maxPageSize) };
  const [isLive, setLive] = useState(true);
  const load = async (aborted: AbortSignal) => {
    const page = await loadRuns(query, aborted);
    setLive(page.data.some(({ status }) => isActive(status)));
    return page;
  };
  return useResource(JSON.stringify(query), load, isLive ? pollMs.active : pollMs.ended);
}

/** `21 runs, $0.31, 19,402 answers`. */
export function sumsText(sums: NonNullable<RunsPage['totals']>): string {
  const { runs, total_cost_usd: cost, runs_of_unknown_cost: unpriced, rollouts } = sums;
  const more = unpriced > 0 ? ` and ${count(unpriced)} of unknown cost` : '';
  const spent = unpriced === runs ? 'unknown cost' : `${dollars(cost)}${more}`;
  return `${count(runs)} ${runs === 1 ? 'run' : 'runs'}, ${spent}, ${count(rollouts)} answers`;
}
