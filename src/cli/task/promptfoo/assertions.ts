/** Maps promptfoo's assertions to a scorer, and their values to a column of expected values. */
import { asObject, canonicalJson, isObject } from '../../../util/json.js';
import { compilePattern } from '../../../util/linear-regex.js';
import { dispatchOf } from './code.js';
import { anyOf, escape, patternOfAll, textOf, wordsPattern } from './patterns.js';

export interface Assertion {
  /** Without `not-`. */
  type: string;
  not: boolean;
  value: unknown;
  weight: number;
  /** The model of a judge. */
  judge: { provider: string; model: string };
  /** The function of a scorer, of a javascript assertion. */
  code?: string;
}

export interface MappedAssertions {
  scorer: Record<string, unknown>;
  /** A value for each test; null: the scorer needs none. */
  expected: unknown[] | null;
  /** What is scored in another way than promptfoo does. */
  notes: string[];
}

type Scorer = Record<string, unknown>;
/** A scorer with the expected value for it; null: none. */
interface Scored {
  scorer: Scorer;
  expected: unknown;
}

interface Form {
  /** The scorer of values that differ between tests, and the expected value for one of them. */
  perRow: (assertion: Assertion) => Scored | null;
  /** The scorer of one value for all tests; null: it cannot be written so. */
  fixed: (assertion: Assertion) => Scorer | null;
  note?: string;
}

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

export const forms: Readonly<Record<string, Form>> = {
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

/** One assertion of a test; `scorer` is that of rows. */
interface Atom extends Scored {
  assertion: Assertion;
  /** Of all that one part of the scorer can score. */
  kind: string;
  /** Of all that are the same for the whole file. */
  same: string;
}

/** The scorer of all tests' assertions, which map. */
export function mapAssertions(tests: readonly (readonly Assertion[])[]): MappedAssertions {
  const all = tests.flat();
  const read = tests.map((test) => test.map(atomOf));
  const notes = [
    ...new Set(all.flatMap(({ type }) => (forms[type]!.note === undefined ? [] : [`${type} ${forms[type]!.note}`]))),
  ];
  return { ...(alone(read) ?? inParts(read)), notes };
}

const nameOf = ({ type, not }: Assertion) => `${not ? 'not-' : ''}${type}`;

function atomOf(assertion: Assertion): Atom {
  const scored = forms[assertion.type]!.perRow(assertion)!;
  const kind = canonicalJson([scored.scorer, assertion.weight, assertion.not]);
  return { ...scored, assertion, kind, same: canonicalJson([kind, scored.expected ?? null]) };
}

/** The scorer of tests with one assertion of the same kind each; null: they have others. */
function alone(tests: readonly (readonly Atom[])[]): Omit<MappedAssertions, 'notes'> | null {
  const [first] = tests[0] ?? [];
  if (!first || first.assertion.not || tests.some((test) => test.length !== 1 || test[0]!.kind !== first.kind))
    return null;
  const isCode = first.assertion.type === 'javascript';
  const isSame = tests.every(([atom]) => atom!.same === first.same);
  if (isCode) return isSame ? { scorer: forms['javascript']!.fixed(first.assertion)!, expected: null } : null;
  return { scorer: first.scorer, expected: first.expected === null ? null : tests.map(([atom]) => atom!.expected) };
}

/** A weighted scorer: parts of what all tests assert, and a part with a field for what differs. */
function inParts(tests: readonly (readonly Atom[])[]): Omit<MappedAssertions, 'notes'> {
  const shared = new Map<string, { atom: Atom; count: number }>();
  for (const atom of tests[0] ?? []) {
    const count = Math.min(...tests.map((test) => test.filter(({ same }) => same === atom.same).length));
    if (count > 0 && fixedOf(atom)) shared.set(atom.same, { atom, count });
  }
  const parts: Scorer[] = [...shared.values()].flatMap(({ atom, count }) =>
    Array.from({ length: count }, () => partOf(atom, fixedOf(atom)!)),
  );
  const codes: string[] = [];
  const differing = new Map<string, { atom: Atom; field: string }>();
  const expected = tests.map((test) => {
    const left = new Map([...shared].map(([same, { count }]) => [same, count]));
    const seen = new Map<string, number>();
    const values: Record<string, unknown> = {};
    for (const atom of test) {
      const shareds = left.get(atom.same) ?? 0;
      left.set(atom.same, shareds - 1);
      if (shareds > 0) continue;
      const nth = (seen.get(atom.kind) ?? 0) + 1;
      seen.set(atom.kind, nth);
      const key = `${atom.kind} ${nth}`;
      if (!differing.has(key)) differing.set(key, { atom, field: fieldFor(atom, [...differing.values()]) });
      values[differing.get(key)!.field] =
        atom.assertion.type === 'javascript' ? placeOf(codes, atom.expected) : atom.expected;
    }
    return values;
  });
  const fields = [...differing.values()];
  if (fields.length === 0) return { scorer: { type: 'weighted', parts }, expected: null };
  const isPlain =
    fields.length === 1 && expected.every((values) => values[fields[0]!.field] != null) && !parts.some(isJson);
  // A shared part that would look at an expected value has an empty field of its own.
  if (!isPlain)
    for (const part of parts.filter((one) => (one['scorer'] as Scorer)['type'] !== 'regex')) {
      part['field'] = `shared_${parts.indexOf(part) + 1}`;
      for (const values of expected) values[String(part['field'])] = null;
    }
  for (const { atom, field } of fields) {
    const scorer = atom.assertion.type === 'javascript' ? { type: 'javascript', code: dispatchOf(codes) } : atom.scorer;
    parts.push({ ...partOf(atom, scorer), ...(!isPlain && { field }) });
  }
  return {
    scorer: { type: 'weighted', parts },
    expected: isPlain ? expected.map((values) => values[fields[0]!.field]) : expected,
  };
}

const isJson = (part: Scorer) => (part['scorer'] as Scorer)['type'] === 'json';
const fixedOf = ({ assertion }: Atom) => forms[assertion.type]!.fixed(assertion);
const partOf = ({ assertion: { weight, not } }: Atom, scorer: Scorer): Scorer => ({
  weight,
  scorer,
  ...(not && { negate: true }),
});

function placeOf(codes: string[], code: unknown): number {
  const at = codes.indexOf(String(code));
  return at >= 0 ? at : codes.push(String(code)) - 1;
}

/** `contains`, `contains_2`: the assertion's name, numbered from the second part of it. */
function fieldFor({ assertion }: Atom, others: readonly { atom: Atom }[]): string {
  const earlier = others.filter(({ atom }) => nameOf(atom.assertion) === nameOf(assertion)).length;
  return earlier === 0 ? nameOf(assertion) : `${nameOf(assertion)}_${earlier + 1}`;
}
