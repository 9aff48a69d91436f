/** A line through samples: its slope, and the standard error of it. */
export interface Slope {
  perHour: number;
  error: number;
}

/** Neighbouring samples are alike, so that means of blocks stand for them. */
const blocks = 12;

/** Least squares through the means of blocks of samples `[minutes, value]`; null: too few. */
export function slopeOf(samples: readonly (readonly [minutes: number, value: number])[]): Slope | null {
  const points = blockMeans(samples);
  const count = points.length;
  if (count < 3) return null;
  const hours = mean(points.map(([at]) => at));
  const middle = mean(points.map(([, value]) => value));
  const spread = sum(points.map(([at]) => (at - hours) ** 2));
  if (spread === 0) return null;
  const perHour = sum(points.map(([at, value]) => (at - hours) * (value - middle))) / spread;
  const rest = sum(points.map(([at, value]) => (value - middle - perHour * (at - hours)) ** 2));
  return { perHour, error: Math.sqrt(rest / (count - 2) / spread) };
}

function blockMeans(samples: readonly (readonly [number, number])[]): [hours: number, value: number][] {
  const size = Math.max(1, Math.ceil(samples.length / blocks));
  return Array.from({ length: Math.ceil(samples.length / size) }, (_, n) => {
    const block = samples.slice(n * size, (n + 1) * size);
    return [mean(block.map(([minutes]) => minutes)) / 60, mean(block.map(([, value]) => value))];
  });
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
const mean = (values: readonly number[]) => sum(values) / values.length;
