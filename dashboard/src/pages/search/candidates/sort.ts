import type { Candidate } from '../../../data/search.js';

export type SortKey = 'number' | 'generation' | 'status' | 'reward' | 'estimate' | 'avg_reward' | 'rollouts';

export interface Sort {
  key: SortKey;
  isDescending: boolean;
}

/** `reward` or `-reward`; the latest candidates first by default. */
export function sortOf(text: string | null): Sort {
  const key = (text ?? '').replace(/^-/, '') as SortKey;
  if (!Object.hasOwn(valueOf, key)) return { key: 'number', isDescending: true };
  return { key, isDescending: text!.startsWith('-') };
}

export const textOf = ({ key, isDescending }: Sort): string => `${isDescending ? '-' : ''}${key}`;

const valueOf: Record<SortKey, (candidate: Candidate) => number | string | null> = {
  number: ({ lever_version: number }) => number,
  generation: ({ generation }) => generation,
  status: ({ status, decision }) => `${decision.outcome} ${status}`,
  reward: ({ reward }) => reward,
  estimate: ({ decision }) => decision.estimated_reward,
  avg_reward: ({ avg_reward: average }) => average,
  rollouts: ({ rollout_count: rollouts }) => rollouts,
};

/** Sorted by a column; candidates without a value come last, equal ones by their number. */
export function sorted(candidates: readonly Candidate[], { key, isDescending }: Sort): Candidate[] {
  const read = valueOf[key];
  const sign = isDescending ? -1 : 1;
  return candidates.toSorted((a, b) => {
    const [x, y] = [read(a), read(b)];
    if (x === y) return sign * (a.lever_version - b.lever_version);
    if (x === null || y === null) return x === null ? 1 : -1;
    return sign * (x < y ? -1 : 1);
  });
}
