import { expect, test } from '@jest/globals';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');

test('llms.txt lists each page of the reference, and nothing that does not exist', () => {
  const text = readFileSync(join(root, 'llms.txt'), 'utf8');
  const linked = [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, path]) => path!);
  expect(linked.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  const pages = readdirSync(join(root, 'docs/reference')).filter((name) => name !== 'README.md');
  expect(pages.filter((name) => !linked.includes(`docs/reference/${name}`))).toEqual([]);
});
