import { expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const script = join(import.meta.dirname, '..', '..', 'scripts', 'check-signatures.mjs');
const exitCode = (input: string) => spawnSync(process.execPath, [script], { input }).status;

test.each([
  ['all signatures are good', { invalid: [], missing: [] }, 0],
  ['a package has none', { invalid: [], missing: [{ name: 'a', version: '1.0.0' }] }, 0],
  ['a signature is bad', { invalid: [{ name: 'a', version: '1.0.0' }], missing: [] }, 1],
  ['the registry does not answer', { error: { code: 'ENOTFOUND', summary: 'getaddrinfo' } }, 0],
])('%s', (_, report, code) => {
  expect(exitCode(JSON.stringify(report))).toBe(code);
});

test('npm was stopped before its report', () => {
  expect(exitCode('')).toBe(0);
});
