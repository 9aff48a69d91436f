/** Feedback on answers that are right or wrong as a whole. */
import type { Verification } from '../core/verify/verification.js';

/** Maximum characters of an expected value and of an output in feedback. */
export const maxShown = 1_500;

export function correct(why: string): Verification {
  return { reward: 1, feedback: `Right: ${why}.` };
}

export function incorrect(expected: string, given: string, why: string | null): Verification {
  const first = why === null ? 'Wrong.' : `Wrong. ${why}`;
  return { reward: 0, feedback: `${first}\nExpected: ${expected}\nGiven: ${given}` };
}
