/** Counts of the last hour as bars, a bar a minute; the errors stand in the color of a failure. */
interface Bar {
  start: string;
  calls: number;
  errors: Record<string, number>;
}

const minutes = 60;
const height = 28;
const minuteMs = 60_000;

export function Sparkline({ label, bars, at }: { label: string; bars: readonly Bar[]; at: string }) {
  const first = (Math.floor(Date.parse(at) / minuteMs) - minutes + 1) * minuteMs;
  const most = Math.max(1, ...bars.map(({ calls }) => calls));
  return (
    <svg
      class="sparkline"
      role="img"
      aria-label={label}
      viewBox={`0 0 ${minutes * 2} ${height}`}
      preserveAspectRatio="none"
    >
      {bars.map(({ start, calls, errors }) => {
        const x = ((Date.parse(start) - first) / minuteMs) * 2;
        if (x < 0) return null;
        const full = (calls / most) * (height - 1);
        const bad = (errorsIn(errors) / most) * (height - 1);
        return (
          <g key={start}>
            <title>{`${calls} calls, ${errorsIn(errors)} errors`}</title>
            <rect class="spark-all" x={x} y={height - full} width="1.6" height={full} />
            <rect class="spark-bad" x={x} y={height - bad} width="1.6" height={bad} />
          </g>
        );
      })}
    </svg>
  );
}

export const errorsIn = (errors: Record<string, number>): number =>
  Object.values(errors).reduce((sum, count) => sum + count, 0);
