/** Why a running job stands still. */

import { counted } from '../math/words.js';

/** What is known of it; null: nothing is wrong there. */
export interface StallFacts {
  /** Why its workflow task fails. */
  stuck: string | null;
  hasWorker: boolean;
  /** A model of it whose calls fail, as `fake/policy is throttled (429)`. */
  trouble: string | null;
  loweredBecause: string | null;
  /** Its container and models are checked. */
  isPrepared: boolean;
  /** A worker holds its lease. */
  isDriven: boolean;
  inFlight: number;
  /** Who answers its rollouts. */
  answerer: string;
}

export function stallCause(facts: StallFacts): string {
  const { stuck, hasWorker, trouble, loweredBecause, isPrepared, isDriven, inFlight, answerer } = facts;
  if (stuck !== null) return `its workflow task fails: ${stuck}`;
  if (!hasWorker) return 'no worker runs';
  if (trouble !== null) return trouble;
  if (loweredBecause !== null) return loweredBecause;
  if (!isPrepared) return `the checks before it starts have no answer from ${answerer}`;
  if (!isDriven) return 'it waits for a worker';
  if (inFlight > 0) return `${answerer} is silent: ${counted(inFlight, 'answer')} in flight`;
  return 'it waits for the proposer';
}
