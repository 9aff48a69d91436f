import { useMemo } from 'preact/hooks';
import uPlot from 'uplot';
import { count, dollars, reward } from '../../util/format.js';
import { labelWidth, rewardRange } from '../../util/axis.js';
import { here } from '../../util/router.js';
import { Panel, Problem } from '../../ui/basics.js';
import { Chart, color, type ChartOptions } from '../../ui/charts/chart.js';
import { CandidateFront } from '../search/candidate-front.js';
import { pointsOf, priceOf, type Efficient, type Price } from './cost-front.js';
import type { GraphJob, Pareto } from '../../data/graph/types.js';

const names: Record<Price, string> = { cost_usd: 'Dollars', tokens: 'Tokens', calls: 'Calls' };

/** The candidates that no other beats in both reward and cost. */
export function CostPanel({ job, pareto, error }: { job: GraphJob; pareto: Pareto | undefined; error: unknown }) {
  const front = pareto?.cost_front ?? [];
  if (front.length === 0 && !error) return null;
  return (
    <Panel title="Reward and cost" aside={<span class="quiet">per run of the graph on a task</span>}>
      <Problem error={error} />
      <div class={front.length > 1 ? 'graph-front' : ''}>
        {front.length > 1 && <FrontChart front={front} />}
        <CandidateFront
          label="Front of reward and cost"
          candidates={front}
          bestId={job.best_candidate?.candidate_id ?? null}
          columns={columns}
        />
      </div>
    </Panel>
  );
}

function FrontChart({ front }: { front: Efficient[] }) {
  const price = priceOf(front);
  const key = JSON.stringify(front);
  const { points, columns } = useMemo(() => pointsOf(front, price), [key, price]);
  const shown = useMemo(() => ({ points }), []);
  shown.points = points;
  const options = useMemo(() => optionsOf(price, (index) => shown.points[index]?.candidate_id), [price]);
  return <Chart label={`Reward by ${names[price].toLowerCase()}`} options={options} data={columns} height={230} />;
}

function optionsOf(price: Price, candidateAt: (index: number) => string | undefined): ChartOptions {
  const say = price === 'cost_usd' ? dollars : (value: number | null) => (value === null ? '–' : count(value));
  const grid = { stroke: () => color('line'), width: 1 };
  const axis = { stroke: () => color('quiet'), grid, ticks: grid, font: '12px system-ui, sans-serif' };
  return {
    padding: [10, 24, 0, 0],
    scales: {
      x: { time: false, range: (_, low, high) => [Math.max(0, low - (high - low) * 0.1), high * 1.05 || 1] },
      y: { range: (_, low, high) => rewardRange(low, high) },
    },
    cursor: { y: false, drag: { x: false, y: false } },
    axes: [
      { ...axis, label: names[price], labelSize: 22, labelFont: axis.font, values: (_, ticks) => ticks.map(say) },
      { ...axis, size: (_, labels) => labelWidth(labels) },
    ],
    series: [
      { label: names[price], value: (_, value) => say(value) },
      {
        label: 'Reward',
        stroke: () => color('accent'),
        width: 1.5,
        paths: uPlot.paths.stepped!({ align: 1 }),
        points: { show: true, size: 9, fill: () => color('accent') },
        value: (_, value) => reward(value),
      },
    ],
    hooks: {
      ready: [
        (plot) =>
          plot.over.addEventListener('click', () => {
            const candidate = candidateAt(plot.cursor.idx ?? -1);
            if (candidate !== undefined) location.hash = here({ candidate });
          }),
      ],
    },
  };
}

const columns = {
  Reward: (each: Efficient) => reward(each.reward),
  Cost: (each: Efficient) => dollars(each.cost_usd),
  Tokens: (each: Efficient) => count(each.tokens && Math.round(each.tokens)),
  Calls: (each: Efficient) => count(each.calls),
};
