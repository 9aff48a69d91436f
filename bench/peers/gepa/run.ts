import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { LookupRun, Run } from '../../worlds/client.js';
import { openLookupWorld } from '../../worlds/lookups.js';
import { openWorld, type Texts } from '../../worlds/world.js';
import type { Evaluated, Outcome, SearchTask } from '../../gepa/search.js';

type Line =
  | { kind: 'start'; at: number }
  | { kind: 'candidate'; at: number; texts: Texts; reward: number; rollouts: number; proposals: number }
  | { kind: 'end'; at: number; texts: Texts; rollouts: number };

/** gepa's report; `rollouts` of a candidate: spent so far, including its own evaluation. */
export interface GepaOutcome extends Outcome {
  candidates: (Evaluated & { texts: Texts; rollouts: number })[];
}

export interface GepaOptions {
  /** gepa's `use_merge`. */
  useMerge?: boolean;
  env?: NodeJS.ProcessEnv;
}

/** Runs the official gepa in `run`'s world, in its own Python; rejects with its errors. */
export async function runGepa(
  python: string,
  proposerUrl: string,
  run: Run,
  task: SearchTask,
  { useMerge = false, env }: GepaOptions = {},
): Promise<GepaOutcome> {
  const { kind = 'rules', world } = run.setup;
  const { components, baseline } = openWorld(kind, world);
  const lines = await optimize(
    python,
    {
      ...jobOf(task),
      container_url: run.containerUrl,
      proposer_url: proposerUrl,
      model: run.model,
      baseline,
      use_merge: useMerge,
    },
    env,
  );
  const [first, last] = [lines[0]!, lines.at(-1)! as Line & { kind: 'end' }];
  // With several components `text` is of the first.
  const textOf = (texts: Texts) => texts[components[0]!]!;
  return {
    startedAt: first.at,
    endedAt: last.at,
    rollouts: last.rollouts,
    winner: textOf(last.texts),
    candidates: lines
      .filter((line) => line.kind === 'candidate')
      .map(({ at, texts, reward, rollouts }) => ({ at, text: textOf(texts), reward, texts, rollouts })),
  };
}

/**
 * Runs it on the single prompt of a world of lookups, with a graph job's models and scores. `calls`
 * of a candidate: of task model and proposer so far.
 */
export async function runGepaOnLookups(
  python: string,
  proposerUrl: string,
  run: LookupRun,
  task: SearchTask,
  env?: NodeJS.ProcessEnv,
): Promise<{ texts: Texts; reward: number; calls: number }[]> {
  const world = openLookupWorld(run.setup.kind, run.setup.world);
  const inputs = [...task.trainSeeds, ...task.evaluationSeeds].map((seed) => [seed, world.input(seed)]);
  const { candidates } = await runGepaOnTask(
    python,
    {
      ...task,
      modelsUrl: proposerUrl,
      taskModel: run.taskModel,
      proposer: run.model,
      scoreUrl: `${run.url}/score`,
      inputs: Object.fromEntries(inputs) as Record<string, string>,
      instruction: world.baseline,
    },
    env,
  );
  return candidates;
}

/** A task of a model alone: gepa calls it, and scores its answers at `scoreUrl`. */
export interface ModelTask extends SearchTask {
  modelsUrl: string;
  taskModel: string;
  proposer: string;
  scoreUrl: string;
  /** By seed. */
  inputs: Record<string, string>;
  instruction: string;
}

/** Runs it on one instruction; `candidates` by their calls of task model and proposer so far. */
export async function runGepaOnTask(
  python: string,
  task: ModelTask,
  env?: NodeJS.ProcessEnv,
): Promise<{ winner: string; candidates: { texts: Texts; reward: number; calls: number }[] }> {
  const job = {
    ...jobOf(task),
    proposer_url: task.modelsUrl,
    model: task.proposer,
    task_model: task.taskModel,
    score_url: task.scoreUrl,
    inputs: task.inputs,
    baseline: { instruction: task.instruction },
    use_merge: false,
  };
  const lines = await optimize(python, job, env);
  const { texts } = lines.at(-1)! as Line & { kind: 'end' };
  const candidates = lines
    .filter((line) => line.kind === 'candidate')
    .map(({ texts, reward, rollouts, proposals }) => ({ texts, reward, calls: rollouts + proposals }));
  return { winner: texts.instruction!, candidates };
}

function jobOf(task: SearchTask) {
  return {
    train_seeds: task.trainSeeds,
    evaluation_seeds: task.evaluationSeeds,
    minibatch_size: task.minibatchSize,
    max_rollouts: task.maxRollouts,
    max_concurrent: task.maxConcurrent,
    rng_seed: task.rngSeed,
  };
}

/** The lines of a run, from start to end. */
async function optimize(python: string, job: object, env?: NodeJS.ProcessEnv): Promise<Line[]> {
  const script = join(import.meta.dirname, 'optimize.py');
  const child = spawn(python, [script], { stdio: ['pipe', 'pipe', 'pipe'], ...(env && { env }) });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  child.stdin.end(JSON.stringify(job));
  const ended = once(child, 'close');
  const lines: Line[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.startsWith('{')) lines.push(JSON.parse(line) as Line);
  }
  await ended;
  const isWhole = lines[0]?.kind === 'start' && lines.at(-1)?.kind === 'end';
  if (!isWhole) throw new Error(`gepa ended early: ${errors.slice(-2_000)}`);
  return lines;
}
