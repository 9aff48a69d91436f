import { useRef } from 'preact/hooks';
import { labelWidth } from '../../util/axis.js';
import { nextInList, useRoving } from '../hooks/use-roving.js';
import { useWidth } from '../hooks/use-width.js';

const height = 300;
/** Pixels between equal points, and at most beside their place. */
const [apart, mostApart] = [11, 22];
const edges = { right: 24, top: 14, bottom: 40 };

/** A point with a price across and a worth up. */
export interface ScatterPoint {
  id: string;
  cost: number;
  worth: number;
  isFront: boolean;
  href: string;
  /** What a screen reader says of it. */
  label: string;
  /** Beside a point on the front. */
  name: string;
}

/** Worth over cost, the cheapest first; each point is a link. `line`: the points that it joins. */
export function Scatter(props: {
  label: string;
  points: readonly ScatterPoint[];
  line: readonly ScatterPoint[];
  /** The range of the axis of worth. */
  range: [number, number];
  axis: string;
  worthText: (worth: number) => string;
  costText: (cost: number) => string;
}) {
  const { label, points, line, range, axis, worthText, costText } = props;
  const box = useRef<HTMLDivElement>(null);
  const ids = points.map(({ id }) => id);
  const roving = useRoving(ids, nextInList(ids));
  const width = Math.max(240, useWidth(box));
  const costs = rangeOf(points.map(({ cost }) => cost));
  const worths = scaleOf(range);
  const margin = { ...edges, left: labelWidth([worthText(worths.low), worthText(worths.high)]) };
  const aside = apartOf(points);
  const x = (point: ScatterPoint) =>
    margin.left + (width - margin.left - margin.right) * costs.share(point.cost) + aside(point);
  const y = ({ worth }: ScatterPoint) =>
    height - margin.bottom - (height - margin.top - margin.bottom) * worths.share(worth);
  const path = line.map((point, n) => (n === 0 ? `M${x(point)} ${y(point)}` : `H${x(point)}V${y(point)}`));
  return (
    <div ref={box} class="scatter">
      <svg width={width} height={height} role="group" onKeyDown={roving.onKeyDown} aria-label={label}>
        <g class="axis-text" aria-hidden="true">
          <path class="axis" d={`M${margin.left} ${margin.top}V${height - margin.bottom}H${width - margin.right}`} />
          <text x={margin.left - 6} y={margin.top + 4} text-anchor="end">
            {worthText(worths.high)}
          </text>
          <text x={margin.left - 6} y={height - margin.bottom} text-anchor="end">
            {worthText(worths.low)}
          </text>
          <text x={margin.left} y={height - 24}>
            {costText(costs.low)}
          </text>
          <text x={width - margin.right} y={height - 24} text-anchor="end">
            {costText(costs.high)}
          </text>
          <text x={(width + margin.left) / 2} y={height - 6} text-anchor="middle">
            {axis}
          </text>
        </g>
        <path class="edge edge-winner" d={path.join('')} />
        {points.map((point) => (
          <a key={point.id} {...roving.part(point.id)} class="node" href={point.href} aria-label={point.label}>
            <circle cx={x(point)} cy={y(point)} r="12" fill="transparent" />
            <circle class={point.isFront ? 'mark-accepted' : 'mark-pending'} cx={x(point)} cy={y(point)} r="5" />
            {point.isFront && (
              <text class="node-name" x={x(point)} y={y(point) - 9} text-anchor="middle">
                {point.name}
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

/** Equal points stand in a row around their place: the pixels of each beside it. */
function apartOf(points: readonly ScatterPoint[]): (point: ScatterPoint) => number {
  const places = Map.groupBy(points, ({ cost, worth }) => `${cost} ${worth}`);
  return (point) => {
    const equal = places.get(`${point.cost} ${point.worth}`)!;
    return Math.max(-mostApart, Math.min(mostApart, (equal.indexOf(point) - (equal.length - 1) / 2) * apart));
  };
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

/** Of points from cheap to dear, those better than every cheaper one. */
export function frontOf<Point extends { cost: number; worth: number }>(points: readonly Point[]): Point[] {
  let best = -Infinity;
  return points.filter(({ worth }) => worth > best && ((best = worth), true));
}
