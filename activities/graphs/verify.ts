import type { GraphSpec } from '../../src/core/jobs/spec.js';
import type { Json } from '../../src/core/graphs/values.js';
import { selectExampleTasks } from '../../src/core/verify/rubric.js';
import { isJudged, judgeOf, verifyOutput } from '../../src/scorers/verifier.js';
import { databasePatienceMs, retryTransient } from '../../src/platform/db/patience.js';
import { readTasks, type GraphTask } from '../../src/kinds/graph/store/tasks.js';
import type { ModelRollout } from '../models/ask-model.js';
import { askFor, askJudge, type Judgement } from '../models/judge.js';

/** Scores the output of a graph by the job's verifier. */
export async function verify(
  rollout: ModelRollout,
  spec: GraphSpec,
  task: GraphTask,
  output: Json,
  signal: AbortSignal,
): Promise<Judgement> {
  const { verifier } = spec;
  if (!isJudged(verifier)) return { ok: true, verification: verifyOutput(verifier, task.gold!.value, output) };
  const { judge } = verifier;
  const { criteria: criteriaOf, examples: count } = judgeOf(verifier);
  const criteria = criteriaOf(task.rubric);
  const examples = count > 0 ? await examplesFor(rollout, spec, count) : [];
  const gold = task.gold === null ? {} : { gold: task.gold };
  return askJudge(askFor(rollout), { judge, criteria, input: task.input, output, ...gold, examples }, signal);
}

/** Gold outputs of a few train tasks. */
async function examplesFor(
  { deps, job, claim }: ModelRollout,
  { search }: GraphSpec,
  count: number,
): Promise<unknown[]> {
  const indexes = selectExampleTasks(claim.seed, search.trainSeeds, count);
  const tasks = await retryTransient(() => deps.db.org(job.orgId, (tx) => readTasks(tx, job.jobId, indexes)), {
    patienceMs: databasePatienceMs,
    onRetry: (err) => deps.log.warn({ err, rollout_id: claim.rolloutId }, 'examples not read; retrying'),
  });
  return indexes.flatMap((index) => tasks.get(index)?.gold?.value ?? []);
}
