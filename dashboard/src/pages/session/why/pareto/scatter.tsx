import { count, dollars, reward } from '../../../../util/format.js';
import { rewardRange } from '../../../../util/axis.js';
import { here } from '../../../../util/router.js';
import { Scatter as ScatterOf, type ScatterPoint } from '../../../../ui/charts/scatter.js';
import { numberOf } from '../../../../data/search.js';
import { tradeOff, type Point, type Unit } from './points.js';

const costOf = (cost: number, unit: Unit): string =>
  unit === 'dollars' ? dollars(cost) : `${count(Math.round(cost))} tokens`;

/** Reward over cost per rollout; each point is a link to its candidate. */
export function Scatter({ points, unit }: { points: readonly Point[]; unit: Unit }) {
  const all = points.map((point) => point.reward);
  const shownOf = (point: Point): ScatterPoint => ({
    id: point.candidateId,
    cost: point.cost,
    worth: point.reward,
    isFront: point.isFront,
    href: here({ candidate: point.candidateId }),
    label: `Candidate ${numberOf(point.candidateId).slice(1)}, reward ${reward(point.reward)}, ${costOf(point.cost, unit)} per answer${point.isFront ? ', on the front' : ''}`,
    name: numberOf(point.candidateId),
  });
  return (
    <ScatterOf
      label="Reward and cost per answer of the evaluated candidates"
      points={points.map(shownOf)}
      line={tradeOff(points).map(shownOf)}
      range={rewardRange(Math.min(...all), Math.max(...all))}
      axis={unit === 'dollars' ? 'Cost per answer' : 'Tokens per answer'}
      worthText={reward}
      costText={(cost) => costOf(cost, unit)}
    />
  );
}
