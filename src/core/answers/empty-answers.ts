/**
 * Answers without any text, counted by their reason. An answer counts if it did not earn the full
 * reward: an empty answer can be the right one.
 */
import { isSolved } from '../math/rewards.js';
import { emptyReason, emptyReasons, type EmptyReason, type EndedAnswer } from './ending.js';

export type EmptyCounts = Partial<Record<EmptyReason, number>>;

/** Reasons that another prompt seldom removes. */
const outsidePrompts: ReadonlySet<EmptyReason> = new Set(['length', 'content_filter', 'refusal', 'thoughts']);

/** Null: there is an answer, or it is right without a text. */
export function unsolvedEmpty(answer: EndedAnswer, reward: number): EmptyReason | null {
  return isSolved(reward) ? null : emptyReason(answer);
}

export function addEmpty(counts: EmptyCounts, reasons: readonly (EmptyReason | null | undefined)[]): EmptyCounts {
  const after = { ...counts };
  for (const reason of reasons) if (reason) after[reason] = (after[reason] ?? 0) + 1;
  return after;
}

export function totalEmpty(counts: EmptyCounts): number {
  return emptyReasons.reduce((total, reason) => total + (counts[reason] ?? 0), 0);
}

/**
 * Whether a search on these answers would learn nothing: more than half are empty for a reason that
 * prompts do not remove, or all are empty.
 */
export function areInVain(counts: EmptyCounts, answers: number): boolean {
  const outside = emptyReasons.filter((reason) => outsidePrompts.has(reason));
  const count = outside.reduce((total, reason) => total + (counts[reason] ?? 0), 0);
  return answers > 0 && (2 * count > answers || totalEmpty(counts) >= answers);
}

/** Each reason with its count and its remedy; empty: none. */
export function emptySentences(counts: EmptyCounts): string {
  return emptyReasons.flatMap((reason) => (counts[reason] ? [`${counts[reason]}: ${remedies[reason]}`] : [])).join(' ');
}

const remedies: Record<EmptyReason, string> = {
  length:
    'the model stopped at its limit of tokens before it answered; raise max_tokens of the model (--max-tokens), or let it reason less (reasoning_effort).',
  content_filter: "the provider's content filter stopped the answer; take another model, or rows that it accepts.",
  refusal: 'the model refused; read a refusal in the feedback of a rollout, and change the task or take another model.',
  thoughts: 'the model gave its thoughts only; raise max_tokens of the model (--max-tokens), or take another model.',
  nothing: 'the model gave an empty answer without a reason; read a trace, and try another model.',
};
