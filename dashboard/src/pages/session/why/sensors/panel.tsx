import { useMemo } from 'preact/hooks';
import type { AlignedData } from 'uplot';
import { count, dollars, milliseconds, reward, unknown } from '../../../../util/format.js';
import { stageWords } from '../../../../util/search-words.js';
import { rewardRange } from '../../../../util/axis.js';
import { Empty, Panel } from '../../../../ui/basics.js';
import { Chart, type ChartOptions } from '../../../../ui/charts/chart.js';
import { fitted, line, rule } from '../../../search/curve-panel.js';
import { numberOf } from '../../../../data/search.js';
import type { Lever, SensorFrame } from '../../../../data/session/types.js';
import { seriesOf, versionsOf } from './series.js';

type Say = (value: number | null | undefined) => string;
type Column = (number | null)[];
interface Small {
  title: string;
  say: Say;
  lines: { name: string; values: Column }[];
  /** Default: the range of the values. */
  range?: (low: number | null, high: number | null) => [number, number];
}

const chartHeight = 150;
/** Lines of one chart differ in color and dash. */
const looks = [
  { color: 'accent', dash: [] },
  { color: 'warn', dash: [5, 3] },
  { color: 'info', dash: [2, 2] },
  { color: 'bad', dash: [8, 3, 2, 3] },
];
/** Of costs that are all 0, an axis of cents. */
const costRange = (_: number | null, high: number | null): [number, number] => [0, (high || 0.01) * 1.05];
const percent: Say = (value) => (value === null || value === undefined ? unknown : `${Math.round(value * 100)} %`);
const rounded: Say = (value) => count(value === null || value === undefined ? value : Math.round(value));

/** How the rollouts went, one point per sensor frame. */
export function SensorsPanel({ frames, levers }: { frames: readonly SensorFrame[]; levers: readonly Lever[] }) {
  const charts = useMemo(() => chartsOf(frames, levers), [frames, levers]);
  return (
    <Panel title="What the search measured">
      <p class="how">
        Each point is one step of the search: the answers of a candidate, from the first step to the last. All charts
        have the same axis, and the pointer marks the same step in each. A drop of success or a jump of latency across
        candidates is the model's or the container's doing, not the prompt's.
      </p>
      {frames.length === 0 ? (
        <Empty>Nothing is measured yet.</Empty>
      ) : (
        <div class="smalls">
          {charts.map((chart) => (
            <SmallChart key={chart.title} chart={chart} frames={frames} />
          ))}
        </div>
      )}
    </Panel>
  );
}

function chartsOf(frames: readonly SensorFrame[], levers: readonly Lever[]): Small[] {
  const series = seriesOf(frames);
  const components = levers.filter(({ component }) => component !== null);
  const shown = components.length > 0 ? components : levers;
  const all: Small[] = [
    {
      title: 'Success rate',
      say: percent,
      range: () => [0, 1],
      lines: [{ name: 'succeeded', values: series.success }],
    },
    { title: 'Mean reward', say: reward, range: rewardRange, lines: [{ name: 'reward', values: series.reward }] },
    {
      title: 'Latency',
      say: milliseconds,
      lines: [
        { name: 'p50', values: series.p50 },
        { name: 'p95', values: series.p95 },
      ],
    },
    { title: 'Answers at a time', say: rounded, lines: [{ name: 'answers', values: series.concurrency }] },
    {
      title: 'Tokens per answer',
      say: rounded,
      lines: [
        { name: 'prompt', values: series.promptTokens },
        { name: 'completion', values: series.completionTokens },
      ],
    },
    { title: 'Cost of the step', say: dollars, range: costRange, lines: [{ name: 'dollars', values: series.cost }] },
    {
      title: 'Versions of the texts',
      say: rounded,
      lines: shown.map((lever) => ({ name: lever.component ?? 'prompt', values: versionsOf(frames, lever.lever_id) })),
    },
  ];
  return all.filter(({ lines }) => lines.some(({ values }) => values.some((value) => value !== null)));
}

function SmallChart({ chart, frames }: { chart: Small; frames: readonly SensorFrame[] }) {
  const { title, say, lines } = chart;
  const latest = useMemo(() => ({ frames }), []);
  latest.frames = frames;
  const options = useMemo(() => optionsOf(chart, latest), [title, lines.map(({ name }) => name).join()]);
  const data = useMemo((): AlignedData => [frames.map((_, n) => n + 1), ...lines.map(({ values }) => values)], [chart]);
  const last = lines.map(({ name, values }) => `${name} ${say(values.at(-1))}`).join(', ');
  return (
    <figure class="small">
      <figcaption>{title}</figcaption>
      <Chart
        label={`${title} of ${frames.length} steps; last: ${last}`}
        options={options}
        data={data}
        height={chartHeight}
      />
    </figure>
  );
}

function optionsOf({ say, lines, range }: Small, latest: { frames: readonly SensorFrame[] }): ChartOptions {
  const frameAt = (index: number | null) => {
    const at = index ?? latest.frames.length - 1;
    const frame = latest.frames[at];
    return frame ? `${at + 1}: ${numberOf(frame.candidate_id)} ${stageWords(frame.stage)}` : unknown;
  };
  return {
    padding: [8, 10, 0, 0],
    scales: { x: { time: false }, ...(range && { y: { range: (_, low, high) => range(low, high) } }) },
    cursor: { y: false, drag: { x: true, y: false }, sync: { key: 'sensors' } },
    axes: [rule({ size: 26 }), rule({ size: fitted, values: (_, ticks) => ticks.map((tick) => say(tick)) })],
    series: [
      { label: 'Step', value: (_plot, _x, _series, index) => frameAt(index) },
      ...lines.map(({ name }, n) => {
        const { color: look, dash } = looks[n % looks.length]!;
        return line(name, look, 1.5, {
          dash,
          value: (plot, _value, series, index) => say(plot.data[series]!.at(index ?? -1)),
        });
      }),
    ],
  };
}
