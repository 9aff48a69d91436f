/** The decision on a candidate's test, as it is recorded and read. */
import { exceeds } from '../math/rewards.js';
import type { AcceptanceDecision } from './protocol.js';

type Acceptance = Extract<AcceptanceDecision, { type: 'candidate_accepted' }>;
type Rejection = Extract<AcceptanceDecision, { type: 'candidate_rejected' }>;

/** `combined`: a merge, which must only not lose. */
export type AcceptanceRecord = Omit<Acceptance, 'reason'> & { reason: 'better' | 'combined' | 'cheaper' | 'shorter' };

/** `isGain`: the candidate scored more than expected. */
export type RejectionRecord = Rejection & { isGain: boolean };

export type DecisionRecord = AcceptanceRecord | RejectionRecord;

/** The record of a decision; `isMerge`: the candidate combines several candidates. */
export function recordOf(decision: AcceptanceDecision, isMerge: boolean): DecisionRecord {
  if (decision.type === 'candidate_rejected') {
    return { ...decision, isGain: exceeds(decision.childSum, decision.parentSum) };
  }
  return { ...decision, reason: decision.reason ?? (isMerge ? 'combined' : 'better') };
}
