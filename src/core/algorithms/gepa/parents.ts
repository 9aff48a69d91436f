/** The parent of a generation's proposals. */
import { weightedPick } from '../../math/random.js';
import { isCheaper } from '../../search/costs.js';
import { canImprove } from '../../search/failure-pool.js';
import { rewardModelOf } from '../../search/model-cache.js';
import { paretoFront, removeDominated } from '../../search/pareto-front.js';
import type { RewardModel } from '../../search/reward-model.js';
import { incumbentOf, meansOf } from './pool.js';
import { drawOtherLine, isStalled, parentDraws, tiedChildren } from './stall.js';
import type { GepaState } from './state.js';

/** The parent of the next proposals: the one drawn for the generation, else the incumbent. */
export function parentOf(state: GepaState, model: RewardModel): number {
  const { parent } = state;
  return parent !== undefined && canImprove(state, model, parent) ? parent : incumbentOf(state, model);
}

/**
 * The parent of a generation, if it is not the incumbent: a tied child of the generation before, as
 * it may hold one of two changes that gain only together, unless it costs more; with `pareto` a
 * holder of the front; in every other generation of a stalled search another line.
 */
export function drawParent(state: GepaState, tiesAreParents: boolean): number | undefined {
  const { config, generation, costs } = state;
  const model = rewardModelOf(state);
  if (config.parentSelection === 'pareto') return drawFromFront(state, model);
  const incumbent = incumbentOf(state, model);
  const ties = tiesAreParents ? tiedChildren(state, model, incumbent) : [];
  const tied = ties.findLast(
    (child) => child.generation === generation - 1 && !isCheaper(costs, incumbent, child.candidate),
  );
  if (tied && canImprove(state, model, tied.candidate)) return tied.candidate;
  return generation % 2 === 0 && isStalled(state, model) ? drawOtherLine(state, model, incumbent) : undefined;
}

/**
 * A parent from the Pareto front over the train seeds, by the number of seeds on which it is the
 * best (GEPA, algorithm 2).
 */
function drawFromFront(state: GepaState, model: RewardModel): number | undefined {
  const { order, pool } = state;
  const front = paretoFront(model.comparable(pool, order));
  const means = meansOf(state, model);
  const holders = removeDominated(front, (candidate) => means.get(candidate)!);
  const parents = holders.filter(({ candidate }) => canImprove(state, model, candidate));
  if (parents.length === 0) return undefined;
  const weights = parents.map(({ seeds }) => seeds.length);
  const [index] = weightedPick(parentDraws(state), weights);
  return parents[index]!.candidate;
}
