import { failed, type RewardMatrix } from './matrix.js';
import type { Order } from './order.js';

type Rgb = readonly [number, number, number];

/** From blue through gray to yellow, which all kinds of color blindness keep apart. */
const stops: readonly Rgb[] = [
  [38, 84, 164],
  [140, 140, 134],
  [253, 221, 73],
];
/** As dark as the lowest reward, and neither blue nor yellow. */
const failedColor: Rgb = [163, 18, 63];

/** The color of a reward in a range. */
export function colorOf(value: number, low: number, high: number): Rgb {
  if (value === failed) return failedColor;
  const place = ((value - low) / (high - low)) * (stops.length - 1);
  const first = Math.max(0, Math.min(stops.length - 2, Math.floor(place)));
  const share = Math.max(0, Math.min(1, place - first));
  const mix = (n: 0 | 1 | 2) => Math.round(stops[first]![n] + share * (stops[first + 1]![n] - stops[first]![n]));
  return [mix(0), mix(1), mix(2)];
}

const css = (color: Rgb): string => `rgb(${color.join(' ')})`;

const [low, middle, high] = stops.map(css) as [string, string, string];

/** The legend's colors, as CSS. */
export const legend = { low, middle, high, failed: css(failedColor) };

/** One pixel per cell; missing cells are transparent. */
export function pixelsOf(matrix: RewardMatrix, { rows, columns }: Order): Uint8ClampedArray<ArrayBuffer> {
  const pixels = new Uint8ClampedArray(rows.length * columns.length * 4);
  let at = 0;
  for (const row of rows)
    for (const column of columns) {
      const value = matrix.value(row, column);
      if (!Number.isNaN(value)) {
        pixels.set(colorOf(value, matrix.low, matrix.high), at);
        pixels[at + 3] = 255;
      }
      at += 4;
    }
  return pixels;
}
