import type { z } from 'zod';
import type { candidateDetailSchema } from '../../contracts/candidates/lineage.js';
import { RewardModel } from '../../core/search/reward-model.js';
import { addResults } from '../../core/search/results.js';
import { mean } from '../../core/math/rewards.js';
import type { Tx } from '../../storage/db/db.js';
import { readLastOutcomes, readOutcomes, type Ancestor } from '../../storage/candidates/lineage.js';
import { countedReward, type Tried } from './decision-view.js';

type TrialView = z.output<typeof candidateDetailSchema>['minibatch'];

/**
 * The seeds that a candidate was tried on, each beside what was last measured there before: of its parent, or of whichever
 * ancestor the search's own beliefs take it from. `line` holds the ancestors, the candidate last.
 */
export async function readTrialView(
  tx: Tx,
  jobId: string,
  line: readonly Ancestor[],
  { generation, tried }: { generation: number; tried: readonly Tried[] },
): Promise<TrialView> {
  const self = line.at(-1);
  if (!self || tried.length === 0) return [];
  const ancestors = line.slice(0, -1);
  const [before, shown] = await Promise.all([
    readLastOutcomes(
      tx,
      jobId,
      ancestors.map(({ id }) => id),
      {
        seeds: tried.flatMap(({ seed }) => seed ?? []),
        upTo: Math.max(...tried.flatMap(({ rollouts }) => rollouts.map(({ ordinal }) => ordinal))),
        generation,
      },
    ),
    readOutcomes(tx, jobId, self.reflection?.ordinals ?? []),
  ]);
  const versions = new Map(line.map(({ id, leverVersion }) => [id, leverVersion]));
  const measured = before.map((one) => {
    const { candidateId, seed, ordinal } = one;
    return { candidate: versions.get(candidateId)!, seed: seed!, ordinal, reward: countedReward(one)! };
  });
  const parents = new Map(
    line.map(({ leverVersion, parentIds }) => [leverVersion, parentIds.flatMap((id) => versions.get(id) ?? [])]),
  );
  const beliefs = new RewardModel(addResults({}, measured), (candidate) => parents.get(candidate) ?? []);
  const byOrdinal = new Map(before.map((one) => [one.ordinal, one]));
  const taught = new Set(shown.map(({ seed }) => seed));
  return tried.map(({ seed, rollouts }) => {
    const expected = seed === null ? null : beliefs.prior(self.leverVersion, seed);
    const source = byOrdinal.get(expected?.ordinal ?? -1) ?? null;
    const rewards = rollouts.map(countedReward);
    const known = rewards.filter((reward) => reward !== null);
    return {
      seed,
      // Of a merge all seeds are some that its parts were shown.
      role: seed === null ? 'live' : taught.size === 0 || taught.has(seed) ? 'shown' : 'guard',
      parent_reward: countedReward(source),
      parent_candidate_id: source?.candidateId ?? null,
      parent_rollout_id: source?.rolloutId ?? null,
      candidate_reward: mean(known),
      candidate_rollouts: rollouts.map(({ rolloutId }, index) => ({ rollout_id: rolloutId, reward: rewards[index]! })),
    };
  });
}
