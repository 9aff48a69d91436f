import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ratchet-lock-'));
  cpSync(join(__dirname, '../../scripts/lock.mjs'), join(folder, 'lock.mjs'));
  const program = `
    import { appendFileSync } from 'node:fs';
    import { setTimeout as sleep } from 'node:timers/promises';
    import { withLock } from './lock.mjs';
    const [start, crash] = process.argv.slice(2);
    await sleep(Number(start) - Date.now());
    await withLock('test', async () => {
      if (crash) process.kill(process.pid, 'SIGKILL');
      appendFileSync('log', 'in ');
      await sleep(20);
      appendFileSync('log', 'out ');
    });`;
  writeFileSync(join(folder, 'program.mjs'), program);
  writeFileSync(join(folder, 'log'), '');
});
afterEach(() => rmSync(folder, { recursive: true }));

const run = async (...args: string[]) => {
  await once(spawn(process.execPath, ['program.mjs', ...args], { cwd: folder, stdio: 'inherit' }), 'close');
};

test.each([
  ['that is free', false],
  ['of a dead process', true],
])('one of many processes at a time holds a lock %s', async (_, isStale) => {
  if (isStale) await run('0', 'crash');
  // All of them ask for it at the same moment.
  const start = String(Date.now() + 1_500);
  await Promise.all(Array.from({ length: 8 }, () => run(start)));
  expect(readFileSync(join(folder, 'log'), 'utf8')).toBe('in out '.repeat(8));
});
