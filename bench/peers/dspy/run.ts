import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { MiproTask } from '../../mipro/task.js';
import type { TaskRun } from '../../worlds/client.js';
import type { Demonstration } from '../../worlds/task-texts.js';
import { openTaskWorld } from '../../worlds/tasks.js';

export type Auto = 'light' | 'heavy';

/** MIPROv2's program: an instruction, and demonstrations before the input. */
export interface Program {
  instruction: string;
  demos: Demonstration[];
}

/** A program evaluated on all evaluation seeds; `calls` of the task model so far. */
interface EvaluatedProgram extends Program {
  score: number;
  calls: number;
}

/** MIPROv2's report; `evaluated` in order, starting with the initial program. */
export interface DspyOutcome {
  evaluated: EvaluatedProgram[];
  best: Program;
  calls: number;
}

type Line = ({ kind: 'evaluated' } & EvaluatedProgram) | ({ kind: 'end'; calls: number } & Program);

/** Runs the official MIPROv2 in `run`'s world, in its own Python; rejects with its errors. */
export async function runDspy(
  python: string,
  modelsUrl: string,
  run: TaskRun,
  task: MiproTask,
  auto: Auto,
): Promise<DspyOutcome> {
  const { kind, world, labels } = run.setup;
  const child = spawn(python, [join(import.meta.dirname, 'optimize.py')], { stdio: ['pipe', 'pipe', 'pipe'] });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  child.stdin.end(
    JSON.stringify({
      container_url: run.containerUrl,
      models_url: modelsUrl,
      task_model: run.taskModel,
      proposer: run.model,
      baseline: openTaskWorld(kind, world).baseline,
      train_seeds: task.trainSeeds,
      evaluation_seeds: task.evaluationSeeds,
      auto,
      labels,
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
