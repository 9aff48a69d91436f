import type { JudgedVerifier } from '../../src/contracts/graphs/verifier.js';
import { askAgain } from '../../src/core/proposals/second-try.js';
import { buildJudgePrompt } from '../../src/core/verify/judge.js';
import { parseJudgement } from '../../src/core/verify/judgement.js';
import { agreementCriteria, parseRubric, selectExampleTasks } from '../../src/core/verify/rubric.js';
import type { Verification } from '../../src/core/verify/verification.js';
import { readTasks, type GraphTask } from '../../src/storage/graphs/tasks.js';
import { databasePatienceMs, retryTransient } from '../../src/storage/db/patience.js';
import { askModel, type GraphRollout } from './ask-model.js';

/** The key of the judge's call: no step of a graph can have it. */
const key = '@judge';
/** How often the judge is asked until its answer can be read. */
const maxTries = 3;
const timeoutMs = 120_000;

export type Judgement =
  { ok: true; verification: Verification } | { ok: false; code: string; message: string; infrastructure: boolean };

/** What the job's judge says of an output. */
export async function judge(
  rollout: GraphRollout,
  { judge: policy, mode }: JudgedVerifier,
  task: GraphTask,
  output: unknown,
  signal: AbortSignal,
): Promise<Judgement> {
  const criteria = mode === 'rubric' ? parseRubric(task.rubric!) : agreementCriteria;
  const examples = mode === 'gold_examples' ? await examplesFor(rollout) : [];
  const gold = task.gold === null ? {} : { gold: task.gold };
  const question = buildJudgePrompt({ criteria, input: task.input, output, ...gold, examples });
  let messages = question;
  let reason = '';
  for (let tries = 0; tries < maxTries; tries += 1) {
    const said = await askModel(rollout, { asker: 'judge', key, tries, policy, messages, timeoutMs }, signal);
    if (!said.ok) return said;
    const parsed = parseJudgement(said.text, { criteria, finishReason: said.finishReason });
    if (parsed.ok) return parsed;
    ({ reason } = parsed);
    messages = askAgain(question, said.text, reason);
  }
  const message = `${maxTries} answers of the judge cannot be read; the last: ${reason}`;
  // No word on the candidate: the search may ask again.
  return { ok: false, code: 'judgement_unusable', message, infrastructure: true };
}

/** Gold outputs of a few tasks that the search learns from. */
async function examplesFor({ deps, job, spec, claim }: GraphRollout): Promise<unknown[]> {
  const places = selectExampleTasks(claim.seed, spec.gepa.trainSeeds);
  const tasks = await retryTransient(() => deps.db.org(job.orgId, (tx) => readTasks(tx, job.jobId, places)), {
    patienceMs: databasePatienceMs,
    onRetry: (err) => deps.log.warn({ err, rollout_id: claim.rolloutId }, 'examples cannot be read; trying again'),
  });
  return places.flatMap((index) => tasks.get(index)?.gold?.value ?? []);
}
