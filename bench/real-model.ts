/**
 * Held-out accuracy of a small language model on text, after searches by the sessions, DSPy and
 * gepa with about the same number of its calls: npm run bench -- real-model
 */
import { join } from 'node:path';
import { sampleOf } from '../src/core/math/statistics.js';
import { startService } from './service.js';
import { startTextModel } from './real-model/client.js';
import { baseline, budget, optimizers, type Optimizer, type Setup } from './real-model/optimizers.js';
import type { Line } from './table.js';

export const name = 'real-model';

const folder = join(import.meta.dirname, '..', '.ratchet', 'bench-model');
const splits = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
const aim = 0.6;
/** Student's t for a 95 % interval over ten splits. */
const student = 2.262;

interface Result {
  accuracy: number;
  calls: number;
}

export async function run(): Promise<Line[]> {
  const model = await startTextModel(folder);
  try {
    const service = await startService(model.modelsUrl);
    try {
      const lines: Line[] = [];
      for (const optimizer of [baseline, ...optimizers]) {
        lines.push(lineOf(optimizer, await resultsOf({ model, service }, optimizer)));
      }
      return lines;
    } finally {
      await service.stop();
    }
  } finally {
    await model.close();
  }
}

async function resultsOf(setup: Setup, optimizer: Optimizer): Promise<Result[]> {
  const results: Result[] = [];
  for (const split of splits) {
    const run = await setup.model.open(split);
    const winner = await optimizer.search(setup, run, split);
    const calls = await run.calls();
    const { right, of } = await run.heldout(winner);
    results.push({ accuracy: right / of, calls });
    const shown = (winner.length - 1) / 2;
    process.stderr.write(`  ${optimizer.name}, split ${split}: ${right} of ${of}, ${calls} calls, ${shown} demos\n`);
  }
  return results;
}

function lineOf(optimizer: Optimizer, results: readonly Result[]): Line {
  const { mean, variance } = sampleOf(results.map(({ accuracy }) => accuracy));
  const margin = student * Math.sqrt(variance / results.length);
  const most = Math.max(...results.map(({ calls }) => calls));
  const least = Math.min(...results.map(({ accuracy }) => accuracy));
  const hasAim = optimizer.name === optimizers[0]!.name;
  return {
    what: `gemma-3-270m, five labels, ${splits.length} splits: ${optimizer.name}, at most ${most} calls`,
    measured: `${mean.toFixed(2)} right held out (±${margin.toFixed(2)}; worst ${least.toFixed(2)})`,
    beside: '',
    ratio: '',
    aim: hasAim ? `at least ${aim.toFixed(2)} at ${budget} calls` : '',
    met: hasAim ? (mean >= aim ? 'met' : 'not met') : 'no aim',
  };
}
