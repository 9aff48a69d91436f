import type { PolicySpec } from '../../src/core/jobs/policy.js';
import { messagesOf, type Question } from '../../src/core/question.js';
import { askAgain, type UnusableAnswer } from '../../src/core/proposals/second-try.js';
import { judgementForm, type JudgementRequest } from '../../src/core/verify/judge.js';
import { parseJudgement } from '../../src/core/verify/judgement.js';
import type { Verification } from '../../src/core/verify/verification.js';
import { askModel, type ModelQuestion, type ModelResult, type ModelRollout } from './ask-model.js';

/** The judge is asked this often for a readable answer: again once, with the complaint. */
const maxTries = 2;
const timeoutMs = 120_000;

/** The result of scoring an output; `infrastructure`: not the candidate's fault. */
export type Judgement =
  { ok: true; verification: Verification } | { ok: false; code: string; message: string; infrastructure: boolean };

/** A judge and its question; `key`: the name of its call, which must begin with `@`. */
export interface JudgeQuestion extends JudgementRequest {
  judge: PolicySpec;
  key?: string;
}

/** Asks a model, or finds its answer on record. */
export type Ask = (question: ModelQuestion, signal: AbortSignal) => Promise<ModelResult>;

/** Asks for a rollout, which has the answers on record. */
export function askFor(rollout: ModelRollout): Ask {
  return (question, signal) => askModel(rollout, question, signal);
}

/** The codes of its failures begin with `judge`: `readAnswers` finds unverified outputs by that. */
export async function askJudge(
  ask: Ask,
  { judge: policy, key = '@judge', ...request }: JudgeQuestion,
  signal: AbortSignal,
): Promise<Judgement> {
  const { criteria } = request;
  const question: Question = { kind: 'judgement', request };
  const asked = messagesOf(question);
  let messages = asked;
  const unusable: UnusableAnswer[] = [];
  for (let tries = 0; tries < maxTries; tries += 1) {
    const call = { asker: 'judge' as const, key, tries, policy, messages, question, timeoutMs };
    const answer = await ask(call, signal);
    if (!answer.ok) return answer;
    const parsed = parseJudgement(answer.text, { criteria, finishReason: answer.finishReason });
    if (parsed.ok) return parsed;
    unusable.push({ text: answer.text, reason: parsed.reason });
    messages = askAgain(asked, unusable, judgementForm);
  }
  const { reason } = unusable.at(-1)!;
  const message = `the judge gave ${maxTries} unreadable answers; the last: ${reason}`;
  // Not the candidate's fault: the search may repeat the rollout.
  return { ok: false, code: 'judgement_unusable', message, infrastructure: true };
}
