import type { Results } from '../../data/search.js';

type Found = Pick<Results, 'verdict' | 'comparison' | 'best_candidate'>;

/** Whether the best prompt or graph of an ended search is worth to be deployed, and why. */
export function deployNote({ verdict, comparison, best_candidate: best }: Found): string {
  if (best === null) return 'Nothing to deploy: no candidate was evaluated.';
  if (best.is_baseline) return 'Nothing was better than the baseline.';
  if (verdict === null || comparison === null) return 'The winner was not compared with the baseline.';
  if (verdict === 'worse') return 'The winner is worse than the baseline: better not deploy it.';
  if (verdict === 'inconclusive') return 'The winner is not shown to be better than the baseline.';
  return comparison.basis === 'heldout'
    ? 'Better on rows that the search never saw.'
    : 'Better on the rows that chose it: other rows may say less.';
}
