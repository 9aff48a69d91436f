import { TimeoutError, withTimeout } from '../../src/clients/net/bounded.js';
import { cutErrorText } from '../../src/clients/net/untrusted.js';
import { callFailure, refusalOf } from '../../src/models/client/call-failure.js';
import type { RolloutOutcome } from '../../src/clients/container/client.js';
import { valueAt } from '../../src/contracts/validation.js';
import { unsolvedEmpty } from '../../src/core/answers/empty-answers.js';
import {
  describeEmpty,
  emptyReason,
  isCut,
  isFiltered,
  tokenLimit,
  type EndedAnswer,
} from '../../src/core/answers/ending.js';
import { costExhausted } from '../../src/core/jobs/failures.js';
import type { RowsSpec } from '../../src/core/jobs/spec.js';
import type { PolicySpec } from '../../src/core/jobs/policy.js';
import { renderPrompt } from '../../src/core/prompts/demos.js';
import { expectedOf, fillMessages, rowValues, type RowColumns } from '../../src/core/prompts/row-template.js';
import { labelledScore } from '../../src/scorers/index.js';
import { shownText } from '../../src/core/verify/text.js';
import type { Verification } from '../../src/core/verify/verification.js';
import { readDatasetRow } from '../../src/datasets/store/datasets.js';
import type { Tx } from '../../src/platform/db/db.js';
import { databasePatienceMs, retryTransient } from '../../src/platform/db/patience.js';
import { readAnswers } from '../../src/rollouts/store/answers.js';
import { cutToBytes } from '../../src/util/text.js';
import { isCostSpent, messageOf } from '../errors.js';
import { recordLost } from '../jobs/spec.js';
import { askModel, type ModelResult, type ModelRollout } from '../models/ask-model.js';
import { askFor } from '../models/judge.js';
import { outcomeOfRefusal } from '../models/refused-account.js';
import type { ClaimedRollout, RolloutControl } from '../rollouts/source.js';
import { scoreOutput, type ScoredRow } from './score.js';

/** The key of the model's call; the rollout has no other but those of judges. */
const key = '@answer';
/** Characters of a filled prompt. */
const maxPromptChars = 2_000_000;
const maxStored = { output: 64_000, expected: 4_000 } as const;

/** A job on a data set, as its rollouts need it. */
export interface RowsJob {
  rows: RowsSpec;
  policy: PolicySpec;
  budget: ModelRollout['budget'];
  rolloutTimeoutS: number;
  answerCache: ModelRollout['answerCache'];
}

/** What a row's rollout needs of its claim. */
export type RowRollout = Pick<ClaimedRollout, 'deps' | 'job' | 'claim' | 'prompt' | 'trace'> & {
  spec: RowsJob;
  control: Pick<RolloutControl, 'signal' | 'concurrency'>;
};

