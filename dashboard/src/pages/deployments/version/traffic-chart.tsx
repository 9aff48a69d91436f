import type { Answer } from '../../../../../src/client/index.js';
import type { Change } from '../../../data/deployment/types.js';
import { count, fullClock, milliseconds } from '../../../util/format.js';
import { changeWords } from './versions.js';

export type Period = Answer<'getDeploymentHistory'>['data'][number];

const [width, height, markHeight] = [600, 96, 14];

/** Requests by period as bars, errors in the color of a failure, and changes of what is served. */
export function TrafficChart(props: {
  label: string;
  periods: readonly Period[];
  changes: readonly Change[];
  from: number;
  to: number;
  /** Of a period. */
  stepMs: number;
}) {
  const { label, periods, changes, from, to, stepMs } = props;
  const most = Math.max(1, ...periods.map(({ requests }) => requests));
  const x = (at: string) => ((Date.parse(at) - from) / (to - from)) * width;
  const tall = (requests: number) => (requests / most) * (height - markHeight);
  const bar = Math.max(1, (stepMs / (to - from)) * width - 0.5);
  const shown = changes.filter(({ at }) => Date.parse(at) >= from && Date.parse(at) <= to);
  return (
    <svg
      class="traffic-chart"
      role="img"
      aria-label={label}
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
    >
      {periods.map(({ start, requests, errors, latency_ms: latency }) => (
        <g key={start}>
          <title>
            {`${fullClock(start)}: ${count(requests)} requests, ${count(errors)} errors, p95 ${milliseconds(latency.p95)}`}
          </title>
          <rect class="spark-all" x={x(start)} y={height - tall(requests)} width={bar} height={tall(requests)} />
          <rect class="spark-bad" x={x(start)} y={height - tall(errors)} width={bar} height={tall(errors)} />
        </g>
      ))}
      {shown.map((change) => (
        <g key={change.id}>
          <title>{`${fullClock(change.at)}: ${changeWords(change)}`}</title>
          <line class="traffic-mark" x1={x(change.at)} x2={x(change.at)} y1="0" y2={height} />
        </g>
      ))}
    </svg>
  );
}
