import type { z } from 'zod';
import type { weighedSchema } from '../../kinds/graph/contract/job.js';
import type { paretoSchema } from '../contract/lineage.js';
import { paretoFront, removeDominated } from '../../core/search/pareto-front.js';
import { costFront, weighedFront } from '../../core/search/cost-front.js';
import type { Tx } from '../../platform/db/db.js';
import { readEvaluatedRewards, readEvaluation, readEvaluationCosts } from '../store/pareto-front.js';
import { readPromptTokens } from '../store/candidates.js';
import { readCandidates, type CandidateRow } from '../store/reads.js';

/** Number of candidates whose outcomes one query reads. */
const atOnce = 50;
const maxHolders = 100;

/** The front over a search's evaluation seeds, from the stored outcomes. */
export async function readPareto(
  tx: Tx,
  jobId: string,
): Promise<Pick<z.output<typeof paretoSchema>, 'seeds' | 'front'>> {
  const [evaluation, evaluated] = await Promise.all([
    readEvaluation(tx, jobId),
    readCandidates(tx, jobId, { status: 'evaluated' }),
  ]);
  const { seeds } = evaluation;
  const ids = new Map(evaluated.map(({ id, leverVersion }) => [leverVersion, id]));
  const means = new Map<number, number>();
  const known = new Map<number, ReadonlyMap<number, number>>();
  for (let from = 0; from < evaluated.length; from += atOnce) {
    const some = evaluated.slice(from, from + atOnce);
    const rewardsOf = await readEvaluatedRewards(
      tx,
      jobId,
      some.map(({ id }) => id),
      evaluation,
    );
    for (const { id, leverVersion, reward } of some) {
      const rewards = rewardsOf.get(id);
      if (!rewards || reward === null) continue;
      known.set(leverVersion, rewards);
      means.set(leverVersion, reward);
    }
  }
  // A seed without a reward of any candidate was never verified.
  const verified = seeds.filter((seed) => [...known.values()].some((rewards) => rewards.has(seed)));
  const front = paretoFront(
    new Map([...known].map(([version, rewards]) => [version, verified.map((seed) => rewards.get(seed) ?? -Infinity)])),
  );
  const holdersOf = new Map(verified.map((seed): [number, string[]] => [seed, []]));
  for (const { candidate, seeds: held } of front.holders)
    for (const index of held) holdersOf.get(verified[index]!)!.push(ids.get(candidate)!);
  const best = new Map(verified.map((seed, index) => [seed, front.best[index]!]));
  return {
    seeds: seeds.map((seed) => ({
      seed,
      best_reward: best.get(seed) ?? null,
      holders: holdersOf.get(seed)?.length ?? 0,
      candidate_ids: holdersOf.get(seed)?.slice(0, maxHolders) ?? [],
    })),
    front: removeDominated(front, (candidate) => means.get(candidate)!).map((holder) => ({
      candidate_id: ids.get(holder.candidate)!,
      reward: means.get(holder.candidate)!,
      seeds_held: holder.seeds.length,
    })),
  };
}

/** The front over reward, cost, time and length of the prompt, the best reward first. */
export async function readWeighed(tx: Tx, jobId: string): Promise<z.output<typeof paretoSchema>['weighed']> {
  const evaluated = await readCandidates(tx, jobId, { status: 'evaluated' });
  const ids = evaluated.map(({ id }) => id);
  const [costs, lengths] = await Promise.all([
    readEvaluationCosts(tx, jobId, ids, await readEvaluation(tx, jobId)),
    readPromptTokens(tx, ids),
  ]);
  const weighed = evaluated.flatMap(({ id, reward }) => {
    const cost = costs.get(id);
    return cost && reward !== null ? [{ id, reward, ...cost, promptTokens: lengths.get(id)! }] : [];
  });
  return weighedFront(weighed).map(({ id, reward, costUsd, tokens, calls, latencyMs, promptTokens }) => ({
    candidate_id: id,
    reward,
    cost_usd: costUsd,
    tokens,
    calls,
    latency_ms: latencyMs,
    prompt_tokens: promptTokens,
  }));
}

/** The front over reward and cost of a graph job, cheapest first. */
export async function readCostFront(
  tx: Tx,
  jobId: string,
  candidates: readonly CandidateRow[],
): Promise<z.output<typeof weighedSchema>[]> {
  const evaluated = candidates.filter(({ status }) => status === 'evaluated');
  const ids = evaluated.map(({ id }) => id);
  const costs = await readEvaluationCosts(tx, jobId, ids, await readEvaluation(tx, jobId));
  const weighed = evaluated.flatMap(({ id, reward }) => {
    const cost = costs.get(id);
    return cost && reward !== null ? [{ id, reward, ...cost }] : [];
  });
  return costFront(weighed).map(({ id, reward, costUsd, tokens, calls }) => ({
    candidate_id: id,
    reward,
    cost_usd: costUsd,
    tokens,
    calls,
  }));
}
