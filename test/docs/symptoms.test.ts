import { expect, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fencesOf, root } from '../support/pages.js';

// Codes that docs/symptoms.md names are codes of the source.

const page = 'docs/symptoms.md';
const sources = ['src', 'activities', 'workflows'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && name !== 'client/api.ts')
    .map((name) => readFileSync(join(root, folder, name), 'utf8')),
);

test('each code of the page is one of the source', () => {
  const text = readFileSync(join(root, page), 'utf8');
  const columns = text.split('\n').map((line) => /^\| .*? \| `([a-z]+_[a-z_]+)` +\|/.exec(line)?.[1]);
  const codes = columns.filter((code) => code !== undefined);
  expect(codes.length).toBeGreaterThan(15);
  // A peer's name begins the codes of its answers.
  const isKnown = (code: string) =>
    sources.some((source) => source.includes(`'${code}'`)) ||
    sources.some((source) => source.includes(`\`\${peer}_${code.replace(/^[a-z]+_/, '')}\``));
  expect(codes.filter((code) => !isKnown(code))).toEqual([]);
  expect(fencesOf(page)).toEqual([]);
});
