/** Maps promptfoo's assertions to a scorer, and their values to a column of expected values. */
import { Script } from 'node:vm';
import { canonicalJson, isObject } from '../../../util/json.js';

export interface Assertion {
  type: string;
  value: unknown;
  weight: number;
  /** The model of a judge. */
  judge: { provider: string; model: string };
}

export interface MappedAssertions {
  scorer: Record<string, unknown>;
  /** A value for each test; null: the scorer needs none. */
  expected: unknown[] | null;
  /** What is scored in another way than promptfoo does. */
  notes: string[];
}

interface Form {
  /** The scorer of values that differ between tests, and the expected value for one of them. */
  perRow?: (assertion: Assertion) => { scorer: Record<string, unknown>; expected: unknown };
  /** The scorer of one value for all tests; null: it cannot be written so. */
  fixed?: (assertion: Assertion) => Record<string, unknown> | null;
  note?: string;
}

const escape = (value: unknown) => String(value).replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
/** A text is a list with commas. */
const listOf = (value: unknown) =>
  Array.isArray(value)
    ? value
    : String(value)
        .split(',')
        .map((one) => one.trim());
const anyOf = (value: unknown) => listOf(value).map(escape).join('|');
const pattern = (source: string, flags = '') => ({ type: 'regex', pattern: source, ...(flags && { flags }) });
const regex = (sourceOf: (value: unknown) => string, flags = ''): Form => ({
  perRow: ({ value }) => ({ scorer: { type: 'regex', ...(flags && { flags }) }, expected: sourceOf(value) }),
  fixed: ({ value }) => pattern(sourceOf(value), flags),
});
const compared = (scorer: Record<string, unknown>, note?: string): Form => ({
  perRow: ({ value }) => ({ scorer, expected: value }),
  ...(note !== undefined && { note }),
});
const json: Form = {
  fixed: ({ value }) => (value == null || isObject(value) ? { type: 'json', schema: value ?? {} } : null),
};

const forms: Readonly<Record<string, Form>> = {
  equals: {
    perRow: ({ value }) => ({
      scorer: { type: isObject(value) ? 'json' : 'exact', case_sensitive: true },
      expected: value,
    }),
    fixed: ({ value }) => (isObject(value) ? null : pattern(`^${escape(value)}$`)),
    note: 'ignores differences in white space and Unicode form',
  },
  contains: regex(escape),
  icontains: regex(escape, 'i'),
  'contains-any': regex(anyOf),
  'icontains-any': regex(anyOf, 'i'),
  'starts-with': regex((value) => `^${escape(value)}`),
  regex: regex(String),
  'is-json': json,
  'contains-json': { ...json, note: 'needs JSON as the whole output, or in its fenced block' },
  'rouge-n': compared({ type: 'similarity', metric: 'rouge_l' }, 'is ROUGE-L'),
  bleu: compared({ type: 'similarity', metric: 'bleu' }),
  'llm-rubric': {
    perRow: ({ value, judge }) => ({
      scorer: { type: 'rubric', criteria: 'The output meets the requirement that is the expected value.', ...judge },
      expected: value,
    }),
    fixed: ({ value, judge }) => ({ type: 'rubric', criteria: String(value), ...judge }),
  },
  javascript: {
    fixed: ({ value }) =>
      typeof value === 'string' && !value.startsWith('file://')
        ? { type: 'javascript', code: functionOf(value) }
        : null,
  },
};

/** A function of a scorer with promptfoo's expression, or its body of several lines. */
function functionOf(code: string): string {
  const body = code.trimEnd().includes('\n') ? code : bodyOf(code.trim().replace(/;+\s*$/, ''));
  return `(output, row) => {
  const context = { vars: row };
  const given = ((output, context) => {
${body}
  })(output, context);
  if (typeof given !== 'object' || given === null) return Number(given);
  return { reward: given.score ?? Number(given.pass), feedback: given.reason ?? '' };
}`;
}

