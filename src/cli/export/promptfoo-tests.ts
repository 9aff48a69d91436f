/** Rows as tests of promptfoo, and a scorer as its assertion. */
import type { Ratchet } from '../../client/index.js';
import { expectedAnswer, listedAnswers } from '../../core/verify/answer.js';
import { asObject } from '../../util/json.js';
import { literal, variableName } from './promptfoo-text.js';

/** What a run compares: its first rows, and how. */
export interface PromptfooRows {
  rows: readonly Readonly<Record<string, unknown>>[];
  input: string;
  /** null: there are no right answers. */
  expected: string | null;
  /** As in a request: a type, or an object with one. */
  scorer: unknown;
}

export interface Assertion {
  type: string;
  value?: unknown;
  [field: string]: unknown;
}

/** Rows that a configuration has; promptfoo asks the model for each. */
const testRows = 20;

/**
 * The variables of each row: those that the prompt names, and the right answer. Rows that promptfoo
 * would not take as they are are left out.
 */
export function testsOf({ rows, expected, scorer }: PromptfooRows, columns: ReadonlyMap<string, string>): object[] {
  const isAnswer = ['exact', 'contains', 'numeric'].includes(typeOf(scorer));
  const tests = rows.slice(0, testRows).map((row) => {
    const vars: [string, unknown][] = [...columns].map(([name, column]) => [variableName(name), textOf(row[column])]);
    if (expected !== null) {
      const right = isAnswer ? answersOf(row[expected]) : (row[expected] ?? null);
      vars.push([variableName(expected), right]);
    }
    return { vars: Object.fromEntries(vars) };
  });
  return tests.filter(({ vars }) => !isRead(vars));
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : value == null ? '' : JSON.stringify(value));

/** One right answer, or a list of them. */
function answersOf(value: unknown): unknown {
  const listed = listedAnswers(value ?? '');
  return Array.isArray(listed) ? listed.map(expectedAnswer) : expectedAnswer(listed);
}

/** What promptfoo would read as a template, a file or a program; no sign keeps it from that. */
const isRead = (value: unknown): boolean =>
  typeof value === 'string'
    ? /\{[{%#]|^(?:file:\/\/|package:)/.test(value)
    : Object.values(asObject(value) ?? (Array.isArray(value) ? value : {})).some(isRead);

const typeOf = (scorer: unknown): string => String(asObject(scorer)?.['type'] ?? scorer);

/** The assertions that score as a scorer does; null: promptfoo has none. */
export function assertionsOf({ expected, scorer }: Pick<PromptfooRows, 'expected' | 'scorer'>): Assertion[] | null {
  const settings = asObject(scorer) ?? {};
  const name = expected === null ? null : variableName(expected);
  const make = forms[typeOf(scorer)];
  return make ? make(settings, name) : null;
}

type Settings = Readonly<Record<string, unknown>>;

const forms: Readonly<Record<string, (settings: Settings, name: string | null) => Assertion[] | null>> = {
  exact: ({ case_sensitive: counts }, name) =>
    name === null ? null : [compared(name, `text(output) === text(right)`, counts === true)],
  contains: ({ case_sensitive: counts }, name) =>
    name === null
      ? null
      : [compared(name, `(' ' + words(output) + ' ').includes(' ' + words(right) + ' ')`, counts === true)],
  numeric: ({ tolerance = 1e-6, relative = true }, name) => {
    const allowed = relative ? `${String(tolerance)} * (Math.abs(last(right)) || 1)` : String(tolerance);
    return name === null ? null : [compared(name, `Math.abs(last(output) - last(right)) <= ${allowed}`)];
  },
  regex: ({ pattern, flags = '' }, name) => {
    if (pattern === undefined && name === null) return null;
    const source = pattern === undefined ? `context.vars[${JSON.stringify(name)}]` : JSON.stringify(pattern);
    return [javascript(`new RegExp(${source}, ${JSON.stringify(flags)}).test(output)`)];
  },
  similarity: ({ metric }, name) =>
    name === null ? null : [{ type: metric === 'bleu' ? 'bleu' : 'rouge-n', value: `{{${name}}}`, threshold: 0.5 }],
  json: ({ schema }) => (schema === undefined ? null : [{ type: 'is-json', value: schema }]),
  rubric: ({ criteria }, name) => {
    const text = typeof criteria === 'string' ? criteria : JSON.stringify(criteria);
    return [{ type: 'llm-rubric', value: name ? `${literal(text)}\n\nThe right answer: {{${name}}}` : literal(text) }];
  },
  weighted: ({ parts }, name) => {
    const all = (parts as Settings[]).map(({ scorer, weight = 1, field, negate }) => {
      const made = field === undefined && !negate ? assertionsOf({ expected: name, scorer }) : null;
      return made?.map((assertion) => ({ ...assertion, weight }));
    });
    return all.every((made) => made !== undefined) ? all.flat() : null;
  },
};

/** Holds if the condition does for any right answer. */
function compared(name: string, condition: string, caseCounts = false): Assertion {
  const lower = caseCounts ? '' : '.toLowerCase()';
  const helpers = {
    text: `const text = (value) => String(value).trim().replace(/\\s+/g, ' ')${lower};`,
    words: `const words = (value) => String(value).replace(/[^\\p{L}\\p{M}\\p{N}]+/gu, ' ').trim()${lower};`,
    last: `const last = (value) => Number(String(value).replace(/,(?=\\d\\d\\d)/g, '').match(/-?\\d+(\\.\\d+)?/g)?.at(-1));`,
  };
  const used = Object.entries(helpers).flatMap(([helper, code]) => (condition.includes(`${helper}(`) ? [code] : []));
  return javascript(
    [...used, `return [context.vars[${JSON.stringify(name)}]].flat().some((right) => ${condition});`].join('\n'),
  );
}

const javascript = (value: string): Assertion => ({ type: 'javascript', value: literal(value) });

/** The first rows of a session on a data set, as its request names them. */
export async function promptfooRows(client: Ratchet, sessionId: string, datasetId: string): Promise<PromptfooRows> {
  const [{ request }, page] = await Promise.all([
    client.sessions.handle(sessionId).request(),
    client.request('listDatasetRows', { path: { dataset_id: datasetId }, query: { limit: testRows } }),
  ]);
  const { dataset, scorer } = asObject(asObject(request)?.['policy_optimization']) ?? {};
  const { input = 'input', expected = 'expected' } = (asObject(dataset) ?? {}) as { input?: string; expected?: string };
  const rows = page.data.map(({ data }) => data);
  const isNamed = rows.some((row) => Object.hasOwn(row, expected));
  return { rows, input, expected: isNamed ? expected : null, scorer };
}
