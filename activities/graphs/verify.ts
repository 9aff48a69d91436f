import type { GraphSpec } from '../../src/core/jobs/spec.js';
import type { Json } from '../../src/core/graphs/values.js';
import { agreementCriteria, parseRubric, selectExampleTasks } from '../../src/core/verify/rubric.js';
import { isJudged, score } from '../../src/core/verify/score.js';
import { databasePatienceMs, retryTransient } from '../../src/storage/db/patience.js';
import { readTasks, type GraphTask } from '../../src/storage/graphs/tasks.js';
import type { ModelRollout } from '../models/ask-model.js';
import { askJudge, type Judgement } from '../models/judge.js';

/** Scores the output of a graph by the job's verifier. */
export async function verify(
  rollout: ModelRollout,
  spec: GraphSpec,
  task: GraphTask,
  output: Json,
  signal: AbortSignal,
): Promise<Judgement> {
  const { verifier } = spec;
  if (!isJudged(verifier)) return { ok: true, verification: score(verifier, task.gold!.value, output) };
  const { judge, mode } = verifier;
  const criteria = mode === 'rubric' ? parseRubric(task.rubric!) : agreementCriteria;
  const examples = mode === 'gold_examples' ? await examplesFor(rollout, spec) : [];
  const gold = task.gold === null ? {} : { gold: task.gold };
  return askJudge(rollout, { judge, criteria, input: task.input, output, ...gold, examples }, signal);
}

/** Gold outputs of a few train tasks. */
async function examplesFor({ deps, job, claim }: ModelRollout, { search }: GraphSpec): Promise<unknown[]> {
  const indexes = selectExampleTasks(claim.seed, search.trainSeeds);
  const tasks = await retryTransient(() => deps.db.org(job.orgId, (tx) => readTasks(tx, job.jobId, indexes)), {
    patienceMs: databasePatienceMs,
    onRetry: (err) => deps.log.warn({ err, rollout_id: claim.rolloutId }, 'examples not read; retrying'),
  });
  return indexes.flatMap((index) => tasks.get(index)?.gold?.value ?? []);
}
