import { trajectorySteps, type CurveStep } from '../curve/trajectory.js';
import { runGepaOnLookups } from '../peers/gepa/run.js';
import { gepaVersion } from '../peers/gepa/venv.js';
import type { LookupSetup, Worlds } from '../worlds/client.js';
import { openLookupWorld, promptGraph } from '../worlds/lookups.js';
import { taskSplit } from './search-ratchet.js';

/** The official gepa's name as an optimizer. */
export const gepaName = `gepa ${gepaVersion}, one prompt`;

/**
 * Runs the official gepa on a job's single prompt, for at least as many model calls. Throws if its
 * count differs from the ledger's.
 */
export async function searchGepa(
  python: string,
  worlds: Worlds,
  setup: LookupSetup,
  { rolloutBudget, calls }: { rolloutBudget: number; calls: number },
): Promise<{ calls: number; steps: CurveStep[] }> {
  const run = await worlds.openLookups(setup);
  const { train, evaluation } = taskSplit(setup.world, rolloutBudget);
  const candidates = await runGepaOnLookups(python, worlds.proposerUrl, run, {
    trainSeeds: train,
    evaluationSeeds: evaluation,
    minibatchSize: 3,
    maxRollouts: calls,
    maxConcurrent: 8,
    rngSeed: setup.world,
  });
  const world = openLookupWorld(setup.kind, setup.world);
  const rewards = new Map<string, number>();
  for (const { texts } of candidates) {
    const [prompt = ''] = Object.values(texts);
    rewards.set(prompt, await world.trueReward(promptGraph(prompt)));
  }
  const validated = candidates.map(({ texts, reward, calls: spent }) => ({ texts, reward, rollouts: spent }));
  const steps = trajectorySteps(validated, (texts) => rewards.get(Object.values(texts)[0]!)!);
  return { calls: (await run.ledger()).length, steps };
}
