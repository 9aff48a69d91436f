import { completeChat } from '../../src/clients/models/complete-chat.js';
import type { Message, SearchSpec } from '../../src/core/jobs/spec.js';
import { maxProposalChars, proposalTries as tries } from '../../src/core/proposals/limits.js';
import { parseProposal, type ParsedProposal } from '../../src/core/proposals/reflection.js';
import { askAgain } from '../../src/core/proposals/second-try.js';
import type { JobRef } from '../../src/storage/jobs/events.js';
import { retryTransient } from '../../src/storage/db/patience.js';
import { findProposerCall, recordProposerCall } from '../../src/storage/candidates/proposals.js';
import type { ActivityDeps } from '../deps.js';
import { costReservation } from '../call-meter.js';

const recordPatienceMs = 15_000;
/** How long one proposal may take, all its answers, tries and waits together. */
const patienceMs = 10 * 60_000;

/** A text, or why there is none; `unchanged`: the proposer says what the parent says. */
export type Proposed = { ok: true; text: string } | { ok: false; reason: string; unchanged?: boolean };

/** What is asked: `question` for the `part`-th text of candidate number `candidate`; `read` takes it out of an answer. */
export interface ProposalAsked {
  candidate: number;
  part: number;
  question: Message[];
  read: (answer: { text: string; finishReason: string | null }) => ParsedProposal;
}

/** Reads the text that is to stand in the place of `parent`. */
export function instructionFor(parent: string): ProposalAsked['read'] {
  return ({ text, finishReason }) => parseProposal(text, { parent, maxChars: maxProposalChars, finishReason });
}

/** Gets one usable text out of the proposer. Every answer is recorded before it is used, and read back by a retry. */
export async function proposeOne(
  deps: ActivityDeps,
  job: JobRef,
  spec: SearchSpec,
  { candidate, part, question, read }: ProposalAsked,
  signal: AbortSignal,
): Promise<Proposed> {
  const { db } = deps;
  const { proposer } = spec;
  const deadline = Date.now() + patienceMs;
  const meter = costReservation(deps, job, { budget: spec.budget, policy: proposer, rolloutId: null }, signal);
  let messages = question;
  let reason = 'no answer';
  for (let n = 0; n < tries; n += 1) {
    const index = { ...job, candidate, occurrence: part * tries + n };
    let answer = await db.org(job.orgId, (tx) => findProposerCall(tx, index));
    if (!answer) {
      const call = await completeChat(deps.providers, { policy: proposer, messages, signal, meter, deadline });
      if (!call.ok) return { ok: false, reason: call.message };
      answer = { text: call.text, finishReason: call.finishReason };
      const asked = messages;
      // Paid for, so it is worth waiting for the database.
      await retryTransient(() => db.org(job.orgId, (tx) => recordProposerCall(tx, index, proposer, asked, call)), {
        patienceMs: recordPatienceMs,
        onRetry: (err) => deps.log.warn({ err, job_id: job.jobId }, 'a proposal is not recorded yet; trying again'),
      });
    }
    const parsed = read(answer);
    // Asked again it would say the same of the same failures: others teach more.
    if (parsed.ok || parsed.unchanged) return parsed;
    ({ reason } = parsed);
    messages = askAgain(question, answer.text, reason);
  }
  return { ok: false, reason: `${tries} answers of the proposer were not usable; the last: ${reason}` };
}
