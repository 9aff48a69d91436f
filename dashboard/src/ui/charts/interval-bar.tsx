import { signed } from '../../../../src/core/math/words.js';
import { reward } from '../../util/format.js';

type Tone = 'good' | 'bad' | 'quiet';

export const toneOf = ({ low, high }: { low: number; high: number }): Tone =>
  low > 0 ? 'good' : high < 0 ? 'bad' : 'quiet';

/** An interval beside zero: whether it is above, below or on both sides. */
export function IntervalBar(props: { label: string; value: number; low: number; high: number }) {
  const { label, value, low, high } = props;
  const reach = Math.max(Math.abs(low), Math.abs(high), Math.abs(value), 1e-9) * 1.5;
  const at = (x: number) => `${50 + (50 * x) / reach}%`;
  const tone = toneOf({ low, high });
  return (
    <div
      class={`interval ${tone}`}
      role="img"
      aria-label={`${label}: ${signed(value)}, 95 % interval ${signed(low)} to ${signed(high)}`}
    >
      <svg width="100%" height="48" aria-hidden="true">
        <line class="interval-zero" x1="50%" x2="50%" y1="15" y2="34" />
        <line class="interval-range" x1={at(low)} x2={at(high)} y1="25" y2="25" />
        <circle cx={at(value)} cy="25" r="5" />
        <text class="interval-text" x="50%" y="11" text-anchor="middle">
          0
        </text>
        <text class="interval-text" x={at(low)} y="46" text-anchor="end">
          {signed(low)}
        </text>
        <text class="interval-text" x={at(high)} y="46" text-anchor="start">
          {signed(high)}
        </text>
      </svg>
    </div>
  );
}

const [width, height, edge] = [160, 22, 6];

/** An interval on an axis from -`reach` to `reach`, as those above and below it have. */
export function AxisBar(props: {
  gain: { value: number; low: number; high: number };
  reach: number;
  label: string;
  tone: Tone;
}) {
  const { gain, reach, label, tone } = props;
  const at = (x: number) => width / 2 + (Math.max(-1, Math.min(1, x / reach)) * (width - 2 * edge)) / 2;
  return (
    <svg class={`gain-bar interval ${tone}`} width={width} height={height} role="img" aria-label={label}>
      <line class="interval-zero" x1={width / 2} x2={width / 2} y1="2" y2={height - 2} />
      <line class="interval-range" x1={at(gain.low)} x2={at(gain.high)} y1={height / 2} y2={height / 2} />
      <circle cx={at(gain.value)} cy={height / 2} r="4" />
    </svg>
  );
}

/** The 95 % interval of a mean reward for rows that were not run. */
export function UnseenRows({ interval }: { interval: { low: number; high: number } | null | undefined }) {
  if (!interval) return null;
  return (
    <span class="stat-more" title="95 % interval of the mean reward on unseen rows of the same kind">
      {reward(interval.low)} to {reward(interval.high)}
    </span>
  );
}
