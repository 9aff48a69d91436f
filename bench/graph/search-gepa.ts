import { curveOf, type CurveStep } from '../curve/trajectory.js';
import { runGepaOnLookups } from '../peers/gepa/run.js';
import { gepaVersion } from '../peers/gepa/venv.js';
import type { LookupSetup, Worlds } from '../worlds/client.js';
import { openLookupWorld, promptGraph } from '../worlds/lookups.js';
import { splitOf } from './search-ratchet.js';

/** The name of the official gepa as an optimizer. */
export const gepaName = `gepa ${gepaVersion}, one prompt`;

/**
 * Lets the official gepa search the single prompt on the tasks of a job with so many runs, for as many model calls or more.
 * Throws where it and the ledger count differently.
 */
export async function searchGepa(
  python: string,
  worlds: Worlds,
  setup: LookupSetup,
  { rolloutBudget, calls }: { rolloutBudget: number; calls: number },
): Promise<{ calls: number; steps: CurveStep[] }> {
  const run = await worlds.openLookups(setup);
  const { train, evaluation } = splitOf(setup.world, rolloutBudget);
  const candidates = await runGepaOnLookups(python, worlds.proposerUrl, run, {
    ...{ trainSeeds: train, evaluationSeeds: evaluation, minibatchSize: 3, maxRollouts: calls, maxConcurrent: 8 },
    rngSeed: setup.world,
  });
  const world = openLookupWorld(setup.kind, setup.world);
  const rewards = new Map<string, number>();
  for (const { texts } of candidates) {
    const [prompt = ''] = Object.values(texts);
    rewards.set(prompt, await world.trueReward(promptGraph(prompt)));
  }
  const validated = candidates.map(({ texts, reward, calls: spent }) => ({ texts, reward, rollouts: spent }));
  const steps = curveOf(validated, (texts) => rewards.get(Object.values(texts)[0]!)!);
  return { calls: (await run.ledger()).length, steps };
}
