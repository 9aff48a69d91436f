import type { z } from 'zod';
import type { graphCandidateSchema } from '../../kinds/graph/contract/lineage.js';
import { proposalTries } from '../../core/proposals/limits.js';
import { candidateTexts } from '../store/candidates.js';
import type { Tx } from '../../platform/db/db.js';
import type { Ancestor, readFeedback } from '../store/lineage.js';
import { readProposerAttempts, type ProposerAttempt } from '../store/proposals.js';
import { iso } from '../../jobs/routes/view.js';
import { cutToBytes } from '../../util/text.js';

type GraphReflection = NonNullable<z.output<typeof graphCandidateSchema>['reflection']>;
type Feedback = Awaited<ReturnType<typeof readFeedback>>;

const limits = {
  /** Bytes of one message or answer of the proposer. */
  textBytes: 128 * 1024,
  /** Bytes of all messages to the proposer for a candidate. */
  askedBytes: 4 * 1024 * 1024,
  /** Bytes of one example's feedback. */
  feedbackBytes: 4 * 1024,
};

/** The proposer's answers for a candidate. */
export function readAttempts(tx: Tx, jobId: string, self: Ancestor): Promise<ProposerAttempt[]> {
  const components = Object.keys(candidateTexts(self)).length;
  return readProposerAttempts(tx, jobId, self.leverVersion, proposalTries * Math.max(1, components));
}

/** The proposal of a candidate; null: no model proposed it. */
export function reflectionView(
  { reflection }: Ancestor,
  attempts: readonly ProposerAttempt[],
  feedback: Feedback,
): GraphReflection | null {
  if (!reflection) return null;
  const asked = attempts.reduce((total, { messages }) => total + messages.length, 0);
  const bytes = Math.min(limits.textBytes, Math.floor(limits.askedBytes / Math.max(1, asked)));
  const views = attempts.map((attempt) => attemptView(attempt, bytes));
  const used = views.findIndex(({ accepted }) => accepted);
  // -1, the last, if none was accepted.
  const shown = attempts.at(used);
  return {
    model: shown?.model ?? null,
    provider: shown?.provider ?? null,
    components: reflection.components,
    approach: reflection.approach ?? null,
    messages: views.at(used)?.messages ?? [],
    output: views[used]?.output ?? null,
    examples: reflection.ordinals.flatMap((ordinal) => {
      const example = feedback.get(ordinal);
      return example ? [{ ...exampleView(example, limits.feedbackBytes), reward: example.reward }] : [];
    }),
    attempts: views,
  };
}

/** A rollout's feedback, shortened. */
export function exampleView(
  { rolloutId, seed, feedback }: { rolloutId: string; seed: number | null; feedback: string },
  bytes: number,
) {
  return { rollout_id: rolloutId, seed, feedback: cutToBytes(feedback, bytes) };
}

function attemptView(attempt: ProposerAttempt, bytes: number) {
  return {
    ...attempt.verdict,
    messages: attempt.messages.map(({ role, content }) => ({ role, content: cutToBytes(content, bytes) })),
    output: cutToBytes(attempt.text, limits.textBytes),
    finish_reason: attempt.finishReason,
    prompt_tokens: attempt.promptTokens,
    completion_tokens: attempt.completionTokens,
    cost_usd: attempt.costUsd,
    created_at: iso(attempt.createdAt),
  };
}
