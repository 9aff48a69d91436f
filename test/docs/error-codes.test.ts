import { expect, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorCodes } from '../../src/contracts/errors/index.js';
import { read, root, tableRows } from './pages.js';

// Every code that the source gives to an error has a row. The compiler checks those of `ApiError`.
// The codes of jobs and rollouts are strings, which travel through Temporal and Postgres. Codes of
// a diagnosis are no errors.

const files = ['src', 'activities', 'workflows'].flatMap((base) =>
  readdirSync(join(root, base), { recursive: true, encoding: 'utf8' })
    .filter(
      (path) =>
        path.endsWith('.ts') && !/^(client|cli|contracts|local-model)\/|(^|\/)(contract|diagnosis)\//.test(path),
    )
    .map((path) => ({ path: join(base, path), text: readFileSync(join(root, base, path), 'utf8') })),
);
const source = files.map(({ text }) => text).join('\n');

/** Never stored as the code of a job or rollout. */
const internal = new Set(['webhook_failed', 'scorer_refused']);
/** Kinds of code whose first word the source fills in. */
const templates: Record<string, string[]> = {
  peer: ['container', 'scorer'],
  asker: ['step', 'judge'],
};

function given(): string[] {
  const literals = [
    /(?:jobFailure|fault|failed|unavailable|failureOf)\(\s*'([a-z_]+)'/g,
    /\bcode[:=] '([a-z_]+)'/g,
    /\b\w+(?:Code|Exhausted|Exceeded|Answer|Key|Found|Refused) = '([a-z]+_[a-z_]+)'/g,
    /new \w*Error\(\s*'([a-z]+_[a-z_]+)'/g,
    /\bname: '((?:provider|model)_[a-z_]+)'/g,
  ];
  const codes = literals.flatMap((pattern) => [...source.matchAll(pattern)].map(([, code]) => code!));
  const filled = [...source.matchAll(/`\$\{(peer|asker)\}_([a-z_]+)`/g)].flatMap(([, part, end]) =>
    templates[part!]!.map((word) => `${word}_${end}`),
  );
  return [...new Set([...codes, ...filled])].filter((code) => code.includes('_') && !internal.has(code)).sort();
}

test('every code in the source has a row', () => {
  expect(given().length).toBeGreaterThan(60);
  expect(given().filter((code) => !Object.hasOwn(errorCodes, code))).toEqual([]);
});

test('every row is a code of the source', () => {
  const kinds = ['session', 'evaluation'].flatMap((kind) => ['failed', 'cancelled'].map((end) => `${kind}_${end}`));
  const closed = ['terminated', 'timed_out', 'failed', 'completed'].map((end) => `workflow_${end}`);
  const made = new Set([...given(), ...kinds, ...closed, 'policy_answer_invalid']);
  const isNamed = (code: string) => made.has(code) || source.includes(`'${code}'`) || source.includes(`${code}:`);
  expect(Object.keys(errorCodes).filter((code) => !isNamed(code))).toEqual([]);
});

test('an answer has the status of its row', () => {
  const answers = [...source.matchAll(/ApiError\(\s*(\d{3}),\s*'([a-z_]+)'/g)];
  const known = errorCodes as Record<string, { status: readonly number[] }>;
  expect(answers.length).toBeGreaterThan(50);
  const wrong = answers.filter(([, status, code]) => !known[code!]?.status.includes(Number(status)));
  expect(wrong.map(([, status, code]) => `${status} ${code}`)).toEqual([]);
});

test('each code of the page of symptoms has a row', () => {
  const cells = tableRows(read('docs/symptoms.md')).map(([, cell]) => cell!);
  const codes = cells.flatMap((cell) => /^`([a-z]+_[a-z_]+)`$/.exec(cell)?.[1] ?? []);
  expect(codes.length).toBeGreaterThan(15);
  expect(codes.filter((code) => !Object.hasOwn(errorCodes, code))).toEqual([]);
});