/** The body of one line: an expression, or declarations with an expression at the end. */
function bodyOf(line: string): string {
  if (!/^(?:const|let|var)\s/.test(line)) return `return ${line}`;
  // A semicolon within a text leaves parts that do not compile.
  const semicolons = [...line.matchAll(/;/g)].map(({ index }) => index).reverse();
  const at = semicolons.find((index) => compiles(line.slice(0, index)) && compiles(`return ${line.slice(index + 1)}`));
  return at === undefined ? line : `${line.slice(0, at)}; return ${line.slice(at + 1)}`;
}

function compiles(body: string): boolean {
  try {
    return Boolean(new Script(`() => {${body}\n}`));
  } catch {
    return false;
  }
}

/** The types without a scorer among those of the tests. */
function unmapped(tests: readonly (readonly Assertion[])[]): string[] {
  const types = new Set(tests.flatMap((test) => test.map(({ type }) => type)));
  return [...types].filter((type) => !Object.hasOwn(forms, type));
}

/** The scorer of all tests' assertions, or the sentence that says which do not map. */
export function mapAssertions(tests: readonly (readonly Assertion[])[]): MappedAssertions | { problem: string } {
  const unknown = unmapped(tests);
  if (unknown.length > 0) return { problem: `has no scorer for the assertions ${unknown.join(', ')}` };
  const [first = []] = tests;
  const shapeOf = (test: readonly Assertion[]) =>
    test.map(({ type, weight }) => `${type} (weight ${weight})`).join(', ');
  const other = tests.findIndex((test) => shapeOf(test) !== shapeOf(first));
  if (other > 0)
    return {
      problem: `test ${other + 1} asserts ${shapeOf(tests[other]!) || 'nothing'}, test 1 ${shapeOf(first) || 'nothing'}; all tests must assert alike, each with its own value`,
    };
  if (first.length === 0) return { problem: 'has tests without assertions' };

  const varies = first.map((assertion, at) => {
    const value = canonicalJson(assertion.value ?? null);
    return tests.some((test) => canonicalJson(test[at]!.value ?? null) !== value);
  });
  const varying = first.filter((_, at) => varies[at]);
  if (varying.length > 1)
    return {
      problem: `has several assertions with values that differ between tests (${varying.map(({ type }) => type).join(', ')}); only one can be the expected value`,
    };
  const needsRow = first.findIndex((assertion, at) => varies[at] || !forms[assertion.type]!.fixed?.(assertion));
  const rowAt = needsRow >= 0 ? needsRow : first.length === 1 && forms[first[0]!.type]!.perRow ? 0 : -1;
  const parts: { weight: number; scorer: Record<string, unknown> }[] = [];
  for (const [at, assertion] of first.entries()) {
    const { perRow, fixed } = forms[assertion.type]!;
    const scorer = at === rowAt ? perRow?.(assertion).scorer : fixed?.(assertion);
    if (!scorer)
      return {
        problem: `has an assertion ${assertion.type} whose value does not map: it must be one for all tests, and stand in the file`,
      };
    if (at !== rowAt && rowAt >= 0 && scorer['type'] === 'json')
      return {
        problem: `has ${assertion.type} beside ${first[rowAt]!.type}; a JSON scorer would compare with that one's value, too`,
      };
    parts.push({ weight: assertion.weight, scorer });
  }
  const expected = rowAt < 0 ? null : tests.map((test) => forms[test[rowAt]!.type]!.perRow!(test[rowAt]!).expected);
  const notes = first.flatMap(({ type }, at) => {
    const { note } = forms[type]!;
    return note !== undefined && (at === rowAt || type === 'contains-json') ? [`${type} ${note}`] : [];
  });
  return {
    scorer: parts.length === 1 ? parts[0]!.scorer : { type: 'weighted', parts },
    expected,
    notes: [...new Set(notes)],
  };
}
