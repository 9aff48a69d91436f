import { expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

test('hostile requests take time at most in proportion to their length', () => {
  const loader = join(import.meta.dirname, '../../scripts/ts-loader.mjs');
  // In a process that can be killed; a quadratic step takes minutes instead of seconds.
  // CPU seconds, because the waiting time depends on other processes.
  const command = [process.execPath, '--import', loader, join(import.meta.dirname, 'hostile.ts')];
  const { status, stdout, stderr } = spawnSync('sh', ['-c', 'ulimit -t 40 && exec "$@"', 'sh', ...command], {
    encoding: 'utf8',
  });
  expect({ status, ended: stdout.trim().split('\n').at(-1), stderr }).toMatchObject({ status: 0, ended: 'all ended' });
});
