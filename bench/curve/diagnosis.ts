/** What means hide: the worst worlds, and how searches in process spend their rollouts. Pure. */
import type { Stage } from '../../src/core/search/protocol.js';
import { accuracyOf } from '../estimates.js';
import { mean } from '../stats.js';
import { table } from './summary.js';
import { rewardAt, type CoreStep, type CurveStep, type Trajectory } from './trajectory.js';

const stages: Stage[] = ['baseline', 'minibatch', 'gate', 'evaluation'];

/**
 * Markdown tables by kind and optimizer: the two worst worlds of each budget with the largest
 * distance to `ceilingOf`, and for searches in process their spending and their estimates.
 */
export function diagnosisTables(
  trajectories: readonly Trajectory[],
  budgets: readonly number[],
  ceilingOf: (trajectory: Trajectory) => number | null,
): string {
  const groups = new Map<string, Trajectory[]>();
  for (const trajectory of trajectories.filter(({ shuffledFeedback }) => !shuffledFeedback)) {
    const key = `${trajectory.kind} | ${trajectory.optimizer}`;
    groups.set(key, [...(groups.get(key) ?? []), trajectory]);
  }
  const worst = [...groups].map(([key, own]) => [key, ...budgets.map((budget) => worstOf(own, budget, ceilingOf))]);
  const spent = [...groups].flatMap(([key, own]) =>
    budgets.flatMap((budget) => {
      const steps = own.flatMap(({ steps: all }) => all.filter((step) => step.rollouts === budget)).filter(isCoreStep);
      return steps.length === 0 ? [] : [[key, String(budget), ...spending(steps)]];
    }),
  );
  const tables = [table(['worst two (most below its ceiling)', 'optimizer', ...budgets.map(String)], worst)];
  if (spent.length > 0) tables.push(table(spendingHead, spent));
  return tables.join('\n\n');
}

function worstOf(
  own: readonly Trajectory[],
  budget: number,
  ceilingOf: (trajectory: Trajectory) => number | null,
): string {
  const rewards = own.map((trajectory) => rewardAt(trajectory.steps, budget));
  const gaps = own.flatMap((trajectory, at) => {
    const ceiling = ceilingOf(trajectory);
    return ceiling === null ? [] : [ceiling - rewards[at]!];
  });
  const [first, second] = [...rewards].sort((left, right) => left - right);
  const gap = gaps.length > 0 ? ` (${Math.max(...gaps).toFixed(2)})` : '';
  return `${first!.toFixed(2)} ${(second ?? first!).toFixed(2)}${gap}`;
}

const spendingHead = [
  'spending and estimates',
  'optimizer',
  'budget',
  'spent',
  stages.join(' / '),
  'proposals',
  'proposer calls',
  'parent not the best',
  'estimate - truth',
  'covered (worst world)',
  'width',
];

function spending(steps: readonly CoreStep[]): string[] {
  const average = (of: (step: CoreStep) => number, digits = 0) => mean(steps.map(of)).toFixed(digits);
  const worlds = steps.flatMap(({ estimates }) => (estimates.length > 0 ? [accuracyOf(estimates)] : []));
  const covered = worlds.map((world) => world.covered);
  return [
    average(({ spent }) => spent),
    stages.map((stage) => average((step) => step.stages[stage] ?? 0)).join(' / '),
    average(({ proposals }) => proposals),
    average(({ proposerCalls }) => proposerCalls),
    `${(100 * mean(steps.map(({ strayParents, proposals }) => strayParents / Math.max(1, proposals)))).toFixed(0)} %`,
    mean(worlds.map(({ bias }) => bias)).toFixed(3),
    `${mean(covered).toFixed(2)} (${Math.min(...covered).toFixed(2)})`,
    mean(worlds.map(({ width }) => width)).toFixed(2),
  ];
}

function isCoreStep(step: CurveStep | CoreStep): step is CoreStep {
  return 'stages' in step;
}
