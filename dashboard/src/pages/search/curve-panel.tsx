import { useMemo } from 'preact/hooks';
import uPlot from 'uplot';
import { labelWidth, rewardRange } from '../../util/axis.js';
import { decimal, reward, unknown } from '../../util/format.js';
import { route, setQuery } from '../../util/router.js';
import { Empty, Panel } from '../../ui/basics.js';
import { Chart, color, legendHeight, type ChartOptions } from '../../ui/charts/chart.js';
import { Choice } from '../../ui/choice.js';
import { columnsOf, marksOf, type Axis, type Curve, type Levels } from './curve.js';
import { Marks } from './curve-marks.js';
import type { Results } from '../../data/search.js';

const axes: Record<Axis, string> = { rollouts: 'Answers', dollars: 'Dollars', minutes: 'Minutes' };

/** The estimated reward, the evaluations behind it, and where the baseline stands. */
export function CurvePanel(props: {
  curve: Curve;
  /** Grows with it: the curve stays the same object. */
  points: number;
  results: Results | undefined;
  isOver: boolean;
}) {
  const { curve, results, isOver } = props;
  const { rollouts, minutes } = axes;
  const options: Partial<Record<Axis, string>> = curve.hasCost ? axes : { rollouts, minutes };
  const given = route.value.query.get('x') as Axis | null;
  const axis = given !== null && Object.hasOwn(options, given) ? given : 'rollouts';
  const choice = (
    <Choice
      label="Horizontal axis"
      value={axis}
      options={options}
      onChange={(x) => setQuery({ x: x === 'rollouts' ? null : x })}
    />
  );
  if (isOver && curve.estimates.length === 0) return null;
  return (
    <Panel title="Reward" aside={choice}>
      {curve.estimates.length === 0 ? (
        <div class="chart-frame" style={{ minHeight: `${height + legendHeight}px` }}>
          <Empty>The curve begins when the baseline is evaluated.</Empty>
        </div>
      ) : (
        <CurveChart curve={curve} axis={axis} levels={levelsOf(curve, results)} />
      )}
    </Panel>
  );
}

function levelsOf(curve: Curve, results: Results | undefined): Levels {
  const heldout = results?.comparison?.basis === 'heldout' ? results.comparison : null;
  return {
    baseline: curve.baseline,
    heldout: heldout && { baseline: heldout.baseline_reward, winner: heldout.winner_reward },
  };
}

const height = 220;

function CurveChart({ curve, axis, levels }: { curve: Curve; axis: Axis; levels: Levels }) {
  const { points } = curve;
  const key = JSON.stringify([axis, levels]);
  const columns = useMemo(() => columnsOf(curve, axis, levels), [curve, points, key]);
  const marks = useMemo(() => marksOf(curve, axis), [curve, points, axis]);
  const hasHeldout = levels.heldout !== null;
  const options = useMemo(() => optionsOf(axis, hasHeldout), [axis, hasHeldout]);
  const last = curve.estimates.at(-1)!;
  const label = `Estimated reward ${reward(last.estimate)}, best reward ${reward(last.best)}, by ${axis}`;
  return (
    <Chart
      label={label}
      options={options}
      data={columns}
      height={height}
      overlay={(plot, drawn) => <Marks key={axis} plot={plot} marks={marks} drawn={drawn} />}
    />
  );
}

/** The series are those of `columnsOf`, in its order. */
function optionsOf(axis: Axis, hasHeldout: boolean): ChartOptions {
  const heldout = [
    line('Baseline, held-out rows', 'warn', 1, { dash: [2, 3] }),
    line('Winner, held-out rows', 'good', 1.5, { dash: [2, 3] }),
  ];
  return {
    padding: [10, 14, 0, 0],
    scales: { x: { time: false, range: fromZero }, y: { range: (_, low, high) => rewardRange(low, high) } },
    cursor: { y: false, drag: { x: true, y: false } },
    axes: [rule({ label: axes[axis], labelSize: 22, labelFont: font }), rule({ size: fitted })],
    series: [
      { label: axes[axis], value: xOf },
      line('95 % for unseen rows', 'accent', 0.5, { value: intervalOf }),
      line('high', 'accent', 0.5, { class: 'legend-hidden' }),
      line('Estimated', 'accent', 2.5),
      line('Best', 'quiet', 1, { paths: uPlot.paths.stepped!({ align: 1 }) }),
      line('Evaluated', 'info', 1, { paths: () => null }),
      line('Baseline', 'quiet', 1, { dash: [6, 4] }),
      ...(hasHeldout ? heldout : []),
    ],
    bands: [{ series: [2, 1], fill: () => color('accent').replace('rgb(', 'rgba(').replace(')', ', 0.16)') }],
  };
}

const font = '12px system-ui, sans-serif';
export const fitted: uPlot.Axis.Size = (_, labels) => labelWidth(labels);
/** A search begins at 0 on every axis. */
const fromZero: uPlot.Scale.Range = (_, low, high) => [Math.min(0, low), Math.max(high, low + 1e-9)];

export function line(label: string, name: string, width: number, more: uPlot.Series = {}): uPlot.Series {
  const value = (plot: uPlot, _: number, series: number, index: number | null) => reward(latest(plot, series, index));
  return { label, stroke: () => color(name), width, value, spanGaps: true, points: { show: false }, ...more };
}

export function rule(more: uPlot.Axis): uPlot.Axis {
  const grid = { stroke: () => color('line'), width: 1 };
  return { stroke: () => color('quiet'), grid, ticks: grid, font, ...more };
}

/** The value of a series at an index, or the last one before it; null: at the end. */
function latest(plot: uPlot, series: number, index: number | null): number | null {
  const column = plot.data[series]!;
  for (let n = index ?? column.length - 1; n >= 0; n -= 1) {
    const value = column[n];
    if (value !== null && value !== undefined) return value;
  }
  return null;
}

const xOf = (plot: uPlot, _x: number, series: number, index: number | null): string => {
  const x = latest(plot, series, index);
  return x === null ? unknown : decimal(x);
};

const intervalOf = (plot: uPlot, _low: number, series: number, index: number | null): string => {
  const [low, high] = [latest(plot, series, index), latest(plot, series + 1, index)];
  return low === high ? unknown : `${reward(low)} to ${reward(high)}`;
};
