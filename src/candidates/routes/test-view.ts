import type { z } from 'zod';
import type { candidateDetailSchema } from '../contract/lineage.js';
import { mean } from '../../core/math/rewards.js';
import type { TestedSeed } from '../../core/search/protocol.js';
import type { Tx } from '../../platform/db/db.js';
import { readLiveCalls, readOutcomes, readTestedSeeds, type Outcome } from '../store/lineage.js';
import type { CandidateRow } from '../store/reads.js';

type TestView = z.output<typeof candidateDetailSchema>['minibatch'];

/** The recorded test of a candidate. `shown`: the seeds shown to its reflection. */
export async function readTestView(
  tx: Tx,
  jobId: string,
  { id, generation }: CandidateRow,
  shown: ReadonlySet<number | null>,
): Promise<TestView> {
  const tested = await readTestedSeeds(tx, jobId, id);
  if (!tested) return (await readLiveCalls(tx, jobId, id, generation)).map(liveView);
  const ordinals = tested.flatMap(([, ancestor, ...rollouts]) =>
    ancestor === null ? rollouts : [ancestor, ...rollouts],
  );
  const outcomes = await readOutcomes(tx, jobId, ordinals);
  return tested.map((seed) => seedView(seed, outcomes, shown));
}

function seedView(
  [seed, ancestor, ...ordinals]: TestedSeed,
  outcomes: ReadonlyMap<number, Outcome>,
  shown: ReadonlySet<number | null>,
): TestView[number] {
  const compared = ancestor === null ? undefined : outcomes.get(ancestor);
  return {
    seed,
    role: shown.size === 0 || shown.has(seed) ? 'shown' : 'guard',
    parent_reward: compared?.reward ?? null,
    parent_candidate_id: compared?.candidateId ?? null,
    parent_rollout_id: compared?.rolloutId ?? null,
    ...candidateSide(ordinals.flatMap((ordinal) => outcomes.get(ordinal) ?? [])),
  };
}

function liveView(call: Outcome): TestView[number] {
  const parent = { parent_reward: null, parent_candidate_id: null, parent_rollout_id: null };
  return { seed: call.seed, role: 'live', ...parent, ...candidateSide([call]) };
}

function candidateSide(own: readonly Outcome[]) {
  return {
    candidate_reward: mean(own.flatMap(({ reward }) => reward ?? [])),
    candidate_rollouts: own.map(({ rolloutId, reward }) => ({ rollout_id: rolloutId, reward })),
  };
}
