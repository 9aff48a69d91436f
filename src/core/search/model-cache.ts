/** The reward model of a state; one step needs it many times. */
import type { CandidateSummary } from './protocol.js';
import { RewardModel } from './reward-model.js';
import type { Results } from './results.js';
import type { SeededState } from './state.js';

/** The last model of each results object. Not part of any state. */
const lastModels = new WeakMap<Results, { candidates: readonly CandidateSummary[]; model: RewardModel }>();
const noParents: readonly number[] = [];

export function rewardModelOf({ results, candidates }: Pick<SeededState, 'results' | 'candidates'>): RewardModel {
  const last = lastModels.get(results);
  if (last && haveSameLineage(last.candidates, candidates)) return last.model;
  const parents = new Map(candidates.map((summary) => [summary.candidate, summary.parents]));
  const model = new RewardModel(results, (candidate) => parents.get(candidate) ?? noParents);
  lastModels.set(results, { candidates, model });
  return model;
}

function haveSameLineage(left: readonly CandidateSummary[], right: readonly CandidateSummary[]): boolean {
  return (
    left.length === right.length &&
    left.every(({ candidate, parents }, index) => {
      return right[index]!.candidate === candidate && right[index]!.parents === parents;
    })
  );
}
