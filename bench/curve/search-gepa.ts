import { runGepa } from '../peers/gepa/run.js';
import { gepaVersion } from '../peers/gepa/venv.js';
import type { Worlds } from '../worlds/client.js';
import { openWorld } from '../worlds/world.js';
import { searchTask } from './task.js';
import { trajectorySteps, type Search, type Trajectory } from './trajectory.js';

/** gepa's name as an optimizer; merge makes it a different one. */
export function gepaName(useMerge: boolean): string {
  return `gepa ${gepaVersion}${useMerge ? ' with merge' : ''}`;
}

/** Runs gepa in a world without latency. Throws if its rollouts differ from the container's. */
export async function searchGepa(python: string, worlds: Worlds, search: Search): Promise<Trajectory> {
  const { kind, world, shuffledFeedback, maxRollouts, optimizer } = search;
  const run = await worlds.open({ kind, world, rolloutMs: 0, proposerMs: 0, shuffledFeedback });
  const useMerge = optimizer === gepaName(true);
  const outcome = await runGepa(python, worlds.proposerUrl, run, searchTask(world, maxRollouts, kind), { useMerge });
  const served = (await run.ledger()).filter((entry) => entry.kind === 'rollout').length;
  if (served !== outcome.rollouts) throw new Error(`gepa counts ${outcome.rollouts} rollouts, the container ${served}`);
  const truth = openWorld(kind, world, { shuffledFeedback });
  const steps = trajectorySteps(outcome.candidates, (texts) => truth.trueReward(texts));
  return { ...search, rollouts: served, steps };
}
