/** What became of the proposals of a search. */
import { duplicateProposal, isTooLong, isUnusable } from '../proposals/failure-reasons.js';

/** Why a proposal became no candidate. `failed`: no answer came, or a rule was broken. */
export type ProposalCause = 'duplicate' | 'too_long' | 'unusable' | 'failed';

export interface ProposalCounts {
  /** Candidates beside the baseline; they are accepted, rejected, or not decided yet. */
  written: number;
  accepted: number;
  rejected: number;
  /** Proposals without a candidate, the commonest cause first; `example`: the commonest reason. */
  refused: { cause: ProposalCause; count: number; example: string }[];
}

/** Counts refused proposals by their cause. `reasons`: each with its count. */
export function refusedByCause(reasons: readonly { reason: string; count: number }[]): ProposalCounts['refused'] {
  const byCause = new Map<ProposalCause, { count: number; example: string; most: number }>();
  for (const { reason, count } of reasons) {
    const cause = causeOfReason(reason);
    const known = byCause.get(cause) ?? { count: 0, example: reason, most: 0 };
    const isMost = count > known.most;
    byCause.set(cause, {
      count: known.count + count,
      example: isMost ? reason : known.example,
      most: Math.max(count, known.most),
    });
  }
  return [...byCause]
    .map(([cause, { count, example }]) => ({ cause, count, example }))
    .sort((left, right) => right.count - left.count);
}

function causeOfReason(reason: string): ProposalCause {
  if (reason === duplicateProposal) return 'duplicate';
  if (isTooLong(reason)) return 'too_long';
  return isUnusable(reason) ? 'unusable' : 'failed';
}

/** All proposals. */
export function proposalsOf({ written, refused }: ProposalCounts): number {
  return written + refused.reduce((total, { count }) => total + count, 0);
}

const words: Record<ProposalCause, (count: number) => string> = {
  duplicate: () => 'repeated a known text',
  too_long: (count) => (count === 1 ? 'was too long' : 'were too long'),
  unusable: () => 'could not be read',
  failed: () => 'failed',
};

/** What became of them, as parts of a sentence; the commonest first. */
export function proposalWords({ accepted, rejected, refused }: ProposalCounts): string[] {
  const parts = [
    ...refused.map(({ cause, count }) => ({ count, text: `${count} ${words[cause](count)}` })),
    { count: rejected, text: `${rejected} ${rejected === 1 ? 'was' : 'were'} not better on train rows` },
    { count: accepted, text: `${accepted} ${accepted === 1 ? 'was' : 'were'} accepted` },
  ];
  return parts
    .filter(({ count }) => count > 0)
    .sort((left, right) => right.count - left.count)
    .map(({ text }) => text);
}
