import { z } from 'zod';
import { comparableParts } from '../core/verify/answer.js';
import { containsWhole } from '../core/verify/contains.js';
import { areEqual } from '../core/verify/equal.js';
import { asText, normalize, show } from '../core/verify/text.js';
import { caseBox, caseField } from './case.js';
import { correct, incorrect, maxShown } from './feedback.js';
import { comparing } from './scorer.js';

export const exact = comparing({
  schema: z.strictObject({ type: z.literal('exact'), case_sensitive: caseField }).meta({ id: 'ExactScorer' }),
  settings: ({ case_sensitive: caseSensitive = false }) => ({ caseSensitive }),
  reward: '1 if the output equals the expected value; white space is collapsed',
  expected: 'required',
  form: {
    label: 'Exact',
    fields: [caseBox],
  },
  rightAnswer: 'list',
  problem: () => null,
  score({ caseSensitive }, expected, output) {
    const parts = comparableParts(expected, output);
    const wanted = show(parts.gold, maxShown);
    if (areEqual(parts.gold, parts.output, caseSensitive)) return correct(`it is what was expected: ${wanted}`);
    return incorrect(wanted, show(parts.output, maxShown), whyNotEqual(parts.gold, parts.output, caseSensitive));
  },
});

function whyNotEqual(expected: unknown, given: unknown, caseSensitive: boolean): string | null {
  const text = asText(given ?? '');
  if (text.trim() === '') return 'There is no output.';
  if (caseSensitive && areEqual(expected, given, false)) return 'Only upper and lower case differ, which counts here.';
  const wanted = normalize(asText(expected), caseSensitive);
  if (wanted !== '' && containsWhole(wanted, normalize(text, caseSensitive)))
    return 'It says what was expected, but more than that: only that is wanted.';
  return null;
}
