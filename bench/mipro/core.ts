/**
 * The sessions' MIPRO search in process on worlds for tuning:
 * node scripts/tool.mjs bench/mipro/core.ts [--worlds 1-20] [--budget 570] [--candidates 10]
 */
import { parseArgs } from 'node:util';
import { mean } from '../../src/core/math/rewards.js';
import { kindsIn, worldsIn } from '../curve/arguments.js';
import { accuracyOf } from '../estimates.js';
import { taskKinds } from '../worlds/tasks.js';
import { searchCore, type CoreResult } from './search-core.js';

const { values } = parseArgs({
  options: {
    kinds: { type: 'string', default: taskKinds.join(',') },
    worlds: { type: 'string', default: '1-20' },
    feedback: { type: 'string', default: 'yes,no' },
    labels: { type: 'boolean', default: false },
    budgets: { type: 'string', default: '570' },
    candidates: { type: 'string', default: '10' },
    trials: { type: 'string' },
    most: { type: 'string' },
  },
});
for (const kind of kindsIn(values.kinds, taskKinds)) {
  for (const feedback of values.feedback.split(',').map((flag) => flag === 'yes')) {
    for (const maxRollouts of values.budgets.split(',').map(Number)) {
      const results: CoreResult[] = [];
      for (const world of worldsIn(values.worlds)) {
        const numCandidates = Number(values.candidates);
        const setup = { kind, world, feedback, labels: values.labels, maxRollouts, numCandidates };
        results.push(
          searchCore({
            ...setup,
            ...(values.trials && { numTrials: Number(values.trials) }),
            ...(values.most && { most: Number(values.most) }),
          }),
        );
      }
      const name = `${kind}, ${feedback ? 'feedback' : 'rewards only'}, ${maxRollouts}`;
      process.stdout.write(`${name.padEnd(36)} ${lineOf(results)}\n`);
    }
  }
}

function lineOf(results: readonly CoreResult[]): string {
  const meanOf = (read: (result: CoreResult) => number) => mean(results.map(read))!;
  const worst = results.map(({ trueReward }) => trueReward).sort((left, right) => left - right);
  const stages = (['baseline', 'minibatch', 'gate', 'evaluation'] as const).map(
    (stage) => `${stage} ${meanOf((result) => result.stages[stage] ?? 0).toFixed(0)}`,
  );
  const { bias, covered } = accuracyOf(results.flatMap((result) => result.estimates));
  return [
    `true ${meanOf((result) => result.trueReward).toFixed(3)}`,
    `worst ${worst
      .slice(0, 2)
      .map((reward) => reward.toFixed(2))
      .join(' ')}`,
    `unseen ${meanOf((result) => result.unseen).toFixed(3)}`,
    `gap ${meanOf((result) => result.gap).toFixed(3)}`,
    `rollouts ${meanOf((result) => result.rollouts).toFixed(0)} (${stages.join(', ')})`,
    `estimates ${bias.toFixed(3)}, ${covered.toFixed(2)} covered`,
    `proposer ${meanOf((result) => result.proposerCalls).toFixed(0)}`,
    `generations ${meanOf((result) => result.generations).toFixed(0)}`,
  ].join(' | ');
}
