/** The scorers of promptfoo's assertions. */
import { asObject, isObject } from '../../../util/json.js';
import { compilePattern } from '../../../util/linear-regex.js';
import type { Assertion, Form, Forms, Scored, Scorer } from '../row-scorer.js';
import { anyOf, escape, patternOfAll, textOf, wordsPattern } from './patterns.js';

const regex = (sourceOf: (value: unknown) => string | null, flags = ''): Form => ({
  perRow: ({ value }) => {
    const expected = sourceOf(value);
    return expected === null ? null : { scorer: { type: 'regex', ...(flags && { flags }) }, expected };
  },
  fixed: ({ value }) => ({ type: 'regex', pattern: sourceOf(value), ...(flags && { flags }) }),
});
const compared = (scorer: Scorer, note?: string): Form => ({
  perRow: ({ value }) => ({ scorer, expected: value }),
  fixed: () => null,
  ...(note !== undefined && { note }),
});
const whole = (scorer: Scorer | null): Scored | null => scorer && { scorer, expected: null };
/** Whole or not at all, as in promptfoo: no field of the schema counts by itself. */
function schemaOf({ value }: Assertion): Scorer | null {
  if (value == null || value === '' || value === false) return { type: 'json', schema: {} };
  const whole = asObject(value);
  if (!whole) return null;
  const { $defs, definitions, $schema: _, ...rest } = whole;
  const refs = JSON.stringify(value).match(/"\$ref":"[^"]*"/g) ?? [];
  // Other references count from the root.
  if (refs.some((one) => !/"#\/(?:\$defs|definitions)\//.test(one))) return { type: 'json', schema: whole };
  return {
    type: 'json',
    schema: { ...($defs != null && { $defs }), ...(definitions != null && { definitions }), allOf: [rest] },
  };
}
const json: Form = { perRow: (assertion) => whole(schemaOf(assertion)), fixed: schemaOf };
const criteriaOf = (value: unknown) =>
  Array.isArray(value) ? value.map((one) => `- ${textOf(one)}`).join('\n') : textOf(value);
const judged = (criteria: string, fixedOf: (value: unknown) => string, note?: string): Form => ({
  perRow: ({ value, judge }) => ({ scorer: { type: 'rubric', criteria, ...judge }, expected: criteriaOf(value) }),
  fixed: ({ value, judge }) => ({ type: 'rubric', criteria: fixedOf(value), ...judge }),
  ...(note !== undefined && { note }),
});
const requirement = judged('The output meets the requirement that is the expected value.', criteriaOf);
const ownJudge = 'is judged by a rubric, not by the prompt of promptfoo';
const facts = judged(
  'The output agrees with the facts of the expected value.',
  (value) => `The output agrees with these facts: ${criteriaOf(value)}`,
  ownJudge,
);

export const forms: Forms = {
  equals: {
    perRow: ({ value }) =>
      isObject(value)
        ? { scorer: { type: 'json', case_sensitive: true }, expected: value }
        : { scorer: { type: 'exact', case_sensitive: true }, expected: value },
    fixed: ({ value }) => (isObject(value) ? null : { type: 'regex', pattern: `^${escape(value)}$` }),
    note: 'ignores differences in white space and Unicode form',
  },
  contains: regex(escape),
  icontains: regex(escape, 'i'),
  'contains-any': regex(anyOf),
  'icontains-any': regex(anyOf, 'i'),
  'contains-all': regex((value) => patternOfAll(value)),
  'icontains-all': regex((value) => patternOfAll(value, 'i'), 'i'),
  'starts-with': regex((value) => `^${escape(value)}`),
  // Without look-around and back-references, which need a time without bound.
  regex: regex((value) => ('problem' in compilePattern(textOf(value), '') ? null : textOf(value))),
  'is-json': { ...json, note: 'takes JSON in a fenced block, too' },
  'word-count': regex(wordsPattern),
  'contains-json': { ...json, note: 'needs JSON as the whole output, or in its fenced block' },
  'rouge-n': compared({ type: 'similarity', metric: 'rouge_l' }, 'is ROUGE-L'),
  bleu: compared({ type: 'similarity', metric: 'bleu' }),
  'llm-rubric': requirement,
  'model-graded-closedqa': { ...requirement, note: ownJudge },
  'g-eval': { ...requirement, note: ownJudge },
  factuality: facts,
  'model-graded-factuality': facts,
  javascript: {
    perRow: (assertion) => {
      const code = codeOf(assertion);
      return code === null ? null : { scorer: { type: 'javascript' }, expected: code };
    },
    fixed: (assertion) => (codeOf(assertion) ? { type: 'javascript', code: codeOf(assertion) } : null),
    note: 'runs only where the service allows it, by RATCHET_ALLOW_JAVASCRIPT_SCORERS=default',
  },
};

const codeOf = ({ code }: Assertion) => code ?? null;

/** Whether an assertion whose type has a form has a value that it can take. */
export function canMap(assertion: Assertion): boolean {
  const { type, value } = assertion;
  if (needsText.includes(type) && (value == null || textOf(value).trim() === '')) return false;
  return Object.hasOwn(splitForms, type) || forms[type]!.perRow(assertion) !== null;
}

/** What promptfoo refuses without a value. */
const needsText = [
  'contains',
  'icontains',
  'contains-any',
  'icontains-any',
  'contains-all',
  'icontains-all',
  'starts-with',
  'regex',
  'llm-rubric',
  'model-graded-closedqa',
  'g-eval',
  'factuality',
  'model-graded-factuality',
  'rouge-n',
  'bleu',
];

/** An assertion of all values that no pattern takes, in parts that are a share of it. */
export const splitForms: Readonly<Record<string, string>> = {
  'contains-all': 'contains',
  'icontains-all': 'icontains',
};

/** What is neither scored nor refused, and why. */
export const unscored: Readonly<Record<string, string>> = {
  latency: 'is not scored: the duration of calls is in the results',
  cost: 'is not scored: the cost of calls is in the results',
  perplexity: 'is not scored',
  'perplexity-score': 'is not scored',
  'select-best': 'is not scored: one answer is not compared with others',
  'max-score': 'is not scored: one answer is not compared with others',
  human: 'is not scored',
};
