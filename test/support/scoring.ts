import { scorePart, scorerSchema, scorerSpec } from '../../src/scorers/index.js';
import { combine, isWeighted, negated, partsFor } from '../../src/scorers/weighted.js';
import type { Verification } from '../../src/core/verify/verification.js';

/** The stored form of a scorer of a request. */
export const specOf = (request: unknown) => scorerSpec(scorerSchema.parse(request), 'openai');

/** The result of a scorer that makes no call. */
export function compare(request: unknown, expected: unknown, output: string): Verification {
  const spec = specOf(request);
  const parts = partsFor(spec, expected).map(({ scorer, expected: wanted, negate, weight }) => {
    const scoring = scorePart(scorer, wanted, output);
    if ('call' in scoring) throw new Error(`${scorer.type} scores by a call.`);
    const { verification } = scoring;
    return { name: scorer.type, weight, verification: negate ? negated(verification) : verification };
  });
  return isWeighted(spec) ? combine(parts) : parts[0]!.verification;
}
