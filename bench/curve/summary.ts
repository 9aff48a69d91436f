/** Statistics over trajectories: means, spreads and confidence intervals. Pure. */
import { studentT95 } from '../../src/core/math/statistics.js';
import { mean } from '../stats.js';
import { rewardAt, type Trajectory } from './trajectory.js';

/** A mean with its 95 % interval. */
export interface Estimate {
  mean: number;
  low: number;
  high: number;
  /** Number of values. */
  count: number;
}

type AnyTrajectory = Trajectory<string>;

/** Where to read a trajectory: after a number of rollouts, or as many as another search took. */
export type Column = number | { name: string; at: (trajectory: AnyTrajectory) => number };

function rewardIn(column: Column, trajectory: AnyTrajectory): number {
  return rewardAt(trajectory.steps, typeof column === 'number' ? column : column.at(trajectory));
}

/** The sample standard deviation. Throws on fewer than two values. */
export function sd(values: readonly number[]): number {
  if (values.length < 2) throw new RangeError(`a standard deviation needs two values, not ${values.length}`);
  const middle = mean(values);
  return Math.sqrt(values.reduce((sum, value) => sum + (value - middle) ** 2, 0) / (values.length - 1));
}

/**
 * Mean and 95 % t interval; of paired differences, the paired one. Throws on fewer than two values.
 */
export function estimate(values: readonly number[]): Estimate {
  const middle = mean(values);
  const freedom = values.length - 1;
  const half = (studentT95(freedom) * sd(values)) / Math.sqrt(values.length);
  return { mean: middle, low: middle - half, high: middle + half, count: values.length };
}

/** The difference of `of` and `over` after `budget` rollouts, over at least two common worlds. */
export function difference(of: readonly AnyTrajectory[], over: readonly AnyTrajectory[], budget: Column): Estimate {
  const peers = new Map(over.map((trajectory) => [worldOf(trajectory), trajectory]));
  return estimate(
    of.flatMap((own) => {
      const peer = peers.get(worldOf(own));
      return peer ? [rewardIn(budget, own) - rewardIn(budget, peer)] : [];
    }),
  );
}

/**
 * Markdown tables by kind and optimizer: mean and sd after each of `budgets`, and differences to
 * the first optimizer in `trajectories`.
 */
export function summaryTables(trajectories: readonly AnyTrajectory[], budgets: readonly Column[]): string {
  const heads = budgets.map((budget) => (typeof budget === 'number' ? String(budget) : budget.name));
  const kinds = groupBy(trajectories, ({ kind, shuffledFeedback }) => `${kind}${shuffledFeedback ? ', shuffled' : ''}`);
  const means: string[][] = [];
  const differences: string[][] = [];
  for (const [kind, ofKind] of kinds) {
    const [first, ...rest] = [...groupBy(ofKind, ({ optimizer }) => optimizer)];
    for (const [optimizer, own] of [first!, ...rest]) {
      const cells = budgets.map((budget) => meanAndSd(own.map((trajectory) => rewardIn(budget, trajectory))));
      means.push([kind, optimizer, String(own.length), ...cells]);
    }
    for (const [optimizer, own] of rest) {
      const cells = budgets.map((budget) => interval(own, first![1], budget));
      differences.push([kind, `${optimizer} over ${first![0]}`, ...cells]);
    }
  }
  const tables = [table(['true reward: mean (sd)', 'optimizer', 'worlds', ...heads], means)];
  if (differences.length > 0) tables.push(table(['difference: mean (95 %)', 'optimizer', ...heads], differences));
  return tables.join('\n\n');
}

function worldOf({ kind, world, shuffledFeedback, worlds }: AnyTrajectory): string {
  return JSON.stringify([kind, world, shuffledFeedback, worlds]);
}

function interval(own: readonly AnyTrajectory[], first: readonly AnyTrajectory[], budget: Column): string {
  const worlds = new Set(first.map(worldOf));
  const shared = own.filter((trajectory) => worlds.has(worldOf(trajectory)));
  if (shared.length < 2) return 'too few';
  const { mean: middle, low, high } = difference(shared, first, budget);
  return `${middle.toFixed(3)} (${low.toFixed(3)} to ${high.toFixed(3)})`;
}

function meanAndSd(values: readonly number[]): string {
  return values.length < 2 ? mean(values).toFixed(3) : `${mean(values).toFixed(3)} (${sd(values).toFixed(3)})`;
}

function groupBy<T>(items: readonly T[], key: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) groups.set(key(item), [...(groups.get(key(item)) ?? []), item]);
  return groups;
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}
