/** The scorers of OpenAI's graders, and of the classes of openai/evals. */
import { compilePattern } from '../../util/linear-regex.js';
import { escape } from '../task/promptfoo/patterns.js';
import type { Assertion, Form, Forms, Scorer } from '../task/row-scorer.js';

/** A pattern for a value, or for any of a list. */
const patternOf = (value: unknown) =>
  Array.isArray(value) ? `(?:${value.map((one) => escape(one)).join('|')})` : escape(value);

const pattern = (sourceOf: (value: unknown) => string, flags = ''): Form => {
  const scorer = { type: 'regex', ...(flags && { flags }) };
  return {
    perRow: ({ value }) => ({ scorer, expected: sourceOf(value) }),
    fixed: ({ value }) => ({ ...scorer, pattern: sourceOf(value) }),
  };
};
const compared = (scorer: Scorer): Form => ({
  perRow: ({ value }) => ({ scorer, expected: value }),
  fixed: () => null,
});
const judged: Form = {
  perRow: (assertion) => ({ scorer: rubricOf(assertion), expected: null }),
  fixed: rubricOf,
};

function rubricOf({ value, judge }: Assertion): Scorer {
  return { type: 'rubric', criteria: value, ...judge };
}

/** By the type of an assertion. */
export const graderForms = {
  equals: {
    ...compared({ type: 'exact', case_sensitive: true }),
    fixed: ({ value }) => {
      const whole = `^${patternOf(value)}$`;
      return 'problem' in compilePattern(whole) ? null : { type: 'regex', pattern: whole };
    },
  },
  contains: pattern(patternOf),
  icontains: pattern(patternOf, 'i'),
  begins: pattern((value) => `^${patternOf(value)}`),
  fields: compared({ type: 'json', case_sensitive: true }),
  words: compared({ type: 'contains' }),
  token_f1: compared({ type: 'similarity' }),
  rouge_l: compared({ type: 'similarity', metric: 'rouge_l' }),
  bleu: compared({ type: 'similarity', metric: 'bleu' }),
  judged,
} as const satisfies Forms;

export type GraderForm = keyof typeof graderForms;

/** Why the service would refuse the value; null: it takes it. */
export function valueProblem(type: GraderForm, value: unknown): string | null {
  if (!['contains', 'icontains', 'begins'].includes(type)) return null;
  if (String(value).trim() === '') return 'is empty';
  const compiled = compilePattern(patternOf(value));
  return 'problem' in compiled ? `is too long to be looked for (${compiled.problem})` : null;
}
