/**
 * Right answers on unseen real strings, after searches with real small models by the sessions and
 * their peers: npm run bench -- real-text
 */
import { join } from 'node:path';
import { startService } from './service.js';
import type { Contestant, Setup } from './real-text/contestants.js';
import { startTextModels, type TextModels } from './real-text/model/client.js';
import type { RealTextOptions } from './real-text/options.js';
import { textTable, type TextResult } from './real-text/table.js';

export const name = 'real-text';

const folder = join(import.meta.dirname, '..', '.ratchet', 'bench-models');

/** The table, and what it was measured with. */
export async function run(options: RealTextOptions): Promise<string> {
  const { model: size, fresh, transcripts } = options;
  const models = await startTextModels({ folder, size, fresh, transcripts });
  try {
    const checked = fresh ? await checkedModels(models, options) : 'with answers of earlier runs';
    const isServiceNeeded = options.contestants.some(({ needsService }) => needsService);
    const service = isServiceNeeded ? await startService(models.modelsUrl) : null;
    try {
      const { results, failures } = await measured({ models, service, budget: options.budget }, options);
      const about = `Qwen2.5-Coder ${size} instruct, 4-bit, as policy and proposer; budget ${options.budget}; ${checked}`;
      return [about, textTable(results), ...failures.map((failure) => `Not measured: ${failure}`)].join('\n\n');
    } finally {
      await service?.stop();
    }
  } finally {
    await models.close();
  }
}

/** Throws if answers of calls in parallel differ from those of calls in turn. */
async function checkedModels(models: TextModels, { tasks }: RealTextOptions): Promise<string> {
  const { differ, of, parallelMs, sequentialMs } = await models.check(tasks[0]!.name);
  if (differ > 0) throw new Error(`${differ} of ${of} answers differ between calls in parallel and in turn.`);
  const ms = (total: number) => `${Math.round(total / of)} ms`;
  return `${of} answers equal in parallel (${ms(parallelMs)} each) and in turn (${ms(sequentialMs)})`;
}

type Common = Pick<Setup, 'models' | 'service' | 'budget'>;

interface Measured {
  results: TextResult[];
  failures: string[];
}

/** A contestant that fails on a split does not stop the others. */
async function measured(common: Common, options: RealTextOptions): Promise<Measured> {
  const results: TextResult[] = [];
  const failures: string[] = [];
  for (const task of options.tasks) {
    for (const contestant of options.contestants) {
      for (let split = 0; split < options.splits; split += 1) {
        const at = `${task.name}, ${contestant.name}, split ${split}`;
        try {
          const result = await measure({ ...common, task, split }, contestant, options.heldout);
          results.push(result);
          const { right, of, usage, seconds } = result;
          const calls = `${usage.policy.calls} and ${usage.proposer.calls} calls`;
          process.stderr.write(`  ${at}: ${right} of ${of}, ${calls}, ${seconds.toFixed(0)} s\n`);
        } catch (error) {
          process.stderr.write(`  ${at}: ${(error as Error).stack}\n`);
          failures.push(`${at}: ${(error as Error).message.split('\n', 1)[0]}`);
        }
      }
    }
  }
  return { results, failures };
}

async function measure(setup: Setup, contestant: Contestant, heldout: number): Promise<TextResult> {
  const { models, task, split } = setup;
  const run = await models.open({ task: task.name, split, heldout, contestant: contestant.name });
  const started = performance.now();
  const winner = await contestant.search(setup, run);
  const seconds = (performance.now() - started) / 1_000;
  const usage = await run.usage();
  const { right, of, promptTokens } = await run.heldout(winner);
  return { task: task.name, contestant: contestant.title, split, right, of, usage, promptTokens, seconds };
}
