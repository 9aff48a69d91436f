import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { transform } from '@swc/core';
import { expect, test } from '@jest/globals';
import { serviceOfFile } from '../support/service-of-file.js';

// The `ts` blocks of the page run in order as one program, with the built `ratchet-prompts-client`.
// The `text` blocks are what it prints; `…` matches any text.

const on = serviceOfFile();
const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/reference/clients.md'), 'utf8');
const section = page.slice(page.indexOf('## TypeScript')).split(/^## (?!TypeScript)/m)[0]!;
const blocks = (info: string) =>
  [...section.matchAll(new RegExp(`^\`\`\`${info}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(([, text]) => text!);

test('the examples of the page print what it shows', async () => {
  const options = { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' }, module: { type: 'es6' } } as const;
  const { code } = await transform(blocks('ts').join('\n'), options);
  const env = { ...process.env, NODE_OPTIONS: '', RATCHET_URL: on.service.url, RATCHET_API_KEY: on.service.apiKey };
  const args = ['--input-type=module', '--eval', code];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root, env });
  const shown = blocks('text')
    .join('')
    .split('…')
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  expect(stdout).toMatch(new RegExp(`^${shown.join('.*')}$`));
});
