/** Reads the content of a completed graph job's archive from the database alone. */
import { candidateId } from '../../../../core/jobs/ids.js';
import { graphFromJson, graphToJson } from '../../../../core/graphs/json.js';
import { readGraph } from '../../../../candidates/store/candidates.js';
import type { Db, Tx } from '../../../../platform/db/db.js';
import { readEvaluatedRewards } from '../../../../candidates/store/pareto-front.js';
import {
  readGraphs,
  readRunMeans,
  readSpending,
  readTaskIds,
  readTaskParts,
  type Spending,
} from '../../store/download.js';
import type { GraphHead, JobRow } from '../../../../jobs/store/jobs.js';
import { readHeldoutRewards } from '../../../../candidates/store/lineage.js';
import { readCandidates } from '../../../../candidates/store/reads.js';
import { decisionView } from '../../../../candidates/routes/decision-view.js';
import { candidateView } from '../../../../candidates/routes/view.js';
import { bestView, historyView, outcomeView } from '../../../../candidates/routes/search-view.js';
import { sumOf } from '../../../../util/sums.js';
import { withModels, type GraphExport, type JsonObject } from './archive.js';

type GraphJob = JobRow<GraphHead>;

/** Candidates per query: rows of run means, and graphs of up to 500,000 characters each. */
const batchSizes = { runs: 50, graphs: 10 } as const;

/** A job's export; null: it has no evaluated graph. */
export async function readExport(db: Db, job: GraphJob, version: string): Promise<GraphExport | null> {
  const { jobId, orgId, spec, projection } = job;
  const winner = projection.bestCandidateId;
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
    jobId,
    candidateId: winner,
    graph: graphFromJson(read.graph),
    reward: projection.bestReward ?? null,
    models,
    provider: spec.policy.provider,
    versions: { ratchet: version, algorithm: spec.search.algorithm },
    rngSeed: spec.search.rngSeed,
    results: {
      baseline_candidate_id: candidateId(jobId, 0),
      ...bestView(job),
      stopped_by: job.stoppedBy,
      rollouts: { completed: job.rolloutsCompleted, max: spec.search.maxRollouts },
      ...outcomeView(job),
      history: historyView(job),
      cost: costView(read.spending),
      tasks: read.tasks,
    },
    candidates: () => candidateLines(db, job, read.heads, models[0]),
  };
}

/** A line of each candidate without its graph, by lever version. */
async function candidateHeads(tx: Tx, job: GraphJob): Promise<Map<number, JsonObject>> {
  const { jobId } = job;
  const rows = await readCandidates(tx, jobId);
  const heads = new Map<number, JsonObject>();
  for (let from = 0; from < rows.length; from += batchSizes.runs) {
    const batch = rows.slice(from, from + batchSizes.runs);
    const ids = batch.map(({ id }) => id);
    const runs = new Map((await readRunMeans(tx, jobId, ids)).map((means) => [means.id, means]));
    for (const row of batch) {
      const means = runs.get(row.id);
      heads.set(row.leverVersion, {
        ...candidateView({ ...row, avgReward: means?.avgReward ?? null }),
        cost_per_task: means ? spendingView(means) : null,
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
    const page = await db.org(orgId, (tx) => readGraphs(tx, jobId, { after, limit: batchSizes.graphs }));
    for (const { leverVersion, graph } of page)
      yield { ...heads.get(leverVersion), graph: graph && graphToJson(withModels(graphFromJson(graph), model)) };
    const last = page.at(-1);
    if (!last) return;
    after = last.leverVersion;
  }
}

/** Scores of baseline and winner by task: evaluation tasks, then held-out tasks. */
async function taskScores(tx: Tx, { jobId, projection }: GraphJob, winner: string): Promise<JsonObject[]> {
  const { evaluation, heldout } = await readTaskParts(tx, jobId);
  const baseline = candidateId(jobId, 0);
  const both = [...new Set([baseline, winner])];
  const taskIds = await readTaskIds(tx, jobId, [...evaluation, ...heldout]);
  const evaluated = await readEvaluatedRewards(tx, jobId, both, { seeds: evaluation, repeats: 1 });
  // An aborted held-out run is no comparison.
  const compared = projection.verdict?.basis === 'heldout' ? heldout : [];
  const held = await readHeldoutRewards(tx, jobId, both);
  const score = (index: number, part: string, [old, now]: (number | null | undefined)[]) => ({
    task_id: taskIds.get(index) ?? null,
    seed: index,
    part,
    baseline_reward: old ?? null,
    winner_reward: now ?? null,
  });
  return [
    ...evaluation.map((index) =>
      score(
        index,
        'evaluation',
        [baseline, winner].map((id) => evaluated.get(id)?.get(index)),
      ),
    ),
    ...compared.map((index) =>
      score(
        index,
        'heldout',
        [baseline, winner].map((id) => held.get(id)?.get(index)),
      ),
    ),
  ];
}

function costView(spending: readonly (Spending & { purpose: string })[]): JsonObject {
  const total = (value: (item: Spending) => number | null) => sumOf(spending, value);
  return {
    total_usd: spending.length > 0 ? total(({ usd }) => usd) : null,
    calls: total(({ calls }) => calls),
    prompt_tokens: total(({ promptTokens }) => promptTokens),
    completion_tokens: total(({ completionTokens }) => completionTokens),
    by_purpose: Object.fromEntries(spending.map(({ purpose, ...totals }) => [purpose, spendingView(totals)])),
  };
}

function spendingView({ calls, promptTokens, completionTokens, usd }: Spending): JsonObject {
  return { usd, calls, prompt_tokens: promptTokens, completion_tokens: completionTokens };
}
