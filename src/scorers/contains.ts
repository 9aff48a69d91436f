import { z } from 'zod';
import { expectedAnswer, unwrapAnswer } from '../core/verify/answer.js';
import { containsWhole } from '../core/verify/contains.js';
import { asText, normalize, show } from '../core/verify/text.js';
import { caseBox, caseField } from './case.js';
import { correct, incorrect, maxShown } from './feedback.js';
import { comparing } from './scorer.js';

export const contains = comparing({
  schema: z.strictObject({ type: z.literal('contains'), case_sensitive: caseField }).meta({ id: 'ContainsScorer' }),
  settings: ({ case_sensitive: caseSensitive = false }) => ({ caseSensitive }),
  reward: '1 if the output contains the expected value as a whole word or phrase',
  expected: 'required',
  form: {
    label: 'Contains',
    fields: [caseBox],
  },
  problem(_settings, expected) {
    const isEmpty = normalize(asText(expectedAnswer(expected) ?? ''), true) === '';
    return isEmpty ? 'is empty, so every output would contain it' : null;
  },
  score({ caseSensitive }, gold, output) {
    const [expected, given] = [expectedAnswer(gold), unwrapAnswer(output)];
    const isIn = (counts: boolean) =>
      containsWhole(normalize(asText(expected ?? ''), counts), normalize(asText(given ?? ''), counts));
    const wanted = show(expected, maxShown);
    if (isIn(caseSensitive)) return correct(`it contains what was expected: ${wanted}`);
    const why =
      caseSensitive && isIn(false)
        ? 'It is there in other upper and lower case, which counts here.'
        : 'What was expected does not stand in the output as a whole word or text.';
    return incorrect(wanted, show(given, maxShown), why);
  },
});
