import type { JudgedVerifier } from '../../src/contracts/graphs/verifier.js';
import { askAgain } from '../../src/core/proposals/second-try.js';
import { buildJudgePrompt, judgementForm } from '../../src/core/verify/judge.js';
import { parseJudgement } from '../../src/core/verify/judgement.js';
import { agreementCriteria, parseRubric, selectExampleTasks } from '../../src/core/verify/rubric.js';
import type { Verification } from '../../src/core/verify/verification.js';
import { readTasks, type GraphTask } from '../../src/storage/graphs/tasks.js';
import { databasePatienceMs, retryTransient } from '../../src/storage/db/patience.js';
import { askModel, type GraphRollout } from './ask-model.js';

/** The key of the judge's call; no step can have it. */
const key = '@judge';
/** The judge is asked this often for a readable answer. */
const maxTries = 3;
const timeoutMs = 120_000;

export type Judgement =
  { ok: true; verification: Verification } | { ok: false; code: string; message: string; infrastructure: boolean };

/** The codes of its failures begin with `judge`: `readAnswers` finds unverified outputs by that. */
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
    const answer = await askModel(rollout, { asker: 'judge', key, tries, policy, messages, timeoutMs }, signal);
    if (!answer.ok) return answer;
    const parsed = parseJudgement(answer.text, { criteria, finishReason: answer.finishReason });
    if (parsed.ok) return parsed;
    ({ reason } = parsed);
    messages = askAgain(question, answer.text, reason, judgementForm);
  }
  const message = `the judge gave ${maxTries} unreadable answers; the last: ${reason}`;
  // Not the candidate's fault: the search may repeat the rollout.
  return { ok: false, code: 'judgement_unusable', message, infrastructure: true };
}

/** Gold outputs of a few train tasks. */
async function examplesFor({ deps, job, spec, claim }: GraphRollout): Promise<unknown[]> {
  const indexes = selectExampleTasks(claim.seed, spec.search.trainSeeds);
  const tasks = await retryTransient(() => deps.db.org(job.orgId, (tx) => readTasks(tx, job.jobId, indexes)), {
    patienceMs: databasePatienceMs,
    onRetry: (err) => deps.log.warn({ err, rollout_id: claim.rolloutId }, 'examples not read; retrying'),
  });
  return indexes.flatMap((index) => tasks.get(index)?.gold?.value ?? []);
}
