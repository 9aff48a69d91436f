/**
 * A scorer's name stands in its own file only: everybody else looks it up in the table, so a new
 * scorer touches its file and the table.
 */
import { describe, expect, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { scorerForms } from '../../src/scorers/forms.js';
import { verifiers } from '../../src/scorers/table.js';

const names = new Set([...Object.keys(scorerForms), ...Object.keys(verifiers)]);

const anyName = [...names].join('|');
/** A quick look before a file is parsed: a name in quotes, or as a key. */
const mentions = new RegExp(`['"\`](${anyName})['"\`]|\\b(${anyName}):`);

/** Words of other vocabularies: formats, conditions, fields; and the request of the sample. */
const others: Readonly<Record<string, readonly string[]>> = {
  'dashboard/src/pages/configuration/copy-as.ts': ['json'],
  'dashboard/src/pages/configuration/tab.tsx': ['json'],
  'src/cli/commands/migrate.ts': ['json'],
  'src/cli/export/forms.ts': ['json'],
  'src/cli/task/data-file.ts': ['json'],
  'src/cli/task/sample.ts': ['exact'],
  'src/cli/task/task.ts': ['json'],
  'src/models/client/ask-provider.ts': ['json'],
  'src/clients/net/egress.ts': ['exact'],
  'src/kinds/graph/contract/dataset-problems.ts': ['rubric'],
  'src/kinds/graph/contract/graph.ts': ['contains'],
  'src/core/graphs/condition.ts': ['contains'],
  'src/core/graphs/graph.ts': ['contains'],
  'src/core/verify/rubric.ts': ['rubric'],
  'src/datasets/routes/routes.ts': ['json'],
  'src/datasets/routes/rows.ts': ['json'],
  'src/platform/http/openapi/docs.ts': ['http'],
};

/** Lines with a name: as a text, as a literal type, or as one of several keys of an object. */
function spelled(text: string): { line: number; name: string }[] {
  const source = ts.createSourceFile('a.tsx', text, ts.ScriptTarget.Latest, true, ts.ScriptKind.TSX);
  const found: { line: number; name: string }[] = [];
  const add = (node: ts.Node, name: string) => {
    const { line } = source.getLineAndCharacterOfPosition(node.getStart(source));
    if (names.has(name)) found.push({ line: line + 1, name });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node)) add(node, node.text);
    if (ts.isObjectLiteralExpression(node)) {
      const keys = node.properties.flatMap(({ name }) => (name && ts.isIdentifier(name) ? [name] : []));
      const named = keys.filter((key) => names.has(key.text));
      if (named.length > 1) for (const key of named) add(key, key.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

describe('finds a name', () => {
  test.each([
    [`if (scorer.type === 'exact') {}`, 1],
    [`switch (type) { case 'regex': case "json": }`, 2],
    [`type Kind = 'exact' | 'other';`, 1],
    [`const label = { exact: 'Exact', json: 'JSON' };`, 2],
    [`reply.json({ json: 1 });`, 0],
    [`import { exact } from './exact.js'; // 'exact'`, 0],
  ])('%s: %d', (text, count) => {
    expect(spelled(text)).toHaveLength(count);
  });
});

test('no file of the product names a scorer but its own', () => {
  const root = join(__dirname, '..', '..');
  const files = ['src', 'activities', 'workflows', 'dashboard'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
  );
  // Assertions and graders of other tools are read and written there; the client's types are made.
  const own =
    /^src\/(scorers|cli\/(task\/promptfoo|import))\/|^src\/cli\/export\/promptfoo-tests\.ts$|^src\/cli\/task\/row-scorer\.ts$|^src\/client\/api\.ts$/;
  const found = files
    .filter((file) => /\.(tsx?|mjs)$/.test(file) && !own.test(file))
    .map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }))
    .filter(({ text }) => mentions.test(text))
    .flatMap(({ file, text }) => spelled(text).map((one) => ({ file, ...one })));
  const isOther = ({ file, name }: { file: string; name: string }) => others[file]?.includes(name) ?? false;
  expect(found.filter((one) => !isOther(one))).toEqual([]);
  const needed = new Set(found.filter(isOther).map(({ file, name }) => `${file} ${name}`));
  const listed = Object.entries(others).flatMap(([file, words]) => words.map((word) => `${file} ${word}`));
  expect(listed.filter((one) => !needed.has(one))).toEqual([]);
});
