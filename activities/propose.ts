import { Context } from '@temporalio/activity';
import { proposerCall } from '../src/clients/proposer-call.js';
import type { Message, SessionSpec } from '../src/contracts/spec.js';
import { cutText } from '../src/clients/untrusted.js';
import { gepaLimits } from '../src/core/gepa/config.js';
import { buildReflection, parseProposal, type ReflectionExample } from '../src/core/gepa/reflection.js';
import type { ProposalAnswer, ProposalRequest } from '../src/core/work.js';
import { addCandidate, readPrompts } from '../src/storage/candidates.js';
import { findProposerCall, recordProposerCall } from '../src/storage/proposals.js';
import { patiently } from '../src/storage/patience.js';
import { readExamples } from '../src/storage/reflection-examples.js';
import type { JobRef } from '../src/storage/events.js';
import type { ActivityDeps } from './deps.js';
import { guarded } from './failure.js';
import { beating } from './heartbeat.js';
import { lockOpenJob, readSpec, recordLost } from './jobs.js';
import { recordDecided, type Decided } from './lifecycle.js';
import { mapLimited } from './map-limited.js';

const tries = 3;
const maxChars = 32_000;
const recordPatienceMs = 15_000;

type Attempt = { ok: true; text: string } | { ok: false; reason: string };

/**
 * Asks the proposer for a generation's new texts, all at once, and keeps them in the order asked, so that which of two
 * equal texts counts as the duplicate does not depend on timing. Every answer of the model is recorded before it is
 * used: a retry of this activity reads it back and buys nothing twice.
 */
export function proposeActivity(deps: ActivityDeps) {
  const { db } = deps;

  async function attempt(
    job: JobRef,
    spec: SessionSpec,
    request: ProposalRequest,
    parent: string,
    signal: AbortSignal,
  ): Promise<Attempt> {
    const examples: ReflectionExample[] = await db.org(job.orgId, (tx) =>
      readExamples(tx, job.jobId, request.ordinals),
    );
    const messages = buildReflection({ instruction: parent, examples });
    let reason = 'no answer';
    for (let n = 0; n < tries; n += 1) {
      const place = { ...job, candidate: request.candidate, occurrence: n };
      const recorded = await db.org(job.orgId, (tx) => findProposerCall(tx, place));
      let answer = recorded;
      if (!answer) {
        const call = await proposerCall(deps.providers, { policy: spec.proposer, messages, signal });
        if (!call.ok) return { ok: false, reason: call.message };
        answer = { text: call.text, finishReason: call.finishReason };
        const { proposer } = spec;
        // Paid for, so it is worth waiting for the database.
        await patiently(() => db.org(job.orgId, (tx) => recordProposerCall(tx, place, proposer, messages, call)), {
          patienceMs: recordPatienceMs,
          onRetry: (err) => deps.log.warn({ err, job_id: job.jobId }, 'a proposal is not recorded yet; trying again'),
        });
      }
      const parsed = parseProposal(answer.text, { parent, maxChars, finishReason: answer.finishReason });
      if (parsed.ok) return parsed;
      reason = parsed.reason;
    }
    return { ok: false, reason: `${tries} answers of the proposer were not usable; the last: ${reason}` };
  }

  return {
    propose: (input: JobRef & { requests: ProposalRequest[]; decided?: Decided | null }): Promise<ProposalAnswer[]> =>
      guarded(() =>
        beating(async () => {
          const job: JobRef = { orgId: input.orgId, jobId: input.jobId };
          const [spec, prompts] = await db.org(job.orgId, (tx) =>
            Promise.all([
              readSpec<SessionSpec>(tx, job),
              readPrompts(tx, job.jobId),
              input.decided && recordDecided(tx, job, input.decided),
            ]),
          );
          if (!input.requests.every(({ parent }) => prompts.has(parent))) throw recordLost(job);
          const { cancellationSignal } = Context.current();
          const attempts = await mapLimited(input.requests, spec.maxConcurrent, async (request) => {
            const parent = systemText(prompts.get(request.parent) ?? null);
            return attempt(job, spec, request, parent, cancellationSignal);
          });
          return keep(job, input.requests, attempts);
        }),
      ),
  };

  /** Stores the new texts in the order asked; a text that is already some candidate's is a duplicate. */
  async function keep(job: JobRef, requests: ProposalRequest[], attempts: Attempt[]): Promise<ProposalAnswer[]> {
    return db.org(job.orgId, async (tx) => {
      await lockOpenJob(tx, job);
      const known = new Map<string, number>();
      for (const [version, messages] of await readPrompts(tx, job.jobId)) {
        const text = systemText(messages);
        if (!known.has(text)) known.set(text, version);
      }
      const answers: ProposalAnswer[] = [];
      for (const [i, request] of requests.entries()) {
        const result = attempts[i]!;
        if (!result.ok) {
          const reason = cutText(result.reason.replace(/\p{Cc}+/gu, ' '), gepaLimits.reasonBytes);
          answers.push({ candidate: request.candidate, outcome: 'failed', reason });
          continue;
        }
        // A retry finds this very candidate stored: that is not a duplicate.
        const holder = known.get(result.text) ?? request.candidate;
        if (holder !== request.candidate) {
          answers.push({ candidate: request.candidate, outcome: 'duplicate' });
          continue;
        }
        known.set(result.text, request.candidate);
        await addCandidate(tx, job, {
          leverVersion: request.candidate,
          generation: request.generation,
          parents: [request.parent],
          messages: [{ role: 'system', content: result.text }],
          detail: { reflection: { ordinals: request.ordinals } },
        });
        answers.push({ candidate: request.candidate, outcome: 'proposed' });
      }
      return answers;
    });
  }
}

function systemText(messages: Message[] | null): string {
  return messages?.find((message) => message.role === 'system')?.content ?? '';
}
