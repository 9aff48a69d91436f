/** What is compared on a task, each in a run of its own with the same models, rows and feedback. */
import { join } from 'node:path';
import { runDspy, type DspyOptimizer } from '../peers/dspy/run.js';
import { dspyPython, dspyVersion } from '../peers/dspy/venv.js';
import { runGepaOnTask } from '../peers/gepa/run.js';
import { gepaPython, gepaVersion } from '../peers/gepa/venv.js';
import { completed, type Service } from '../service.js';
import { promptMessages, type ChatMessage } from '../worlds/task-texts.js';
import type { TextModels, TextRun } from './model/client.js';
import type { TextTask } from './tasks.js';

export interface Setup {
  models: TextModels;
  /** Null: no contestant needs it. */
  service: Service | null;
  task: TextTask;
  /** Calls of the policy that a search may make. */
  budget: number;
  split: number;
}

export interface Contestant {
  name: string;
  title: string;
  needsService?: true;
  /** The messages before a row that it ends with. */
  search(setup: Setup, run: TextRun): Promise<ChatMessage[]>;
}

const demos = { maxBootstrappedDemos: 4, maxLabeledDemos: 16 } as const;
/** The most generations, so that the budget ends the search. */
const untilBudget = { population_size: 2, generations: 499 } as const;
const shownFailures = 12;
const minibatch = 10;
const venvs = join(import.meta.dirname, '..', '..', '.ratchet', 'bench-venv');

export const contestants: readonly Contestant[] = [
  {
    name: 'base',
    title: 'base prompt',
    search: ({ task }) => Promise.resolve(promptMessages(task.instruction, [])),
  },
  {
    name: 'person',
    title: "a person's prompt",
    search: ({ task }) => Promise.resolve(promptMessages(task.person, [])),
  },
  { name: 'failing', title: `${shownFailures} failing rows as turns`, search: showFailures },
  { name: 'gepa', title: `gepa ${gepaVersion}`, search: searchGepa },
  {
    name: 'dspy-mipro',
    title: `DSPy ${dspyVersion}, MIPROv2`,
    search: (setup, run) => searchDspy(setup, run, { name: 'MIPROv2', options: miproOptions(setup.budget) }),
  },
  {
    name: 'dspy-random',
    title: `DSPy ${dspyVersion}, random search`,
    search: (setup, run) => {
      const options = { num_candidate_programs: randomSets(setup.budget, run.split.evaluationSeeds.length) };
      return searchDspy(setup, run, { name: 'BootstrapFewShotWithRandomSearch', options });
    },
  },
  {
    name: 'ratchet-gepa',
    title: 'Ratchet, gepa',
    needsService: true,
    search: (setup, run) => searchRatchet(setup, run, { algorithm: 'gepa', gepa: { ...seedsOf(run), ...untilBudget } }),
  },
  {
    name: 'ratchet-texts',
    title: 'Ratchet, gepa without demonstrations',
    needsService: true,
    search: (setup, run) => {
      const options = { ...untilBudget, demonstrations: 0 };
      return searchRatchet(setup, run, { algorithm: 'gepa', gepa: { ...seedsOf(run), ...options } });
    },
  },
  {
    name: 'ratchet-mipro',
    title: 'Ratchet, mipro',
    needsService: true,
    search: (setup, run) => {
      const options = { num_candidates: 10 };
      return searchRatchet(setup, run, { algorithm: 'mipro', mipro: { ...seedsOf(run), ...options } });
    },
  },
];

/** The first train rows that the base prompt gets wrong, before the row as turns. */
async function showFailures({ task }: Setup, run: TextRun): Promise<ChatMessage[]> {
  const prompt = promptMessages(task.instruction, []);
  const rewards = await Promise.all(run.split.trainSeeds.map((seed) => run.ask(seed, prompt)));
  const failed = run.split.trainSeeds.filter((_, at) => rewards[at]! < 1).slice(0, shownFailures);
  const shown = failed.map((seed) => run.split.rows[seed]!).map(({ input, expected }) => ({ input, output: expected }));
  return promptMessages(task.instruction, shown);
}

async function searchGepa({ models, task, budget, split }: Setup, run: TextRun): Promise<ChatMessage[]> {
  const { rows, trainSeeds, evaluationSeeds } = run.split;
  const { winner } = await runGepaOnTask(await gepaPython(venvs), {
    trainSeeds,
    evaluationSeeds,
    minibatchSize: 3,
    maxRollouts: budget,
    maxConcurrent: 4,
    rngSeed: split,
    modelsUrl: models.modelsUrl,
    taskModel: run.policy,
    proposer: run.proposer,
    scoreUrl: `${run.url}/score`,
    inputs: Object.fromEntries([...trainSeeds, ...evaluationSeeds].map((seed) => [seed, rows[seed]!.input])),
    instruction: task.instruction,
  });
  return promptMessages(winner, []);
}

/**
 * DSPy's optimizers have no budget. MIPROv2 evaluates the base prompt and, after every third trial
 * of a minibatch, a program on all 40 rows, beside about 40 calls for its demonstrations.
 */
function miproOptions(budget: number) {
  const trials = Math.max(3, Math.floor((budget - 120) / (minibatch + 40 / 3)));
  const compile = { num_trials: trials, minibatch_size: minibatch, minibatch_full_eval_steps: 3 };
  return { auto: null, num_candidates: 6, compile };
}

/** The random search evaluates three sets more, beside about 40 calls for its demonstrations. */
function randomSets(budget: number, rows: number): number {
  return Math.max(1, Math.floor((budget - 40) / rows) - 3);
}

async function searchDspy(
  { models, task, split }: Setup,
  run: TextRun,
  optimizer: DspyOptimizer,
): Promise<ChatMessage[]> {
  const { trainSeeds, evaluationSeeds } = run.split;
  const { best } = await runDspy(
    await dspyPython(venvs),
    {
      trainSeeds,
      evaluationSeeds,
      ...demos,
      rngSeed: split,
      containerUrl: run.url,
      models: { url: models.modelsUrl, task: run.policy, proposer: run.proposer },
      baseline: task.instruction,
      labels: true,
      plain: true,
    },
    optimizer,
  );
  return promptMessages(best.instruction, best.demos);
}

function seedsOf({ split: { trainSeeds, evaluationSeeds } }: TextRun) {
  return { train_seeds: trainSeeds, evaluation: { seeds: evaluationSeeds } };
}

type Seeds = ReturnType<typeof seedsOf>;
type Search =
  | { algorithm: 'gepa'; gepa: Seeds & { population_size: number; generations: number } }
  | { algorithm: 'mipro'; mipro: Seeds & { num_candidates: number } };

async function searchRatchet({ service, budget, split }: Setup, run: TextRun, search: Search): Promise<ChatMessage[]> {
  const session = await service!.client.createSession({
    policy_optimization: {
      ...search,
      container_url: run.containerUrl,
      policy: { provider: 'bench', model: run.policy },
      proposer: { provider: 'bench', model: run.proposer },
      budget: { max_rollouts: budget },
      rng_seed: split,
      // The model reads a long prompt in a minute, and calls wait for each other.
      rollout_timeout: 3_600,
    },
  });
  await completed(session);
  const { best_prompt: best } = await session.results();
  return best!.messages.map(({ role, content }) => ({ role, content }));
}
