import type { z } from 'zod';
import { cutText } from '../../clients/net/untrusted.js';
import { componentNames, componentTexts } from '../../core/prompts/components.js';
import type { graphCandidateSchema } from '../../contracts/graphs/lineage.js';
import type { candidateDetailSchema } from '../../contracts/candidates/lineage.js';
import type { Message } from '../../core/jobs/spec.js';
import { maxProposalChars, proposalTries } from '../../core/proposals/limits.js';
import { parseProposal, type ParsedProposal } from '../../core/proposals/reflection.js';
import { candidateTexts } from '../../storage/candidates/candidates.js';
import type { Tx } from '../../storage/db/db.js';
import type { Ancestor, readFeedback } from '../../storage/candidates/lineage.js';
import { readProposerAttempts, type ProposerAttempt } from '../../storage/candidates/proposals.js';
import { iso } from '../jobs/view.js';

type Reflection = NonNullable<z.output<typeof candidateDetailSchema>['reflection']>;
type GraphReflection = NonNullable<z.output<typeof graphCandidateSchema>['reflection']>;
type Feedback = Awaited<ReturnType<typeof readFeedback>>;

const limits = {
  /** Bytes of a message or an answer of the proposer. */
  textBytes: 128 * 1024,
  /** Of all that the proposer was asked for a candidate. */
  askedBytes: 4 * 1024 * 1024,
  /** Bytes of one example's feedback. */
  feedbackBytes: 4 * 1024,
};

/** An answer of the proposer, read again as its activity read it: why it was refused follows from the answer. */
interface ReadAnswer<Component> {
  component: Component;
  /** From 0 for each component. */
  attempt: number;
  accepted: boolean;
  reason: string | null;
}

/** What of a candidate the proposer was to write, and how its answers are read. */
export interface Answers<Component extends string | null> {
  components: string[];
  read(attempt: ProposerAttempt): ReadAnswer<Component>;
}

/** What the proposer was asked and answered for a candidate that is to rewrite some of its parent's components. */
export function readAttempts(tx: Tx, jobId: string, self: Ancestor): Promise<ProposerAttempt[]> {
  const components = Object.keys(candidateTexts(self)).length;
  return readProposerAttempts(tx, jobId, self.leverVersion, proposalTries * Math.max(1, components));
}

/** How a candidate came from its parent, or null: no model proposed it. */
export function reflectionView<Component extends string | null>(
  self: Ancestor,
  answers: Answers<Component>,
  attempts: readonly ProposerAttempt[],
  feedback: Feedback,
): (Component extends string ? Reflection : GraphReflection) | null;
export function reflectionView(
  self: Ancestor,
  answers: Answers<string | null>,
  attempts: readonly ProposerAttempt[],
  feedback: Feedback,
): GraphReflection | null {
  if (attempts.length === 0 && self.ordinals.length === 0) return null;
  const asked = attempts.reduce((total, { messages }) => total + messages.length, 0);
  const bytes = Math.min(limits.textBytes, Math.floor(limits.askedBytes / Math.max(1, asked)));
  const views = attempts.map((attempt) => ({ ...attemptView(attempt, bytes), ...answers.read(attempt) }));
  const used = views.findIndex(({ accepted }) => accepted);
  // Where none was used, the last.
  const last = attempts.at(used);
  return {
    model: last?.model ?? null,
    provider: last?.provider ?? null,
    components: answers.components,
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

function attemptView(attempt: ProposerAttempt, bytes: number) {
  return {
    messages: attempt.messages.map(({ role, content }) => ({ role, content: cutText(content, bytes) })),
    output: cutText(attempt.text, limits.textBytes),
    finish_reason: attempt.finishReason,
    prompt_tokens: attempt.promptTokens,
    completion_tokens: attempt.completionTokens,
    cost_usd: attempt.costUsd,
    created_at: iso(attempt.createdAt),
  };
}

/** How the answers for a candidate of a session are read. */
export function sessionAnswers(self: Ancestor, parent: Ancestor | null): Answers<string> {
  const names = componentNames(self.messages ?? []);
  const texts = componentTexts(self.messages);
  const before = componentTexts(parent?.messages ?? null);
  const only = systemOf(self.messages);
  return {
    components: self.components ?? [only],
    read({ occurrence, text, finishReason }) {
      const index = self.components === null ? { component: only, attempt: occurrence } : placeOf(occurrence, names);
      const component = index.component ?? only;
      const rules = { parent: before[component] ?? '', maxChars: maxProposalChars, finishReason };
      return { ...index, component, ...verdictOn(parseProposal(text, rules), texts[component]) };
    },
  };
}

/** What is asked for each component is numbered after those for the component before it. */
export function placeOf(occurrence: number, components: readonly string[]) {
  return { component: components[Math.floor(occurrence / proposalTries)], attempt: occurrence % proposalTries };
}

/** Whether what was read in an answer is the candidate's own text, and why it is not. */
export function verdictOn(read: ParsedProposal, own: string | undefined): { accepted: boolean; reason: string | null } {
  const accepted = read.ok && read.text === own;
  return { accepted, reason: accepted ? null : read.ok ? 'another answer was taken' : read.reason };
}

/** The component that a session rewrote while it knew only one. */
function systemOf(messages: readonly Message[] | null): string {
  const index = messages?.findIndex(({ role }) => role === 'system') ?? -1;
  return componentNames(messages ?? [])[index] ?? 'system';
}
