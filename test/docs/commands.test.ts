import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pages, read, root } from './pages.js';

// The commands and options that `src/cli` defines, and what the pages say about them.

const source = ['program.ts', 'access-commands.ts', 'checkup-commands.ts', 'deployment-commands.ts', 'run-commands.ts']
  .map((name) => readFileSync(join(root, 'src/cli', name), 'utf8'))
  .join('\n');
const commands = [...new Set([...source.matchAll(/\bcommand\('([a-z-]+)/g)].map(([, name]) => name!))];
const options = [...new Set([...source.matchAll(/'(--[a-z][a-z-]+)/g)].map(([, name]) => name!))];
const page = read('docs/reference/command-line.md');
const isNamed = (word: string) => new RegExp(`(?<![\\w-])${word}(?![\\w-])`).test(page);

test('the page of the command line names every command and every option', () => {
  expect(commands.length).toBeGreaterThan(25);
  expect(options.length).toBeGreaterThan(30);
  expect(commands.filter((name) => !isNamed(name))).toEqual([]);
  expect(options.filter((name) => !isNamed(name))).toEqual([]);
});

test('no page gives an option to ratchet that it does not have', () => {
  const given = pages()
    .filter((name) => !/CHANGELOG|benchmarks|docs\/adr/.test(name))
    .flatMap((name) =>
      [...read(name).matchAll(/(?<!(--deployment-name|--namespace|job|job\/) ?)\bratchet [a-z-]+(?: [^\n`|]*|\\\n)*/g)]
        .flatMap(([line]) => [...line.matchAll(/(?<![\w-])(--[a-z][a-z-]+)/g)].map(([, option]) => option!))
        .filter((option) => ![...options, '--help', '--version'].includes(option))
        .map((option) => `${name}: ${option}`),
    );
  expect([...new Set(given)]).toEqual([]);
});
