import { completeChat } from '../../src/models/client/complete-chat.js';
import type { ChatRequest, ChatResult } from '../../src/models/client/chat.js';
import type { TraceCall } from '../../src/models/client/traced-call.js';
import type { ModelClient } from '../../src/models/client/providers.js';
import type { SearchSpec } from '../../src/core/jobs/spec.js';
import type { PolicySpec } from '../../src/core/jobs/policy.js';
import { unusableProposal } from '../../src/core/proposals/failure-reasons.js';
import { maxProposalChars, proposalTries } from '../../src/core/proposals/limits.js';
import { placeholderProblem, type TextRows } from '../../src/core/proposals/placeholders.js';
import { parseProposal, type ParsedProposal } from '../../src/core/proposals/reflection.js';
import { messagesOf, type Question } from '../../src/core/question.js';
import { askAgain, type UnusableAnswer } from '../../src/core/proposals/second-try.js';
import type { JobRef } from '../../src/jobs/store/events.js';
import { retryTransient } from '../../src/platform/db/patience.js';
import { recordProposerCall, type RecordedAnswers } from '../../src/candidates/store/proposals.js';
import type { ActivityDeps } from '../deps.js';
import { costReservation } from '../call-meter.js';
import { warnOfLeft } from '../models/left-out.js';
import { requireAccount } from '../models/refused-account.js';

const recordPatienceMs = 15_000;
/** The highest temperature that all providers know. */
const variedTemperature = 1;
/** The time limit of one proposal: all its answers, tries and waits. */
const proposalTimeoutMs = 10 * 60_000;

/** A usable text, or why there is none; `unchanged`, `tooLong`: what the last answer was. */
export type ProposedText = ParsedProposal;

/** A question for the `part`-th text of a candidate; `read` extracts the text from an answer. */
export interface ProposerQuestion {
  candidate: number;
  part: number;
  /** The component to rewrite; null: none. */
  component: string | null;
  /** Whether the answer should differ from those to similar questions. */
  isVaried: boolean;
  question: Question;
  /** The form of the answer that the question demands. */
  form: string;
  read: (answer: { text: string; finishReason: string | null }) => ParsedProposal;
}

/** Reads an instruction that replaces `parent`. */
export function instructionReader(rows: TextRows): (parent: string) => ProposerQuestion['read'] {
  return (parent) =>
    ({ text, finishReason }) => {
      const problemOf = (proposed: string) => placeholderProblem(proposed, parent, rows);
      return parseProposal(text, { parent, maxChars: maxProposalChars(parent), finishReason, problemOf });
    };
}

/** The job whose proposer is asked. */
export interface ProposerContext {
  deps: ActivityDeps;
  job: JobRef;
  spec: SearchSpec;
  /** The recorded answers to its questions. */
  recorded: RecordedAnswers;
  /** null: calls are not traced. */
  trace: TraceCall | null;
  signal: AbortSignal;
}

/** Asks until an answer is usable. Each answer is recorded before use; a retry reads it back. */
export async function askProposer(
  { deps, job, spec, recorded: known, trace, signal }: ProposerContext,
  { candidate, part, component, isVaried, question, form, read }: ProposerQuestion,
): Promise<ProposedText> {
  const { db } = deps;
  const { proposer } = spec;
  const deadline = performance.now() + proposalTimeoutMs;
  const meter = costReservation(deps, job, { budget: spec.budget, policy: proposer, rolloutId: null }, signal);
  const asked = messagesOf(question);
  let messages = asked;
  const unusable: UnusableAnswer[] = [];
  for (let attempt = 0; attempt < proposalTries; attempt += 1) {
    const index = { ...job, candidate, occurrence: part * proposalTries + attempt };
    const recorded = known.get(candidate, index.occurrence);
    const request = { policy: proposer, messages, question, signal, meter, deadline };
    const call = recorded
      ? null
      : await (isVaried ? completeVaried : completeChat)(deps.providers.forPayer(job, trace), request);
    if (call) requireAccount(call, proposer);
    if (call?.ok === false) return { ok: false, reason: call.message };
    if (call) await warnOfLeft(deps, job, proposer, call.left);
    const answer = recorded ?? call!;
    const parsed = read(answer);
    if (call) {
      const sent = { policy: proposer, messages };
      const verdict = { component, attempt, accepted: parsed.ok, reason: parsed.ok ? null : parsed.reason };
      const record = () => db.orgHot(job.orgId, (tx) => recordProposerCall(tx, index, sent, { answer: call, verdict }));
      // The call is paid for, so wait for the database.
      await retryTransient(record, {
        patienceMs: recordPatienceMs,
        onRetry: (err) => deps.log.warn({ err, job_id: job.jobId }, 'proposal not recorded; retrying'),
      });
    }
    const isLast = attempt + 1 === proposalTries;
    if (parsed.ok || (isLast && (parsed.unchanged || parsed.tooLong))) return parsed;
    unusable.push({ text: answer.text, reason: parsed.reason });
    messages = askAgain(asked, unusable, form);
  }
  const { reason } = unusable.at(-1)!;
  return { ok: false, reason: unusableProposal(proposalTries, reason) };
}

/** Asks at `variedTemperature` unless the policy sets one or the model refuses it. */
function completeVaried(providers: ModelClient, request: ChatRequest): Promise<ChatResult> {
  const { policy } = request;
  if ('temperature' in policy.params) return completeChat(providers, request);
  const varied: PolicySpec = { ...policy, params: { ...policy.params, temperature: variedTemperature } };
  return completeChat(providers, { ...request, policy: varied, added: ['temperature'] });
}
