import type { CandidateDetail } from '../../../data/search.js';

export type Tested = CandidateDetail['minibatch'][number];
export type Result = 'won' | 'lost' | 'tied' | 'open';

/** Whether a candidate did better than its parent on a seed. */
export function resultOf({ parent_reward: before, candidate_reward: after }: Tested): Result {
  if (before === null || after === null) return 'open';
  return after > before ? 'won' : after < before ? 'lost' : 'tied';
}

/** `3 won, 1 lost, 2 tied`. */
export function tally(tested: readonly Tested[]): string {
  const counts = { won: 0, lost: 0, tied: 0, open: 0 };
  for (const each of tested) counts[resultOf(each)] += 1;
  const said = (Object.keys(counts) as Result[]).filter((result) => counts[result] > 0);
  return said.map((result) => `${counts[result]} ${result}`).join(', ');
}

/** Why a seed was tested. */
export const roles: Record<Tested['role'], string> = {
  shown: 'failure shown to the reflection',
  guard: 'regression test',
  live: 'live traffic',
};
