/** What the archive of a completed graph job is made of, out of the database: neither a worker nor Temporal is asked. */
import { candidateId } from '../../../core/jobs/ids.js';
import { graphFromJson, graphToJson } from '../../../core/graphs/json.js';
import { readGraph } from '../../../storage/candidates/candidates.js';
import type { Db, Tx } from '../../../storage/db/db.js';
import { readEvaluatedRewards } from '../../../storage/candidates/pareto-front.js';
import {
  readGraphs,
  readRunMeans,
  readSpending,
  readTaskIds,
  readTaskParts,
  type Spending,
} from '../../../storage/graphs/download.js';
import type { GraphHead, JobRow } from '../../../storage/jobs/jobs.js';
import { readHeldoutRewards } from '../../../storage/candidates/lineage.js';
import { readCandidates } from '../../../storage/candidates/reads.js';
import { decisionView } from '../../candidates/decision-view.js';
import { candidateView } from '../../candidates/view.js';
import { historyView, outcomeView } from '../../jobs/search-view.js';
import { withModels, type GraphExport, type JsonObject } from './archive.js';

type GraphJob = JobRow<GraphHead>;

/** Candidates that are read at once: so many rows of runs, and so many graphs, which may have 500,000 characters each. */
const atOnce = { runs: 50, graphs: 10 } as const;

/** What a job's download holds; null: no graph of it was evaluated. */
export async function readExport(db: Db, job: GraphJob, version: string): Promise<GraphExport | null> {
  const { jobId, orgId, spec, projection: seen } = job;
  const winner = seen.bestCandidateId;
  if (!winner) return null;
  const models = spec.policies.map(({ model }) => model) as [string, ...string[]];
  const read = await db.org(orgId, async (tx) => ({
    graph: await readGraph(tx, jobId, winner),
    heads: await candidateHeads(tx, job),
    tasks: await taskScores(tx, job, winner),
    spending: await readSpending(tx, jobId),
  }));
  if (!read.graph) return null;
  return {
    ...{ jobId, candidateId: winner, graph: graphFromJson(read.graph), reward: seen.bestReward ?? null, models },
    provider: spec.policy.provider,
    versions: { ratchet: version, algorithm: spec.search.algorithm },
    rngSeed: spec.search.rngSeed,
    results: {
      baseline_candidate_id: candidateId(jobId, 0),
      best_reward: seen.bestReward ?? null,
      stopped_by: job.stoppedBy,
      rollouts: { completed: seen.rolloutsCompleted ?? 0, max: spec.search.maxRollouts },
      ...outcomeView(job),
      history: historyView(job),
      cost: costView(read.spending),
      tasks: read.tasks,
    },
    candidates: () => candidateLines(db, job, read.heads, models[0]),
  };
}

/** What a line has of each candidate beside its graph, by lever version. */
async function candidateHeads(tx: Tx, job: GraphJob): Promise<Map<number, JsonObject>> {
  const { jobId } = job;
  const rows = await readCandidates(tx, jobId);
  const heads = new Map<number, JsonObject>();
  for (let from = 0; from < rows.length; from += atOnce.runs) {
    const some = rows.slice(from, from + atOnce.runs);
    const ids = some.map(({ id }) => id);
    const runs = new Map((await readRunMeans(tx, jobId, ids)).map((one) => [one.id, one]));
    for (const row of some) {
      const own = runs.get(row.id);
      heads.set(row.leverVersion, {
        ...candidateView({ ...row, avgReward: own?.avgReward ?? null }),
        cost_per_task: own ? spendingView(own) : null,
        decision: decisionView(row, job),
      });
    }
  }
  return heads;
}

async function* candidateLines(
  db: Db,
  { jobId, orgId }: GraphJob,
  heads: ReadonlyMap<number, JsonObject>,
  model: string,
): AsyncGenerator<JsonObject> {
  for (let after = -1; ;) {
    const page = await db.org(orgId, (tx) => readGraphs(tx, jobId, { after, limit: atOnce.graphs }));
    for (const { leverVersion, graph } of page)
      yield { ...heads.get(leverVersion), graph: graph && graphToJson(withModels(graphFromJson(graph), model)) };
    const last = page.at(-1);
    if (!last) return;
    after = last.leverVersion;
  }
}

/** What baseline and winner scored, task by task: on those they were chosen by, then on those that were held out. */
async function taskScores(tx: Tx, { jobId, projection }: GraphJob, winner: string): Promise<JsonObject[]> {
  const { evaluation, heldout } = await readTaskParts(tx, jobId);
  const baseline = candidateId(jobId, 0);
  const both = [...new Set([baseline, winner])];
  const taskIds = await readTaskIds(tx, jobId, [...evaluation, ...heldout]);
  const evaluated = await readEvaluatedRewards(tx, jobId, both, { seeds: evaluation, repeats: 1 });
  // One that was broken off is no comparison.
  const compared = projection.verdict?.basis === 'heldout' ? heldout : [];
  const held = await readHeldoutRewards(tx, jobId, both);
  const score = (index: number, part: string, [old, now]: (number | null | undefined)[]) => ({
    ...{ task_id: taskIds.get(index) ?? null, seed: index, part },
    ...{ baseline_reward: old ?? null, winner_reward: now ?? null },
  });
  return [
    ...evaluation.map((index) =>
      score(
        index,
        'evaluation',
        [baseline, winner].map((one) => evaluated.get(one)?.get(index)),
      ),
    ),
    ...compared.map((index) =>
      score(
        index,
        'heldout',
        [baseline, winner].map((one) => held.get(one)?.get(index)),
      ),
    ),
  ];
}

function costView(spending: readonly (Spending & { purpose: string })[]): JsonObject {
  const total = (of: (one: Spending) => number) => spending.reduce((sum, one) => sum + of(one), 0);
  const known = spending.length > 0 && spending.every(({ usd }) => usd !== null);
  return {
    total_usd: known ? total(({ usd }) => usd!) : null,
    calls: total(({ calls }) => calls),
    prompt_tokens: total(({ promptTokens }) => promptTokens),
    completion_tokens: total(({ completionTokens }) => completionTokens),
    by_purpose: Object.fromEntries(spending.map(({ purpose, ...one }) => [purpose, spendingView(one)])),
  };
}

function spendingView({ calls, promptTokens, completionTokens, usd }: Spending): JsonObject {
  return { usd, calls, prompt_tokens: promptTokens, completion_tokens: completionTokens };
}
