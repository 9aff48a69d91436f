/** The optimizers that are compared, each on a run of its own. */
import { join } from 'node:path';
import { completed, type Service } from '../service.js';
import { runDspy, type DspyOptimizer } from '../peers/dspy/run.js';
import { dspyPython, dspyVersion } from '../peers/dspy/venv.js';
import { runGepaOnTask } from '../peers/gepa/run.js';
import { gepaPython, gepaVersion } from '../peers/gepa/venv.js';
import { promptMessages, type ChatMessage } from '../worlds/task-texts.js';
import type { TextModel, TextRun } from './client.js';
import { instruction, splitOf, type Split } from './task.js';

/** Calls of the task model that each optimizer may make. */
export const budget = 260;
const demos = { maxBootstrappedDemos: 4, maxLabeledDemos: 16 } as const;
const settings = {
  mipro: {
    num_candidates: 10,
    max_bootstrapped_demos: demos.maxBootstrappedDemos,
    max_labeled_demos: demos.maxLabeledDemos,
  },
  // The maximum, so that the budget ends the search.
  gepa: { population_size: 1, generations: 499 },
} as const;
const venvs = join(import.meta.dirname, '..', '..', '.ratchet', 'bench-venv');

export interface Setup {
  model: TextModel;
  service: Service;
}

export interface Optimizer {
  name: string;
  /** The messages before an input that the optimizer ends with. */
  search(setup: Setup, run: TextRun, split: number): Promise<ChatMessage[]>;
}

const ratchet = (algorithm: 'mipro' | 'gepa'): Optimizer => ({
  name: `Ratchet, ${algorithm}`,
  search: async ({ service }, run, split) => searchRatchet(service, run, split, algorithm),
});

const dspy = (optimizer: DspyOptimizer, label = ''): Optimizer => ({
  name: `DSPy ${dspyVersion}, ${optimizer.name}${label}`,
  search: async ({ model }, run, split) => {
    const { trainSeeds, evaluationSeeds } = await splitOf(split);
    const task = {
      trainSeeds,
      evaluationSeeds,
      ...demos,
      rngSeed: split,
      containerUrl: run.url,
      models: { url: model.modelsUrl, task: run.taskModel, proposer: run.proposer },
      baseline: instruction,
      labels: true,
      plain: true,
    };
    const { best } = await runDspy(await dspyPython(venvs), task, optimizer);
    return promptMessages(best.instruction, best.demos);
  },
});

const gepa: Optimizer = {
  name: `gepa ${gepaVersion}`,
  search: async ({ model }, run, split) => searchGepa(model, run, split),
};

export const baseline: Optimizer = {
  name: 'the instruction alone',
  search: () => Promise.resolve(promptMessages(instruction, [])),
};

/**
 * Options of DSPy's optimizers so that they make about as many calls: MIPROv2 has no budget, and
 * its smallest preset, `light`, takes more.
 */
export const optimizers: readonly Optimizer[] = [
  ratchet('mipro'),
  dspy({ name: 'BootstrapFewShot', options: {} }),
  dspy({ name: 'BootstrapFewShotWithRandomSearch', options: { num_candidate_programs: 3 } }),
  dspy({
    name: 'MIPROv2',
    options: {
      auto: null,
      num_candidates: 5,
      compile: { num_trials: 6, minibatch_size: 10, minibatch_full_eval_steps: 3 },
    },
  }),
  dspy({ name: 'MIPROv2', options: { auto: 'light' } }, ' light'),
  ratchet('gepa'),
  gepa,
];

async function searchRatchet(
  { client }: Service,
  run: TextRun,
  split: number,
  algorithm: 'mipro' | 'gepa',
): Promise<ChatMessage[]> {
  const { trainSeeds, evaluationSeeds }: Split = await splitOf(split);
  const seeds = { train_seeds: trainSeeds, evaluation: { seeds: evaluationSeeds } };
  const search =
    algorithm === 'gepa'
      ? { algorithm, gepa: { ...seeds, ...settings.gepa } }
      : { algorithm, mipro: { ...seeds, ...settings.mipro } };
  const session = await client.createSession({
    policy_optimization: {
      ...search,
      container_url: run.containerUrl,
      policy: { provider: 'bench', model: run.taskModel },
      proposer: { provider: 'bench', model: run.proposer },
      budget: { max_rollouts: budget },
      rng_seed: split,
    },
  });
  await completed(session);
  const { best_prompt: best } = await session.results();
  return best!.messages.map(({ role, content }) => ({ role, content }));
}

async function searchGepa(model: TextModel, run: TextRun, split: number): Promise<ChatMessage[]> {
  const { trainSeeds, evaluationSeeds, messages } = await splitOf(split);
  const candidates = await runGepaOnTask(await gepaPython(venvs), {
    trainSeeds,
    evaluationSeeds,
    minibatchSize: 3,
    maxRollouts: budget,
    maxConcurrent: 1,
    rngSeed: split,
    modelsUrl: model.modelsUrl,
    taskModel: run.taskModel,
    proposer: run.proposer,
    scoreUrl: `${run.url}/score`,
    inputs: Object.fromEntries(messages.map(({ text }, seed) => [seed, text])),
    instruction,
  });
  return promptMessages(candidates.winner, []);
}
