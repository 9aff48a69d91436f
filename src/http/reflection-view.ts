import type { z } from 'zod';
import { cutText } from '../clients/untrusted.js';
import { componentNames, textsOf } from '../contracts/components.js';
import type { candidateDetailSchema } from '../contracts/lineage.js';
import type { Message } from '../contracts/spec.js';
import { maxProposalChars, proposalTries } from '../core/search/proposal-limits.js';
import { parseProposal } from '../core/search/reflection.js';
import type { Tx } from '../storage/db.js';
import type { Ancestor, readFeedback } from '../storage/lineage.js';
import { readProposerAttempts, type ProposerAttempt } from '../storage/proposals.js';
import { iso } from './job-view.js';

type Reflection = NonNullable<z.output<typeof candidateDetailSchema>['reflection']>;
type Feedback = Awaited<ReturnType<typeof readFeedback>>;

const limits = {
  /** Bytes of a message or an answer of the proposer. */
  textBytes: 128 * 1024,
  /** Of all that the proposer was asked for a candidate. */
  askedBytes: 4 * 1024 * 1024,
  /** Bytes of one example's feedback. */
  feedbackBytes: 4 * 1024,
};

/** What the proposer was asked and answered for a candidate that is to rewrite some of its parent's components. */
export function readAttempts(tx: Tx, jobId: string, self: Ancestor): Promise<ProposerAttempt[]> {
  return readProposerAttempts(tx, jobId, self.leverVersion, proposalTries * Math.max(1, self.messages?.length ?? 0));
}

/** How a candidate came from its parent, or null: no model proposed it. */
export function reflectionView(
  self: Ancestor,
  parent: Ancestor | null,
  attempts: readonly ProposerAttempt[],
  feedback: Feedback,
): Reflection | null {
  if (attempts.length === 0 && self.ordinals.length === 0) return null;
  const asked = attempts.reduce((total, { messages }) => total + messages.length, 0);
  const bytes = Math.min(limits.textBytes, Math.floor(limits.askedBytes / Math.max(1, asked)));
  const views = attempts.map((attempt) => attemptView(attempt, self, parent, bytes));
  const used = views.findIndex(({ accepted }) => accepted);
  // Where none was used, the last.
  const last = attempts.at(used);
  return {
    model: last?.model ?? null,
    provider: last?.provider ?? null,
    components: self.components ?? [systemOf(self.messages)],
    messages: views.at(used)?.messages ?? [],
    output: views[used]?.output ?? null,
    examples: self.ordinals.flatMap((ordinal) => {
      const shown = feedback.get(ordinal);
      return shown ? [{ ...exampleView(shown, limits.feedbackBytes), reward: shown.reward }] : [];
    }),
    attempts: views,
  };
}

/** A rollout's feedback, cut. */
export function exampleView(
  { rolloutId, seed, feedback }: { rolloutId: string; seed: number | null; feedback: string },
  bytes: number,
) {
  return { rollout_id: rolloutId, seed, feedback: cutText(feedback, bytes) };
}

/** Why an answer was refused follows from the answer: it is read again as the proposer's activity read it. */
function attemptView(attempt: ProposerAttempt, self: Ancestor, parent: Ancestor | null, bytes: number) {
  const { occurrence, finishReason } = attempt;
  const names = componentNames(self.messages ?? []);
  // What is asked for each component is numbered after those for the component before it.
  const component =
    self.components === null
      ? systemOf(self.messages)
      : (names[Math.floor(occurrence / proposalTries)] ?? systemOf(self.messages));
  const parsed = parseProposal(attempt.text, {
    parent: textsOf(parent?.messages ?? null)[component] ?? '',
    maxChars: maxProposalChars,
    finishReason,
  });
  const accepted = parsed.ok && parsed.text === textsOf(self.messages)[component];
  return {
    component,
    attempt: self.components === null ? occurrence : occurrence % proposalTries,
    messages: attempt.messages.map(({ role, content }) => ({ role, content: cutText(content, bytes) })),
    output: cutText(attempt.text, limits.textBytes),
    finish_reason: finishReason,
    accepted,
    reason: accepted ? null : parsed.ok ? 'another answer was taken' : parsed.reason,
    prompt_tokens: attempt.promptTokens,
    completion_tokens: attempt.completionTokens,
    cost_usd: attempt.costUsd,
    created_at: iso(attempt.createdAt),
  };
}

/** The component that a session rewrote while it knew only one. */
function systemOf(messages: readonly Message[] | null): string {
  const place = messages?.findIndex(({ role }) => role === 'system') ?? -1;
  return componentNames(messages ?? [])[place] ?? 'system';
}
