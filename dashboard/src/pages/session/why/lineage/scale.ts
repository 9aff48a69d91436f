import type { Candidate } from '../../../../data/search.js';
import type { Lineage } from './layout.js';

/** Pixels of a lineage. */
export interface Scale {
  width: number;
  height: number;
  x(column: number): number;
  y(row: number): number;
  /** The radius of a candidate. */
  size(candidate: Candidate): number;
}

const margin = 34;
const rowHeight = 24;
const leastStep = 19;
const [minSize, maxSize] = [3.5, 8.5];

/** The reward on the evaluation rows: measured, else estimated when it was accepted. */
const knownReward = ({ reward, decision }: Candidate): number | null => reward ?? decision.estimated_reward;

/** Columns share the width, and keep a least distance. */
export function scaleOf(lineage: Lineage, candidates: readonly Candidate[], width: number): Scale {
  const steps = Math.max(1, lineage.columns.length - 1);
  const step = Math.max(leastStep, Math.min(110, (width - 2 * margin) / steps));
  const rewards = candidates.map(knownReward).filter((value) => value !== null);
  const [low, high] = [Math.min(...rewards), Math.max(...rewards)];
  return {
    width: Math.max(width, 2 * margin + (lineage.columns.length - 1) * step),
    height: Math.max(4, lineage.rows) * rowHeight + 30,
    x: (column) => margin + column * step,
    y: (row) => 16 + (row + Math.max(0, 4 - lineage.rows) / 2) * rowHeight,
    size(candidate) {
      const value = knownReward(candidate);
      if (value === null || high === low) return value === null ? minSize : (minSize + maxSize) / 2;
      return minSize + ((maxSize - minSize) * (value - low)) / (high - low);
    },
  };
}

/** The curves of some edges as one path. */
export function edgePath(lineage: Lineage, scale: Scale, isShown: (edge: [string, string]) => boolean): string {
  return lineage.edges
    .filter(isShown)
    .map(([parent, child]) => {
      const [from, to] = [lineage.placed.get(parent)!, lineage.placed.get(child)!];
      const [x1, y1, x2, y2] = [scale.x(from.column), scale.y(from.row), scale.x(to.column), scale.y(to.row)];
      const middle = (x1 + x2) / 2;
      return `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`;
    })
    .join('');
}
