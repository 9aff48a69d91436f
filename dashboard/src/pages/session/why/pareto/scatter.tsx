import { useRef } from 'preact/hooks';
import { count, dollars, reward } from '../../../../util/format.js';
import { labelWidth, rewardRange } from '../../../../util/axis.js';
import { here } from '../../../../util/router.js';
import { nextInList, useRoving } from '../../../../ui/use-roving.js';
import { useWidth } from '../../../../ui/use-width.js';
import { numberOf } from '../../../../data/search.js';
import { tradeOff, type Point, type Unit } from './points.js';

const height = 300;
const edges = { right: 24, top: 14, bottom: 40 };

const costOf = (cost: number, unit: Unit): string =>
  unit === 'dollars' ? dollars(cost) : `${count(Math.round(cost))} tokens`;

/** Reward over cost per rollout; each point is a link to its candidate. */
export function Scatter({ points, unit }: { points: readonly Point[]; unit: Unit }) {
  const box = useRef<HTMLDivElement>(null);
  // From cheap to dear.
  const ids = points.map(({ candidateId }) => candidateId);
  const roving = useRoving(ids, nextInList(ids));
  const width = Math.max(240, useWidth(box));
  const costs = rangeOf(points.map(({ cost }) => cost));
  const all = points.map((point) => point.reward);
  const rewards = scaleOf(rewardRange(Math.min(...all), Math.max(...all)));
  const margin = { ...edges, left: labelWidth([reward(rewards.low), reward(rewards.high)]) };
  const x = ({ cost }: Point) => margin.left + (width - margin.left - margin.right) * costs.share(cost);
  const y = ({ reward: up }: Point) =>
    height - margin.bottom - (height - margin.top - margin.bottom) * rewards.share(up);
  const line = tradeOff(points).map((point, n) => (n === 0 ? `M${x(point)} ${y(point)}` : `H${x(point)}V${y(point)}`));
  return (
    <div ref={box} class="scatter">
      <svg
        width={width}
        height={height}
        role="group"
        onKeyDown={roving.onKeyDown}
        aria-label="Reward and cost per rollout of the evaluated candidates"
      >
        <g class="axis-text" aria-hidden="true">
          <path class="axis" d={`M${margin.left} ${margin.top}V${height - margin.bottom}H${width - margin.right}`} />
          <text x={margin.left - 6} y={margin.top + 4} text-anchor="end">
            {reward(rewards.high)}
          </text>
          <text x={margin.left - 6} y={height - margin.bottom} text-anchor="end">
            {reward(rewards.low)}
          </text>
          <text x={margin.left} y={height - 24}>
            {costOf(costs.low, unit)}
          </text>
          <text x={width - margin.right} y={height - 24} text-anchor="end">
            {costOf(costs.high, unit)}
          </text>
          <text x={(width + margin.left) / 2} y={height - 6} text-anchor="middle">
            Cost per rollout
          </text>
        </g>
        <path class="edge edge-winner" d={line.join('')} />
        {points.map((point) => (
          <a
            key={point.candidateId}
            {...roving.part(point.candidateId)}
            class="node"
            href={here({ candidate: point.candidateId })}
            aria-label={`Candidate ${numberOf(point.candidateId).slice(1)}, reward ${reward(point.reward)}, ${costOf(point.cost, unit)} per rollout${point.isFront ? ', on the front' : ''}`}
          >
            <circle cx={x(point)} cy={y(point)} r="12" fill="transparent" />
            <circle class={point.isFront ? 'mark-accepted' : 'mark-pending'} cx={x(point)} cy={y(point)} r="5" />
            {point.isFront && (
              <text class="node-name" x={x(point)} y={y(point) - 9} text-anchor="middle">
                {numberOf(point.candidateId)}
              </text>
            )}
          </a>
        ))}
      </svg>
      <ul class="why-legend">
        <li>
          <Key isFront /> on the front
        </li>
        <li>
          <Key isFront={false} /> not on the front
        </li>
      </ul>
    </div>
  );
}

function Key({ isFront }: { isFront: boolean }) {
  return (
    <svg width="12" height="12" aria-hidden="true">
      <circle class={isFront ? 'mark-accepted' : 'mark-pending'} cx="6" cy="6" r="5" />
    </svg>
  );
}

/** The range of some values with a little room; one value is in the middle. */
function rangeOf(values: readonly number[]) {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const room = most > least ? (most - least) * 0.05 : Math.abs(most) * 0.1 || 1;
  return scaleOf([least - room, most + room]);
}

const scaleOf = ([low, high]: [number, number]) => ({
  low,
  high,
  share: (value: number) => (value - low) / (high - low),
});
