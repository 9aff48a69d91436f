/** What is compared and shown, as the address names it. */
import { mostColumns } from '../../util/compare-link.js';

const letters = 'ABCDEFGH';

export const outcomes = ['lost', 'won', 'different', 'failed'] as const;
export type Outcome = (typeof outcomes)[number];

export interface CompareView {
  ids: string[];
  /** One of `ids`: by default the first. */
  baseline: string;
  /** null: all rows. */
  outcome: Outcome | null;
  /** Whose outcome it is; null: that of any column. */
  column: string | null;
  q: string;
  onlyDifferences: boolean;
  /** Whose prompts stand beside each other; null: those of the baseline and of the first other. */
  from: string | null;
  to: string | null;
}

/** The view of an address; names of no column are left out. */
export function viewOf(query: URLSearchParams): CompareView {
  const ids = [...new Set((query.get('ids') ?? '').split(',').filter(Boolean))].slice(0, mostColumns);
  const among = (name: string) => ids.find((id) => id === query.get(name)) ?? null;
  return {
    ids,
    baseline: among('baseline') ?? ids[0] ?? '',
    outcome: outcomes.find((name) => name === query.get('rows')) ?? null,
    column: among('of'),
    q: query.get('q') ?? '',
    onlyDifferences: query.get('config') !== 'all',
    from: among('from'),
    to: among('to'),
  };
}

/** A, B, C … by the index of a column. */
export const letterOf = (ids: readonly string[], id: string): string => letters[ids.indexOf(id)] ?? '?';

type Changes = Record<string, string | null>;

/** Adds a column, at most once. */
export const adding = ({ ids }: CompareView, id: string): Changes => ({ ids: [...new Set([...ids, id])].join() });

/** Removes a column and what the address says of it. */
export function removing(view: CompareView, id: string): Changes {
  const ids = view.ids.filter((each) => each !== id);
  const named = { baseline: view.baseline, of: view.column, from: view.from, to: view.to };
  const gone = Object.entries(named).flatMap(([name, of]): [string, null][] => (of === id ? [[name, null]] : []));
  return { ids: ids.join() || null, ...Object.fromEntries(gone) };
}
