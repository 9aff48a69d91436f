/** A try of a graph: a graph job that runs its first graph on a few tasks, and nothing else. */
import type { FastifyRequest } from 'fastify';
import { checkedForCaller } from '../../../access/routes/provider-keys.js';
import { triedSearch } from '../../../core/graphs/search-config.js';
import type { GraphSpec } from '../../../core/jobs/spec.js';
import { sampleOf } from '../../../core/rows/sample.js';
import { readTriedDiagnosis } from '../../../diagnosis/routes/read.js';
import type { Draft } from '../../../jobs/routes/kind.js';
import type { GraphHead, JobRow } from '../../../jobs/store/jobs.js';
import { readSpec } from '../../../jobs/store/spec.js';
import type { HttpDeps } from '../../../platform/http/deps.js';
import type { Tx } from '../../../platform/db/db.js';
import { readSeedOutputs, type SeedOutput } from '../../../rollouts/store/outputs.js';
import { readRowTexts, readRunTexts } from '../../../rows/store/texts.js';
import type { CreateGraphJob } from '../../graph/contract/job.js';
import { graphEstimate } from '../../graph/routes/cost-estimate.js';
import { graphKind } from '../../graph/routes/routes.js';
import { withTasks } from '../../graph/routes/row-tasks.js';
import { graphSpec } from '../../graph/routes/specs.js';
import { insertTasks } from '../../graph/store/tasks.js';
import { mostTried, type TryGraphRequest } from '../contract/try.js';

export const tryName = (rows: number) => `Try of ${rows} rows`;

/** The request of the job; its budget of rollouts is the number of tasks to run. */
export const triedGraph = ({
  rows,
  timeout,
  budget,
  ...asked
}: TryGraphRequest): CreateGraphJob & { name: string } => ({
  ...asked,
  rollout_budget: rows,
  budget: { ...budget, max_minutes: timeout / 60 },
  proposer_effort: 'low',
  rng_seed: 0,
  auto_start: true,
  preflight: false,
  max_failure_rate: 1,
  name: tryName(rows),
});

export const triedGraphKind = { kind: graphKind.kind, create: { ...graphKind.create, draft: draftTry } };

async function draftTry(deps: HttpDeps, request: FastifyRequest, body: CreateGraphJob): Promise<Draft> {
  const checks = await checkedForCaller(deps, request);
  const source = await withTasks(checks, request.caller.orgId, body);
  const chosen = sampleOf([...source.request.dataset.tasks.keys()], body.rollout_budget);
  const { spec, tasks, warnings } = graphSpec(source, checks, () => triedSearch(chosen));
  return {
    spec,
    warnings: [...source.warnings, ...warnings],
    prepare: source.keep,
    store: (tx, job) =>
      insertTasks(
        tx,
        job,
        chosen.map((index) => tasks[index]!),
      ),
    estimate: graphEstimate(spec, tasks),
  };
}

/** The tasks of a try, with what the graph gave for each that has an end. */
export async function readTriedGraph(tx: Tx, job: JobRow<GraphHead>) {
  const { jobId } = job;
  const { search } = await readSpec<GraphSpec>(tx, jobId);
  const rows = search.evaluationSeeds;
  const texts = await readRowTexts(tx, jobId, null, rows);
  const runs = await readSeedOutputs(tx, jobId, null, { limit: mostTried, offset: 0 });
  const answers = await readRunTexts(tx, jobId, runs);
  const outputs = runs.map((run): SeedOutput => {
    const { input = null, expected = null } = texts.get(run.seed) ?? {};
    const { output = null, outputTruncated = false } = answers.get(run.rolloutId) ?? {};
    return { ...run, input, expected, output, outputTruncated };
  });
  return { rows, outputs, ...(await readTriedDiagnosis(tx, job)) };
}
