/** The runs that are selected, on whatever page of the list. */
import { signal } from '@preact/signals';
import type { Run } from '../../data/run-types.js';

export type Marked = Pick<Run, 'job_id' | 'name' | 'kind' | 'status'>;

export const marked = signal<ReadonlyMap<string, Marked>>(new Map());

export const isMarked = (id: string): boolean => marked.value.has(id);

export const mark = (run: Marked, isNow: boolean): void => markAll([run], isNow);

export function markAll(runs: readonly Marked[], isNow: boolean): void {
  const next = new Map(marked.value);
  for (const run of runs) {
    if (isNow) next.set(run.job_id, run);
    else next.delete(run.job_id);
  }
  marked.value = next;
}

export const clear = (): void => void (marked.value = new Map());
