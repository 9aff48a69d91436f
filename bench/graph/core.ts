/**
 * Graph searches in process, beside the search for prompts alone, for tuning:
 * node --import ./scripts/ts-loader.mjs bench/graph/core.ts [--worlds 1-20 …]
 */
import { parseArgs } from 'node:util';
import { ablationsOf } from '../../src/core/graphs/edits/ablation.js';
import { kindsIn, worldsIn } from '../curve/arguments.js';
import { mean } from '../stats.js';
import { devSeeds } from '../worlds/freeze.js';
import { lookupKinds, openLookupWorld } from '../worlds/lookups.js';
import { searchGraphs, type CoreGraphResult, type CoreGraphSearch } from './search-core.js';

const { values } = parseArgs({
  options: {
    kinds: { type: 'string', default: lookupKinds.join(',') },
    worlds: { type: 'string', default: `${devSeeds[0]}-${devSeeds.at(-1)}` },
    efforts: { type: 'string', default: 'medium' },
    budgets: { type: 'string', default: '200,400,800' },
  },
});
const worlds = worldsIn(values.worlds);

process.stdout.write(
  '| search | mean (worst two) | rollouts | edits, rewrites | calls | steps | with idle steps |\n| - | - | - | - | - | - | - |\n',
);
for (const kind of kindsIn(values.kinds, lookupKinds)) {
  for (const effort of values.efforts.split(',') as CoreGraphSearch['effort'][]) {
    for (const rolloutBudget of values.budgets.split(',').map(Number)) {
      for (const editsStructure of [true, false]) {
        const results: CoreGraphResult[] = [];
        let idle = 0;
        for (const world of worlds) {
          const result = await searchGraphs({ kind, world, rolloutBudget, effort, editsStructure });
          results.push(result);
          if (await hasIdleStep(result, openLookupWorld(kind, world).trueReward)) idle += 1;
        }
        const name = `${kind}, ${rolloutBudget}, ${editsStructure ? `graph, ${effort}` : 'prompt'}`;
        process.stdout.write(`| ${[name, ...cellsOf(results), `${idle} of ${worlds.length}`].join(' | ')} |\n`);
      }
    }
  }
}

function cellsOf(results: readonly CoreGraphResult[]): string[] {
  const average = (value: (result: CoreGraphResult) => number) => mean(results.map(value));
  const [worst = NaN, second = NaN] = results.map(({ trueReward }) => trueReward).sort((left, right) => left - right);
  return [
    `${average(({ trueReward }) => trueReward).toFixed(3)} (${worst.toFixed(2)}, ${second.toFixed(2)})`,
    average(({ spent }) => spent).toFixed(0),
    `${average(({ proposals }) => proposals.edit.asked).toFixed(1)}, ${average(({ proposals }) => proposals.rewrite.asked).toFixed(1)}`,
    average(({ calls }) => calls.task + calls.proposer).toFixed(0),
    average(({ graph }) => graph.steps.length).toFixed(1),
  ];
}

/** Whether a step of the winner can be removed without a loss. */
async function hasIdleStep(
  { graph, trueReward }: CoreGraphResult,
  rewardOf: (graph: CoreGraphResult['graph']) => Promise<number>,
): Promise<boolean> {
  for (const ablation of ablationsOf(graph, { models: ['m'], maxAttempts: 72 }))
    if ((await rewardOf(ablation.graph)) >= trueReward) return true;
  return false;
}
