/** One scorer for rows that assert differently, and the column of their expected values. */
import { canonicalJson } from '../../util/json.js';
import { dispatchOf } from './promptfoo/code.js';

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
  /** What is scored in another way than the forms' own tool does. */
  notes: string[];
}

export type Scorer = Record<string, unknown>;
/** A scorer with the expected value for it; null: none. */
export interface Scored {
  scorer: Scorer;
  expected: unknown;
}

export interface Form {
  /** The scorer of values that differ between tests, and the expected value for one of them. */
  perRow: (assertion: Assertion) => Scored | null;
  /** The scorer of one value for all tests; null: it cannot be written so. */
  fixed: (assertion: Assertion) => Scorer | null;
  note?: string;
}

/** By type of assertion. */
export type Forms = Readonly<Record<string, Form>>;

/** One assertion of a test; `scorer` is that of rows. */
interface Atom extends Scored {
  assertion: Assertion;
  /** Of all that one part of the scorer can score. */
  kind: string;
  /** Of all that are the same for the whole file. */
  same: string;
  /** Null: its value cannot be that of all rows. */
  fixed: Scorer | null;
}

/** The scorer of all tests' assertions, which map. */
export function mapAssertions(tests: readonly (readonly Assertion[])[], forms: Forms): MappedAssertions {
  const all = tests.flat();
  const read = tests.map((test) => test.map((assertion) => atomOf(assertion, forms[assertion.type]!)));
  const notes = [
    ...new Set(all.flatMap(({ type }) => (forms[type]!.note === undefined ? [] : [`${type} ${forms[type]!.note}`]))),
  ];
  return { ...(alone(read) ?? inParts(read)), notes };
}

const nameOf = ({ type, not }: Assertion) => `${not ? 'not-' : ''}${type}`;

function atomOf(assertion: Assertion, form: Form): Atom {
  const scored = form.perRow(assertion)!;
  const kind = canonicalJson([scored.scorer, assertion.weight, assertion.not]);
  return {
    ...scored,
    assertion,
    kind,
    same: canonicalJson([kind, scored.expected ?? null]),
    fixed: form.fixed(assertion),
  };
}

/** The scorer of tests with one assertion of the same kind each; null: they have others. */
function alone(tests: readonly (readonly Atom[])[]): Omit<MappedAssertions, 'notes'> | null {
  const [first] = tests[0] ?? [];
  if (!first || first.assertion.not || tests.some((test) => test.length !== 1 || test[0]!.kind !== first.kind))
    return null;
  const isCode = first.assertion.type === 'javascript';
  const isSame = tests.every(([atom]) => atom!.same === first.same);
  if (isCode) return isSame ? { scorer: first.fixed!, expected: null } : null;
  return { scorer: first.scorer, expected: first.expected === null ? null : tests.map(([atom]) => atom!.expected) };
}

/** A weighted scorer: parts of what all tests assert, and a part with a field for what differs. */
function inParts(tests: readonly (readonly Atom[])[]): Omit<MappedAssertions, 'notes'> {
  const shared = new Map<string, { atom: Atom; count: number }>();
  for (const atom of tests[0] ?? []) {
    const count = Math.min(...tests.map((test) => test.filter(({ same }) => same === atom.same).length));
    if (count > 0 && atom.fixed) shared.set(atom.same, { atom, count });
  }
  const parts: Scorer[] = [...shared.values()].flatMap(({ atom, count }) =>
    Array.from({ length: count }, () => partOf(atom, atom.fixed!)),
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
