import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { MiproTask } from '../../mipro/task.js';
import type { Demonstration } from '../../worlds/task-texts.js';

/** A program: an instruction, and demonstrations before the input. */
export interface Program {
  instruction: string;
  demos: Demonstration[];
}

/** A program evaluated on all evaluation seeds; `calls` of the task model so far. */
interface EvaluatedProgram extends Program {
  score: number;
  calls: number;
}

/** The report; `evaluated` by MIPROv2 in order, starting with the initial program. */
export interface DspyOutcome {
  evaluated: EvaluatedProgram[];
  best: Program;
  calls: number;
}

type Line = ({ kind: 'evaluated' } & EvaluatedProgram) | ({ kind: 'end'; calls: number } & Program);

/** An optimizer of DSPy with options of its constructor; those of `compile` apart. */
export interface DspyOptimizer {
  name: 'MIPROv2' | 'BootstrapFewShot' | 'BootstrapFewShotWithRandomSearch';
  options: Record<string, unknown>;
}

/** A task for DSPy; `plain`: the task model gets messages without ChatAdapter's frame. */
export interface DspyTask extends MiproTask {
  containerUrl: string;
  models: { url: string; task: string; proposer: string };
  baseline: string;
  labels: boolean;
  plain: boolean;
}

/** Runs an official optimizer in its own Python; rejects with its errors. */
export async function runDspy(python: string, task: DspyTask, optimizer: DspyOptimizer): Promise<DspyOutcome> {
  const child = spawn(python, [join(import.meta.dirname, 'optimize.py')], { stdio: ['pipe', 'pipe', 'pipe'] });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  child.stdin.end(
    JSON.stringify({
      container_url: task.containerUrl,
      models_url: task.models.url,
      task_model: task.models.task,
      proposer: task.models.proposer,
      baseline: task.baseline,
      train_seeds: task.trainSeeds,
      evaluation_seeds: task.evaluationSeeds,
      optimizer,
      labels: task.labels,
      plain: task.plain,
      max_bootstrapped_demos: task.maxBootstrappedDemos,
      max_labeled_demos: task.maxLabeledDemos,
      rng_seed: task.rngSeed,
    }),
  );
  const ended = once(child, 'close');
  const lines: Line[] = [];
  for await (const line of createInterface({ input: child.stdout })) lines.push(JSON.parse(line) as Line);
  await ended;
  const last = lines.at(-1);
  if (last?.kind !== 'end') throw new Error(`dspy ended early: ${errors.slice(-2_000)}`);
  const evaluated = lines.filter((line) => line.kind === 'evaluated');
  return { evaluated, best: { instruction: last.instruction, demos: last.demos }, calls: last.calls };
}
