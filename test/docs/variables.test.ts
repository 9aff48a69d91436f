import { expect, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { others } from './generate/settings.js';
import { pages, read, root } from './pages.js';
import { settingNames } from '../../src/service/settings.js';

// Names of environment variables: those of the source are in the settings, and no page has others.

const settings = read('docs/settings.md');
const textsBelow = (folder: string) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.(ts|mjs|py|yml)$/.test(path) && !path.includes('node_modules'))
    .map((path) => readFileSync(join(root, folder, path), 'utf8'));
const source = ['src', 'scripts', 'action', 'python/src'].flatMap(textsBelow).join('\n');
const namesIn = (text: string) => new Set(text.match(/\bRATCHET_[A-Z][A-Z0-9_]*[A-Z0-9]\b/g));

test('every variable that the source reads is in the settings', () => {
  const known = [...settingNames, ...Object.values(others).flatMap((rows) => rows.map(([name]) => name))];
  expect(known.filter((name) => !settings.includes(`\`${name}\``))).toEqual([]);
  expect([...namesIn(source)].filter((name) => !settings.includes(`\`${name}\``))).toEqual([]);
});

test('no page names a variable that the source does not read', () => {
  const known = namesIn(source);
  const unknown = pages()
    .filter((page) => !/CHANGELOG|benchmarks|docs\/adr/.test(page))
    .flatMap((page) => [...namesIn(read(page))].filter((name) => !known.has(name)).map((name) => `${page}: ${name}`));
  expect(unknown).toEqual([]);
});
