import type { Ratchet } from '../../src/client/index.js';
import { searchSession } from '../gepa/ratchet.js';
import type { Worlds } from '../worlds/client.js';
import { openWorld } from '../worlds/world.js';
import { searchTask } from './task.js';
import type { CurveStep, Search, Trajectory } from './trajectory.js';

export const ratchetName = 'ratchet';

/**
 * Runs sessions of the service in a world without latency, one per budget, since behaviour depends
 * on it. Throws if a session's rollouts differ from the container's.
 */
export async function searchRatchet(
  ratchet: Ratchet,
  worlds: Worlds,
  search: Search,
  budgets: readonly number[],
): Promise<Trajectory> {
  const { kind, world, shuffledFeedback, maxRollouts } = search;
  const truth = openWorld(kind, world, { shuffledFeedback });
  const steps: CurveStep[] = [{ rollouts: 0, trueReward: truth.trueReward(truth.baseline) }];
  let rollouts = 0;
  for (const budget of budgets.filter((count) => count <= maxRollouts)) {
    const run = await worlds.open({ kind, world, rolloutMs: 0, proposerMs: 0, shuffledFeedback });
    const outcome = await searchSession(ratchet, run, searchTask(world, budget, kind));
    const served = (await run.ledger()).filter((entry) => entry.kind === 'rollout').length;
    if (served !== outcome.rollouts || served > budget)
      throw new Error(`of ${budget} rollouts ratchet counts ${outcome.rollouts}, the container ${served}`);
    rollouts += served;
    const texts = truth.components.length > 1 ? outcome.winnerTexts! : { [truth.components[0]!]: outcome.winner };
    steps.push({ rollouts: budget, trueReward: truth.trueReward(texts) });
  }
  return { ...search, rollouts, steps };
}
