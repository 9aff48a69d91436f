/** The reward model of a state, and values computed from it; one step needs them many times. */
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

/** Keeps a value by reward model until its key changes. Not part of any state. */
export function cacheByModel<Key, Value>(): (model: RewardModel, key: Key, compute: () => Value) => Value {
  const last = new WeakMap<RewardModel, { key: Key; value: Value }>();
  return (model, key, compute) => {
    const known = last.get(model);
    if (known?.key === key) return known.value;
    const value = compute();
    last.set(model, { key, value });
    return value;
  };
}
