/**
 * When a proposer that gives no usable text must fail the search. The reference swallows such failures and "succeeds"
 * with the baseline; here they are counted.
 *
 * Invariants: the search fails only at the end of a generation in which every proposal failed, when it is the second
 * such generation in a row or at least 6 proposals in a row have failed. A duplicate is an answer: it breaks the row.
 */
import type { ProposalAnswer } from '../search/protocol.js';

export interface ProposerRecord {
  failuresInARow: number;
  failedGenerationsInARow: number;
}

export const noProposals: ProposerRecord = { failuresInARow: 0, failedGenerationsInARow: 0 };

const failuresThatFail = 6;
const generationsThatFail = 2;

/** What of a trial its proposal must keep to: which rollouts it may be shown, and whom a merge is to combine. */
interface Asked {
  candidate: number;
  parents?: readonly number[];
  offered?: readonly { ordinal: number }[];
}

/** The answers in the order of the trials; throws unless they are exactly the answers to them. */
export function matchProposals(trials: readonly Asked[], answers: readonly ProposalAnswer[]): ProposalAnswer[] {
  const byCandidate = new Map<number, ProposalAnswer>();
  for (const answer of answers) {
    const { candidate } = answer;
    if (byCandidate.has(candidate)) throw new Error(`the proposal of candidate ${candidate} was answered twice`);
    if (!trials.some((trial) => trial.candidate === candidate)) {
      throw new Error(`the proposal of candidate ${candidate} was answered but is not among those asked for`);
    }
    byCandidate.set(candidate, answer);
  }
  return trials.map(({ candidate, parents, offered }) => {
    const answer = byCandidate.get(candidate);
    if (answer === undefined) throw new Error(`the proposal of candidate ${candidate} was asked for and not answered`);
    const stray = answer.shown?.find((ordinal) => offered && !offered.some((one) => one.ordinal === ordinal));
    if (stray !== undefined) {
      throw new Error(`the proposal of candidate ${candidate} was shown rollout ${stray}, which was not offered`);
    }
    const strange = answer.parents?.find((parent) => parents && !parents.includes(parent));
    if (strange !== undefined) {
      throw new Error(`the proposal of candidate ${candidate} combines candidate ${strange}, which was not asked for`);
    }
    return answer;
  });
}

/** The record after a generation's answers (at least one), in the order asked, and the message with which to fail, if so. */
export function recordProposals(
  record: ProposerRecord,
  answers: readonly ProposalAnswer[],
): { record: ProposerRecord; failure: string | null } {
  let failuresInARow = record.failuresInARow;
  for (const { outcome } of answers) failuresInARow = outcome === 'failed' ? failuresInARow + 1 : 0;
  const allFailed = answers.every(({ outcome }) => outcome === 'failed');
  const failedGenerationsInARow = allFailed ? record.failedGenerationsInARow + 1 : 0;
  const fails = allFailed && (failuresInARow >= failuresThatFail || failedGenerationsInARow >= generationsThatFail);
  return {
    record: { failuresInARow, failedGenerationsInARow },
    failure: fails ? describe(failuresInARow, answers.at(-1)?.reason) : null,
  };
}

function describe(failures: number, reason = 'none was given'): string {
  return `The proposer gave no usable text ${failures} times in a row. The last reason: ${reason}. Check the proposer's model and key; what was evaluated before is kept.`;
}
