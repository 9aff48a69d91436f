/**
 * Failures of the proposer that end the search (the reference implementation ignores them).
 * Invariants: the search fails only after a generation in which every proposal failed, if it is the
 * second in a row or at least 6 proposals in a row have failed. Duplicates and refused texts are
 * successes.
 */
import type { ProposalAnswer, ProposalRequest } from '../search/protocol.js';

export interface ProposerRecord {
  failuresInARow: number;
  failedGenerationsInARow: number;
}

export const noProposals: ProposerRecord = { failuresInARow: 0, failedGenerationsInARow: 0 };

const failuresThatFail = 6;
const generationsThatFail = 2;

/** The answers in the order of the requests; throws unless they match exactly. */
export function matchProposals(
  requests: readonly ProposalRequest[],
  answers: readonly ProposalAnswer[],
): ProposalAnswer[] {
  const byCandidate = new Map<number, ProposalAnswer>();
  for (const answer of answers) {
    const { candidate } = answer;
    if (byCandidate.has(candidate)) throw new Error(`the proposal of candidate ${candidate} was answered twice`);
    if (!requests.some((request) => request.candidate === candidate)) {
      throw new Error(`the proposal of candidate ${candidate} was answered but is not among those asked for`);
    }
    byCandidate.set(candidate, answer);
  }
  return requests.map(({ candidate, parent, merge, compose, ordinals }) => {
    const answer = byCandidate.get(candidate);
    if (answer === undefined) throw new Error(`the proposal of candidate ${candidate} was asked for and not answered`);
    const stray = answer.shown?.find((ordinal) => !ordinals.includes(ordinal));
    if (stray !== undefined) {
      throw new Error(`the proposal of candidate ${candidate} was shown rollout ${stray}, which was not offered`);
    }
    const unknown = answer.parents?.find((own) => !(merge ?? compose?.parents ?? [parent]).includes(own));
    if (unknown !== undefined) {
      throw new Error(`the proposal of candidate ${candidate} combines candidate ${unknown}, which was not asked for`);
    }
    return answer;
  });
}

/** The record after a generation's answers (at least one), and the error if the search fails. */
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
  return `The proposer gave no usable text ${failures} times in a row. The last reason: ${reason}. If the proposer cannot be reached, check its model and key; if its texts break a rule, name another model or give a hint. Evaluated candidates are kept.`;
}
