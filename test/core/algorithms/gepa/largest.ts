import type { SearchAlgorithm, SearchView } from '../../../../src/core/search/protocol.js';
import type { Turn } from './driver.js';

const bytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

/** Maximum size in bytes of the state, and of what each step records. */
export function largestOf<State>(
  search: SearchAlgorithm<State>,
  turns: readonly Turn<State>[],
): Record<string, number> {
  const largest: Record<string, number> = {};
  const note = (what: string, value: unknown) => (largest[what] = Math.max(largest[what] ?? 0, bytes(value)));
  let seen: SearchView | undefined;
  for (const { before, after, decisions } of turns) {
    const view = search.view(after);
    const known = new Map(seen?.candidates.map((summary) => [summary.candidate, JSON.stringify(summary)]));
    const changed = view.candidates.filter((summary) => known.get(summary.candidate) !== JSON.stringify(summary));
    note('recorded', { view: { ...view, candidates: changed }, decisions });
    note('view', view);
    note('state', before);
    seen = view;
  }
  return largest;
}
