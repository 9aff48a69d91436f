import { expect, test } from '@jest/globals';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { otherPartNames } from '../support/words-of-experts.js';
import { pages, read, root } from './pages.js';

// Benchmarks name the splits of public data sets as their authors do, and ADRs what was.
const folders = [
  'dashboard/src',
  ...['candidates', 'cli', 'comparisons', 'core', 'diagnosis', 'report', 'rows'].map((room) => `src/${room}`),
];
const isOfAuthors = (page: string) =>
  /^(?:docs\/(?:adr\/|benchmarks|coming-from)|test\/|bench\/|examples\/|python\/|CHANGELOG)/.test(page);

const sources = folders.flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => join(folder, file)),
);

test('the parts of rows are called train, evaluation and held-out everywhere', () => {
  const all = [...sources, ...pages().filter((page) => !isOfAuthors(page))];
  expect(all.length).toBeGreaterThan(500);
  expect(all.flatMap((file) => (otherPartNames.test(read(file)) ? [file] : []))).toEqual([]);
});
