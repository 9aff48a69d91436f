import { runDspy, type Auto, type Program } from '../peers/dspy/run.js';
import { dspyVersion } from '../peers/dspy/venv.js';
import { curveOf, type CurveStep } from '../curve/trajectory.js';
import type { Worlds } from '../worlds/client.js';
import { promptOf } from '../worlds/task-texts.js';
import { openTaskWorld, type TaskKind } from '../worlds/tasks.js';
import { taskOf } from './task.js';

/** The name of DSPy's MIPROv2 as an optimizer. */
export function dspyName(auto: Auto): string {
  return `MIPROv2 ${auto} (dspy ${dspyVersion})`;
}

/**
 * Lets the official MIPROv2 search a world that answers at once. It takes rewards alone, so what it does is the same with and
 * without feedback. Throws where what it returns is not the best that it evaluated.
 */
export async function searchDspy(
  python: string,
  worlds: Worlds,
  { kind, world, labels, auto }: { kind: TaskKind; world: number; labels: boolean; auto: Auto },
): Promise<{ calls: number; steps: CurveStep[] }> {
  const run = await worlds.openTask({ kind, world, labels, feedback: false, rolloutMs: 0, proposerMs: 0 });
  const { evaluated, best, calls } = await runDspy(python, worlds.proposerUrl, run, taskOf(world, labels), auto);
  const truth = openTaskWorld(kind, world);
  const trueReward = ({ instruction, demos }: Program) => truth.trueReward(promptOf(instruction, demos));
  const validated = evaluated.map((one) => ({ texts: one, reward: one.score, rollouts: one.calls }));
  const steps = [{ rollouts: 0, trueReward: trueReward(evaluated[0]!) }, ...curveOf<Program>(validated, trueReward)];
  if (steps.at(-1)!.trueReward !== trueReward(best))
    throw new Error(
      `MIPROv2 returns a program of ${trueReward(best)}, its best evaluated one has ${steps.at(-1)!.trueReward}`,
    );
  return { calls, steps };
}
