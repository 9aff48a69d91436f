import { z } from 'zod';
import { expectedAnswer, unwrapAnswer } from '../core/verify/answer.js';
import { isClose, lastNumber, parseNumbers, soleNumber, type ReadNumber } from '../core/verify/numbers.js';
import { show } from '../core/verify/text.js';
import { correct, incorrect, maxShown } from './feedback.js';
import { comparing } from './scorer.js';

export const numeric = comparing({
  schema: z
    .strictObject({
      type: z.literal('numeric'),
      tolerance: z.number().min(0).optional().describe('numeric: accepted deviation. Default 0.000001.'),
      relative: z
        .boolean()
        .optional()
        .describe('numeric: whether tolerance is a share of the gold number (absolute for 0). Default true.'),
    })
    .meta({ id: 'NumericScorer' }),
  settings: ({ tolerance = 1e-6, relative = true }) => ({ tolerance, relative }),
  reward: '1 if the last number of the output is the expected one, within a tolerance',
  expected: 'required',
  form: {
    label: 'Number',
    fields: [
      {
        kind: 'number',
        name: 'tolerance',
        label: 'Tolerance',
        hint: 'A share of the expected number; default 0.000001.',
      },
      { kind: 'check', name: 'relative', label: 'The tolerance is an absolute number', on: false },
    ],
  },
  problem(_settings, expected) {
    const sole = soleNumber(expectedAnswer(expected));
    return 'problem' in sole ? sole.problem : null;
  },
  score(settings, gold, output) {
    const { tolerance, relative } = settings;
    const wanted = lastNumber(expectedAnswer(gold))!;
    const answer = unwrapAnswer(output);
    const given = lastNumber(answer);
    const share = relative && wanted.value !== 0 ? ' of its size' : '';
    const expected = `the number ${formatNumber(wanted)} (within ${tolerance}${share})`;
    if (given === null) return incorrect(expected, show(answer, maxShown), 'There is no number in the output.');
    if (isClose(wanted, given, settings)) return correct(`${formatNumber(given)} is ${expected}`);
    const earlier =
      typeof answer === 'string' && parseNumbers(answer).some((item) => isClose(wanted, item, settings))
        ? '; the expected one stands before it, and must come last'
        : '';
    const why = `The last number of the output is ${formatNumber(given)}${earlier}.`;
    return incorrect(expected, show(answer, maxShown), why);
  },
});

function formatNumber({ value, percent }: ReadNumber): string {
  return percent ? `${value} %` : String(value);
}
