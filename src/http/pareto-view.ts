import type { z } from 'zod';
import type { paretoSchema } from '../contracts/lineage.js';
import { addToFront, countSeeds, emptyFront, toBits, type Front } from '../core/front.js';
import { removeDominated } from '../core/gepa/select.js';
import type { Tx } from '../storage/db.js';
import { readEvaluatedRewards, readEvaluation } from '../storage/front.js';
import { readCandidates } from '../storage/reads.js';

/** Candidates whose outcomes are read at once. */
const atOnce = 50;
const mostHolders = 100;

/** The front over a session's evaluation seeds, from the stored outcomes of the candidates that are evaluated. */
export async function readPareto(tx: Tx, jobId: string): Promise<z.output<typeof paretoSchema>> {
  const [evaluation, evaluated] = await Promise.all([
    readEvaluation(tx, jobId),
    readCandidates(tx, jobId, { status: 'evaluated' }),
  ]);
  const { seeds } = evaluation;
  const ids = new Map(evaluated.map(({ id, leverVersion }) => [leverVersion, id]));
  const means = new Map<number, number>();
  let front: Front = emptyFront;
  for (let from = 0; from < evaluated.length; from += atOnce) {
    const some = evaluated.slice(from, from + atOnce);
    const rewardsOf = await readEvaluatedRewards(
      tx,
      jobId,
      some.map(({ id }) => id),
      evaluation,
    );
    for (const { id, leverVersion, reward } of some) {
      const known = seeds.flatMap((seed) => rewardsOf.get(id)?.get(seed) ?? []);
      if (known.length < seeds.length || reward === null) continue;
      front = addToFront(front, leverVersion, known);
      means.set(leverVersion, reward);
    }
  }
  const holders = front.holders.map(({ candidate, seeds: held }) => ({ id: ids.get(candidate)!, bits: toBits(held) }));
  return {
    session_id: jobId,
    job_id: jobId,
    seeds: seeds.map((seed, place) => {
      const holding = holders.filter(({ bits }) => ((bits >> BigInt(place)) & 1n) === 1n).map(({ id }) => id);
      return {
        seed,
        best_reward: front.best[place] ?? null,
        holders: holding.length,
        candidate_ids: holding.slice(0, mostHolders),
      };
    }),
    front: removeDominated(front, (candidate) => means.get(candidate)!).map((holder) => ({
      candidate_id: ids.get(holder.candidate)!,
      reward: means.get(holder.candidate)!,
      seeds_held: countSeeds(holder),
    })),
  };
}
