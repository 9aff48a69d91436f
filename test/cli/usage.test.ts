import { expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
const ratchet = (...args: string[]) =>
  new Promise<{ code: number; out: string; err: string }>((resolve) => {
    const command = ['dist/src/cli/ratchet.js', ...args];
    const child = execFile(process.execPath, command, { cwd: root }, (_error, out, err) => {
      resolve({ code: child.exitCode!, out, err });
    });
  });

test('a wrong command or option ends with 2 and names the one that was meant', async () => {
  const [unknown, close, option, extra, nothing, help] = await Promise.all([
    ratchet('frobnicate'),
    ratchet('sevre'),
    ratchet('demo', '--modle', 'x'),
    ratchet('dev', 'now'),
    ratchet('optimize', '--max-cost', '0'),
    ratchet('--help'),
  ]);
  expect([unknown, close, option, extra, nothing, help].map(({ code }) => code)).toEqual([2, 2, 2, 2, 2, 0]);
  expect(unknown.err).toMatch(/frobnicate.*\n.*ratchet --help/);
  expect(close.err).toContain('serve');
  expect(option.err).toContain('--model');
  expect(nothing.err).toContain('--max-cost');
  expect(help.out).toContain('Examples:');
}, 60_000);
