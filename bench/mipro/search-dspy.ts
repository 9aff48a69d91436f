import { runDspy, type Program } from '../peers/dspy/run.js';
import { dspyVersion } from '../peers/dspy/venv.js';
import { trajectorySteps, type CurveStep } from '../curve/trajectory.js';
import type { Worlds } from '../worlds/client.js';
import { promptMessages } from '../worlds/task-texts.js';
import { openTaskWorld, type TaskKind } from '../worlds/tasks.js';
import { searchTask } from './task.js';

/** MIPROv2's settings by name. */
export type Auto = 'light' | 'heavy';

/** DSPy's MIPROv2 as an optimizer. */
export function dspyName(auto: Auto): string {
  return `MIPROv2 ${auto} (dspy ${dspyVersion})`;
}

/**
 * Runs the official MIPROv2 in a world without latency; it uses rewards alone, without feedback.
 * Throws if it does not return its best evaluated program.
 */
export async function searchDspy(
  python: string,
  worlds: Worlds,
  { kind, world, labels, auto }: { kind: TaskKind; world: number; labels: boolean; auto: Auto },
): Promise<{ calls: number; steps: CurveStep[] }> {
  const run = await worlds.openTask({ kind, world, labels, feedback: false, rolloutMs: 0, proposerMs: 0 });
  const truth = openTaskWorld(kind, world);
  const task = {
    ...searchTask(world, labels),
    containerUrl: run.containerUrl,
    models: { url: worlds.proposerUrl, task: run.taskModel, proposer: run.model },
    baseline: truth.baseline,
    labels,
    plain: false,
  };
  const { evaluated, best, calls } = await runDspy(python, task, { name: 'MIPROv2', options: { auto } });
  const trueReward = ({ instruction, demos }: Program) => truth.trueReward(promptMessages(instruction, demos));
  const validated = evaluated.map((program) => ({ texts: program, reward: program.score, rollouts: program.calls }));
  const steps = [
    { rollouts: 0, trueReward: trueReward(evaluated[0]!) },
    ...trajectorySteps<Program>(validated, trueReward),
  ];
  if (steps.at(-1)!.trueReward !== trueReward(best))
    throw new Error(
      `MIPROv2 returned a program with true reward ${trueReward(best)}, but its best evaluated program has ${steps.at(-1)!.trueReward}`,
    );
  return { calls, steps };
}
