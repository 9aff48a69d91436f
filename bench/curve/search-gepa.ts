import { runGepa } from '../peers/gepa/run.js';
import { gepaVersion } from '../peers/gepa/venv.js';
import type { Worlds } from '../worlds/client.js';
import { openWorld } from '../worlds/world.js';
import { taskOf } from './task.js';
import { curveOf, type Search, type Trajectory } from './trajectory.js';

/** The name of gepa as an optimizer; with its merge it is another one. */
export function gepaName(useMerge: boolean): string {
  return `gepa ${gepaVersion}${useMerge ? ' with merge' : ''}`;
}

/** Lets the official gepa search a world that answers at once. Throws where it and the container count differently. */
export async function searchGepa(python: string, worlds: Worlds, search: Search): Promise<Trajectory> {
  const { kind, world, shuffledFeedback, maxRollouts, optimizer } = search;
  const run = await worlds.open({ kind, world, rolloutMs: 0, proposerMs: 0, shuffledFeedback });
  const useMerge = optimizer === gepaName(true);
  const outcome = await runGepa(python, worlds.proposerUrl, run, taskOf(world, maxRollouts), { useMerge });
  const served = (await run.ledger()).filter((entry) => entry.kind === 'rollout').length;
  if (served !== outcome.rollouts) throw new Error(`gepa counts ${outcome.rollouts} rollouts, the container ${served}`);
  const truth = openWorld(kind, world, { shuffledFeedback });
  const steps = curveOf(outcome.candidates, (texts) => truth.trueReward(texts));
  return { ...search, rollouts: served, steps };
}