/** Fills the prompt with a row, asks the model and scores its answer. Rejects if `signal` fires. */
export async function runRow({ deps, job, spec, claim, prompt, control, trace }: RowRollout): Promise<RolloutOutcome> {
  const { rows, policy, budget, rolloutTimeoutS, answerCache } = spec;
  const { signal, concurrency } = control;
  const read = (tx: Tx) =>
    Promise.all([readDatasetRow(tx, rows.datasetId, claim.seed), readAnswers(tx, job.jobId, claim.rolloutId)]);
  const [row, recorded] = await retryTransient(() => deps.db.org(job.orgId, read), {
    patienceMs: databasePatienceMs,
    onRetry: (err) => deps.log.warn({ err, rollout_id: claim.rolloutId }, 'row not read; retrying'),
  });
  if (!row || !prompt.messages) throw recordLost(job);
  const values = rowValues(row, rows);
  const filled = fillMessages(prompt.messages, values, maxPromptChars);
  if (filled === null) {
    const message = `The prompt with row ${claim.seed} is longer than ${maxPromptChars} characters.`;
    return { kind: 'failed', code: 'prompt_too_long', message, infrastructure: false, connect: false };
  }
  const messages = renderPrompt(filled, prompt.demos).map(({ role, content }) => ({ role, content }));
  const onPushback = (reason: string) => concurrency.lower(reason);
  const rollout: ModelRollout = { deps, job, budget, answerCache, claim, recorded, trace, onPushback };
  const timeoutMs = rolloutTimeoutS * 1_000;
  try {
    const answer = await withTimeout(timeoutMs, signal, (timed, timer) => {
      const question = { asker: 'policy' as const, key, tries: 0, policy, messages, timeoutMs };
      return askModel({ ...rollout, onWait: () => timer.hold() }, question, timed);
    });
    if (!answer.ok) return { kind: 'failed', ...failureOf(policy, answer), connect: false };
    const toScore = scoredRow(row, rows);
    const { orgId } = job;
    const scoring = { orgId, scorers: deps.scorers, ask: askFor(rollout), onPushback };
    const scored = await scoreOutput(scoring, rows.scorer, { ...toScore, output: answer.text, timeoutMs }, signal);
    if (!scored.ok) return { kind: 'failed', ...cut(scored), connect: false };
    const { reward, criteria, details: own } = scored.verification;
    const feedback = withEnding(scored.verification, policy, answer);
    const { expected } = toScore;
    const agreement = rows.labels ? labelledScore(rows.scorer, expected, answer.text, scored.verification) : null;
    const details = {
      output: cutToBytes(answer.text, maxStored.output),
      ...(expected != null && { expected: cutToBytes(shownText(expected), maxStored.expected) }),
      ...(criteria && { criteria }),
      ...(own && { scorer: own }),
      ...(agreement && { agreement }),
    };
    const empty = unsolvedEmpty(answer, reward);
    return { kind: 'reward', reward, feedback: feedback === '' ? null : feedback, details, ...(empty && { empty }) };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof TimeoutError) {
      const message = `The model had no answer within ${rolloutTimeoutS} s. Raise rollout_timeout, or use a faster model.`;
      return { kind: 'failed', code: 'rollout_timeout', message, infrastructure: true, connect: false };
    }
    const refused = outcomeOfRefusal(error);
    if (refused) return refused;
    // The runner drops the outcomes of rollouts that the cost budget refused.
    if (isCostSpent(error)) {
      return { kind: 'failed', code: costExhausted, message: messageOf(error), infrastructure: true, connect: false };
    }
    throw error;
  }
}

/** The feedback, and why there is no answer or not all of it. */
function withEnding({ reward, feedback }: Verification, { params }: PolicySpec, answer: EndedAnswer): string {
  const limit = tokenLimit(params);
  const reason = emptyReason(answer);
  if (reason !== null) return `There is no output: the model ${describeEmpty(reason, answer, limit)}.\n${feedback}`;
  if (reward === 1) return feedback;
  if (isFiltered(answer.finishReason)) return `The output was cut off by the provider's content filter.\n${feedback}`;
  const most = limit === null ? 'tokens' : `${limit} tokens`;
  return isCut(answer.finishReason) ? `The output was cut off at the limit of ${most}.\n${feedback}` : feedback;
}

function scoredRow(row: Record<string, unknown>, columns: RowColumns): ScoredRow {
  const column = columns.expected;
  if (column === null) return { row, expected: undefined, judged: row };
  const { [column]: _, ...judged } = row;
  return { row, expected: expectedOf(valueAt(row, column), columns), judged };
}

/** The cause of a model call without an answer, as the proxy would report it. */
function failureOf({ provider, model }: PolicySpec, answer: Extract<ModelResult, { ok: false }>) {
  const { code, message, infrastructure, refused, unsent = null } = answer;
  if (refused || isCallError(code)) {
    const call = refused ? refusalOf(refused) : { status: 0, code, message, unsent };
    const { isOfAccount: _, ...failure } = callFailure({ provider, model, ...call });
    return failure;
  }
  return cut({ code, message, infrastructure });
}

function isCallError(code: string): boolean {
  return code.startsWith('provider_') || code.startsWith('upstream_');
}

function cut({ code, message, infrastructure }: { code: string; message: string; infrastructure: boolean }) {
  return { code, message: cutErrorText(message), infrastructure };
}
